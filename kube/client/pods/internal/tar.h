// Writes and reads tar archives piece by piece.
//
//   TarWriter out([&](std::string_view bytes) { return session.write(bytes); });
//   out.begin({.name = "notes/a.txt", .size = text.size()});
//   out.data(text);
//   out.finish();
//
//   TarReader in(handler);              // calls its entry(), data() and end()
//   while (auto piece = session.read()) in.feed(piece->bytes);
//   in.finish();
//
// The writer uses the form that every tar understands: ustar, with GNU's extensions for names and
// sizes that do not fit. The reader accepts ustar, and GNU's and POSIX' (pax) extensions of names
// and sizes. It does not trust its input: checksums are checked, extended headers are limited to 1
// MiB, and the caller has to check names.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace kube::detail {

struct TarEntry {
  enum class Type : char { File = '0', HardLink = '1', SymLink = '2', Folder = '5', Other = '?' };

  std::string name = {};
  Type type = Type::File;
  std::uint32_t mode = 0644;
  std::uint64_t size = 0;
  std::int64_t modified = 0;  // seconds since 1970
  std::string link = {};
};

class TarWriter {
 public:
  /// `out` returns whether it accepts more bytes.
  explicit TarWriter(std::function<bool(std::string_view)> out) : out_(std::move(out)) {}

  /// All of these return false once `out` has. The data of an entry must follow in full.
  bool begin(const TarEntry& entry);
  bool data(std::string_view bytes);
  bool finish();

 private:
  bool header(const TarEntry& entry, char type, std::string_view name, std::string_view link);
  bool pad();

  const std::function<bool(std::string_view)> out_;
  std::uint64_t written_ = 0;
};

class TarHandler {
 public:
  virtual void entry(const TarEntry& entry) = 0;
  virtual void data(std::string_view bytes) = 0;
  /// The data of the entry has ended.
  virtual void end() = 0;

 protected:
  ~TarHandler() = default;
};

class TarReader {
 public:
  explicit TarReader(TarHandler& handler) : handler_(handler) {}

  /// Throws DecodeError for input that is not an archive.
  void feed(std::string_view bytes);
  /// Throws DecodeError if the archive is incomplete.
  void finish() const;

 private:
  void block();
  void extension();
  void pax(std::string_view records);

  TarHandler& handler_;
  std::string block_;          // the part of a block that has arrived
  std::uint64_t left_ = 0;     // bytes of the entry's data
  std::uint64_t padding_ = 0;  // bytes after it
  char kind_ = 0;              // of the current extension
  std::string text_;           // of that extension
  std::string longName_, longLink_;
  std::optional<std::uint64_t> longSize_;
  bool inEntry_ = false;
  bool over_ = false;
  bool any_ = false;
};

}  // namespace kube::detail
