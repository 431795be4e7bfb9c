#include "kube/client/pods/internal/tar.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/internal/text.h"

namespace kube::detail {

namespace {

constexpr std::size_t kBlock = 512;
constexpr std::uint64_t kMaxExtension = 1 << 20;
// A field of a header: its offset and its size.
struct Field {
  std::size_t at, size;
};
constexpr Field kName{0, 100}, kMode{100, 8}, kUid{108, 8}, kGid{116, 8}, kSize{124, 12},
    kTime{136, 12}, kSum{148, 8}, kLink{157, 100}, kPrefix{345, 155};
constexpr std::size_t kTypeAt = 156, kMagicAt = 257;

[[noreturn]] void broken(std::string_view what) {
  throw DecodeError({.format = "tar"}, std::string(what));
}

using Header = std::array<char, kBlock>;

void put(Header& header, Field field, std::string_view text) {
  std::copy_n(text.begin(), std::min(text.size(), field.size), header.begin() + field.at);
}

// Writes a number in octal, or in GNU's binary form if it does not fit.
void putNumber(Header& header, Field field, std::uint64_t value) {
  const std::string text = fmt::format("{:0{}o}", value, field.size - 1);
  if (text.size() < field.size) return put(header, field, text);
  header[field.at] = '\x80';
  for (std::size_t i = 1; i <= 8; ++i) {
    header[field.at + field.size - i] = static_cast<char>(value >> (8 * (i - 1)));
  }
}

unsigned sumOf(std::string_view header) {
  unsigned sum = 0;
  for (std::size_t i = 0; i < kBlock; ++i) {
    const bool own = i >= kSum.at && i < kSum.at + kSum.size;
    sum += own ? ' ' : static_cast<unsigned char>(header[i]);
  }
  return sum;
}

std::string_view textOf(std::string_view header, Field field) {
  const std::string_view text = header.substr(field.at, field.size);
  return text.substr(0, std::min(text.find('\0'), text.size()));
}

std::uint64_t numberOf(std::string_view header, Field field) {
  const std::string_view bytes = header.substr(field.at, field.size);
  std::uint64_t value = 0;
  if ((static_cast<unsigned char>(bytes[0]) & 0x80) != 0) {
    if (bytes[0] != '\x80') broken("a number is negative or too large");
    for (const char c : bytes.substr(1)) {
      if (value >> 56 != 0) broken("a number is too large");
      value = value << 8 | static_cast<unsigned char>(c);
    }
    return value;
  }
  std::string_view digits = textOf(header, field);
  digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));
  digits = digits.substr(0, std::min(digits.find(' '), digits.size()));
  if (digits.empty()) return 0;
  const auto octal = parseNumber<std::uint64_t>(digits, 8);
  if (!octal) broken("a number is not octal");
  return *octal;
}

std::uint64_t paddingOf(std::uint64_t size) { return (kBlock - size % kBlock) % kBlock; }

TarEntry::Type typeOf(char type) {
  switch (type) {
    case '0':
    case '\0':
    case '7':
      return TarEntry::Type::File;
    case '1':
    case '2':
    case '5':
      return static_cast<TarEntry::Type>(type);
    default:
      return TarEntry::Type::Other;
  }
}

}  // namespace

// --- TarWriter.

bool TarWriter::header(const TarEntry& entry, char type, std::string_view name,
                       std::string_view link) {
  Header header{};
  put(header, kName, name);
  putNumber(header, kMode, entry.mode & 07777);
  putNumber(header, kUid, 0);
  putNumber(header, kGid, 0);
  putNumber(header, kSize, entry.size);
  putNumber(header, kTime, static_cast<std::uint64_t>(std::max<std::int64_t>(entry.modified, 0)));
  header[kTypeAt] = type;
  put(header, kLink, link);
  constexpr std::string_view kMagic(
      "ustar\0"
      "00",
      8);
  std::copy(kMagic.begin(), kMagic.end(), header.begin() + kMagicAt);
  const std::string sum = fmt::format("{:06o}", sumOf({header.data(), header.size()}));
  put(header, kSum, sum + std::string("\0 ", 2));
  return out_({header.data(), header.size()});
}

bool TarWriter::begin(const TarEntry& entry) {
  if (!pad()) return false;
  // A long name is written before, as the data of an entry of its own.
  const auto tellLong = [&](char type, const std::string& text, Field field) {
    if (text.size() <= field.size) return true;
    const TarEntry extension{.mode = 0, .size = text.size() + 1};
    return header(extension, type, "././@LongLink", {}) &&
           data(std::string_view(text.c_str(), text.size() + 1)) && pad();
  };
  TarEntry sized = entry;
  if (entry.type != TarEntry::Type::File) sized.size = 0;
  return tellLong('L', entry.name, kName) && tellLong('K', entry.link, kLink) &&
         header(sized, static_cast<char>(entry.type), entry.name, entry.link);
}

bool TarWriter::data(std::string_view bytes) {
  written_ += bytes.size();
  return bytes.empty() || out_(bytes);
}

bool TarWriter::pad() {
  static constexpr Header kZeros{};
  const std::uint64_t size = paddingOf(std::exchange(written_, 0));
  return size == 0 || out_({kZeros.data(), static_cast<std::size_t>(size)});
}

bool TarWriter::finish() {
  static constexpr std::array<char, 2 * kBlock> kZeros{};
  return pad() && out_({kZeros.data(), kZeros.size()});
}

// --- TarReader.

void TarReader::feed(std::string_view bytes) {
  while (!bytes.empty() && !over_) {
    if (left_ > 0) {
      const std::string_view piece =
          bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size())));
      bytes.remove_prefix(piece.size());
      left_ -= piece.size();
      if (kind_ != 0) {
        text_ += piece;
      } else {
        handler_.data(piece);
      }
      if (left_ != 0) return;
      if (kind_ != 0) {
        extension();
      } else if (std::exchange(inEntry_, false)) {
        handler_.end();
      }
      continue;
    }
    if (padding_ > 0) {
      const std::size_t skipped =
          static_cast<std::size_t>(std::min<std::uint64_t>(padding_, bytes.size()));
      padding_ -= skipped;
      bytes.remove_prefix(skipped);
      continue;
    }
    const std::size_t taken = std::min(kBlock - block_.size(), bytes.size());
    block_ += bytes.substr(0, taken);
    bytes.remove_prefix(taken);
    if (block_.size() == kBlock) {
      block();
      block_.clear();
    }
  }
}

void TarReader::block() {
  if (block_.find_first_not_of('\0') == std::string::npos) {
    over_ = true;
    return;
  }
  if (numberOf(block_, kSum) != sumOf(block_))
    broken("this is not a tar archive, or it is damaged");
  any_ = true;
  const char type = block_[kTypeAt];
  const std::uint64_t size = numberOf(block_, kSize);
  if (type == 'L' || type == 'K' || type == 'x' || type == 'g') {
    if (size > kMaxExtension) broken("an extended header is longer than 1 MiB");
    kind_ = type;
    text_.clear();
    left_ = size;
    padding_ = paddingOf(size);
    if (size == 0) extension();
    return;
  }
  TarEntry entry{.name = std::string(textOf(block_, kName)),
                 .type = typeOf(type),
                 .mode = static_cast<std::uint32_t>(numberOf(block_, kMode) & 07777),
                 .size = std::exchange(longSize_, std::nullopt).value_or(size),
                 .modified = static_cast<std::int64_t>(numberOf(block_, kTime)),
                 .link = std::string(textOf(block_, kLink))};
  const bool ustar = block_.compare(kMagicAt, 6, std::string("ustar\0", 6)) == 0;
  if (const auto prefix = textOf(block_, kPrefix); ustar && !prefix.empty()) {
    entry.name = fmt::format("{}/{}", prefix, entry.name);
  }
  if (!longName_.empty()) entry.name = std::exchange(longName_, {});
  if (!longLink_.empty()) entry.link = std::exchange(longLink_, {});
  // Before ustar, a folder was a file with a name that ends with a slash.
  if (entry.type == TarEntry::Type::File && entry.name.ends_with('/')) {
    entry.type = TarEntry::Type::Folder;
  }
  // A link has the size of its target, but no data.
  const bool hasData = entry.type == TarEntry::Type::File || entry.type == TarEntry::Type::Other;
  if (!hasData) entry.size = 0;
  left_ = entry.size;
  padding_ = paddingOf(entry.size);
  handler_.entry(entry);
  inEntry_ = left_ > 0;
  if (!inEntry_) handler_.end();
}

void TarReader::extension() {
  const char kind = std::exchange(kind_, '\0');
  if (kind == 'x') return pax(text_);
  if (kind == 'g') return;
  const std::string text = text_.substr(0, std::min(text_.find('\0'), text_.size()));
  (kind == 'L' ? longName_ : longLink_) = text;
}

// Parses records such as "30 path=a/long/name\n". The number is the length of the whole record.
void TarReader::pax(std::string_view records) {
  while (!records.empty()) {
    std::size_t size = 0;
    const auto [end, error] =
        std::from_chars(records.data(), records.data() + records.size(), size);
    const auto digits = static_cast<std::size_t>(end - records.data());
    if (error != std::errc() || size <= digits + 1 || size > records.size() ||
        records[digits] != ' ' || records[size - 1] != '\n') {
      broken("a pax record is malformed");
    }
    const std::string_view record = records.substr(digits + 1, size - digits - 2);
    records.remove_prefix(size);
    const std::size_t equals = record.find('=');
    if (equals == std::string_view::npos) broken("a pax record is malformed");
    const std::string_view key = record.substr(0, equals), value = record.substr(equals + 1);
    if (key == "path") longName_ = value;
    if (key == "linkpath") longLink_ = value;
    if (key != "size") continue;
    longSize_ = parseNumber<std::uint64_t>(value);
    if (!longSize_) broken("a pax size is not a number");
  }
}

void TarReader::finish() const {
  if (over_) return;
  if (!any_ && block_.empty()) broken("the input is empty");
  broken("the archive ends too early");
}

}  // namespace kube::detail
