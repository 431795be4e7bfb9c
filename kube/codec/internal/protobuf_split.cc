#include "kube/codec/internal/protobuf_split.h"

#include <algorithm>

#include "kube/base/error.h"
#include "kube/codec/internal/wire_reader.h"
#include "kube/codec/protobuf.h"

namespace kube::detail {

namespace {

enum class Varint : std::uint8_t { Complete, Incomplete, TooLong };

// Takes a varint off the front of `bytes`.
Varint takeVarint(std::string_view& bytes, std::uint64_t& value) noexcept {
  value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 10) return Varint::TooLong;
    value |= static_cast<std::uint64_t>(bytes[i] & 0x7F) << (7 * i);
    if (static_cast<signed char>(bytes[i]) >= 0) {
      bytes.remove_prefix(i + 1);
      return Varint::Complete;
    }
  }
  return Varint::Incomplete;
}

}  // namespace

// ---- parts of known length ----

void ProtobufSplitter::fail(std::size_t offset, std::string_view reason) {
  throw DecodeError({.format = "protobuf", .path = {}, .offset = offset}, std::string(reason));
}

void ProtobufSplitter::expect(std::uint64_t bytes, std::size_t offset) {
  if (bytes > maxPart_) {
    fail(offset, "a part is over " + std::to_string(maxPart_) + " bytes long");
  }
  needed_ = static_cast<std::size_t>(bytes);
  partOffset_ = offset;
  inPart_ = true;
}

bool ProtobufSplitter::collect(std::string_view chunk, std::size_t& at, std::string_view& bytes) {
  // A part that is complete in the chunk is passed on without a copy.
  if (partial_.empty() && chunk.size() - at >= needed_) {
    bytes = chunk.substr(at, needed_);
    at += needed_;
    inPart_ = false;
    return true;
  }
  const std::size_t taken = std::min(needed_ - partial_.size(), chunk.size() - at);
  partial_.append(chunk, at, taken);
  at += taken;
  if (partial_.size() < needed_) return false;
  whole_ = std::move(partial_);
  partial_.clear();
  bytes = whole_;
  inPart_ = false;
  return true;
}

// ---- lists ----

// Takes one byte of the magic or of a field's header. Returns true when a header is complete.
bool ProtobufListSplitter::header(char byte, std::size_t offset) {
  header_ += byte;
  if (!sawMagic_) {
    if (header_.size() < kProtobufMagic.size()) return false;
    if (header_ != kProtobufMagic) {
      fail(0, "not Kubernetes protobuf: the body does not start with k8s\\0");
    }
    sawMagic_ = true;
    header_.clear();
    return false;
  }
  std::string_view rest = header_;
  const auto complete = [&](std::uint64_t& value) {
    const Varint state = takeVarint(rest, value);
    if (state == Varint::TooLong) fail(offset, "a number is too long");
    return state == Varint::Complete;
  };
  std::uint64_t key = 0;
  if (!complete(key)) return false;
  const std::uint64_t type = key & 7;
  tag_ = static_cast<std::uint32_t>(key >> 3);
  isBytes_ = type == kBytes;
  if (key < 8 || key > UINT32_MAX) fail(offset, "bad field number");
  const bool known = tag_ <= (inList_ ? 2 : 4);  // metadata and items, or the envelope's parts
  if ((known && !isBytes_) ||
      (type != kVarint && type != kFixed64 && type != kBytes && type != kFixed32)) {
    fail(offset, "bad wire type " + std::to_string(type));
  }
  if (type == kFixed64 || type == kFixed32) {
    length_ = type == kFixed64 ? 8 : 4;
  } else {
    if (!complete(length_)) return false;
    if (type == kVarint) length_ = 0;  // the number was the value
  }
  header_.clear();
  return true;
}

// Begins the field whose header ends before `offset`. `nested`: it is in the list, not the
// envelope.
void ProtobufListSplitter::field(std::size_t offset, bool nested) {
  if (nested) {
    if (length_ > listLeft_) fail(offset - 1, "length past the end of the list");
    listLeft_ -= length_;
    expect(length_, offset);
  } else if (tag_ == 2) {
    if (sawList_) fail(offset - 1, "a second list in one envelope");
    inList_ = sawList_ = true;
    listLeft_ = length_;
    sink_.begin();
  } else {
    expect(length_, offset);
  }
}

void ProtobufListSplitter::typeMeta(std::string_view bytes) {
  while (!bytes.empty()) {
    std::uint64_t key = 0;
    std::uint64_t length = 0;
    if (takeVarint(bytes, key) != Varint::Complete || (key & 7) != kBytes ||
        takeVarint(bytes, length) != Varint::Complete || length > bytes.size()) {
      fail(partOffset_, "malformed envelope");
    }
    const std::string_view text = bytes.substr(0, static_cast<std::size_t>(length));
    if (key >> 3 == 1) sink_.apiVersion(text);
    if (key >> 3 == 2) sink_.kind(text);
    bytes.remove_prefix(static_cast<std::size_t>(length));
  }
}

void ProtobufListSplitter::part(std::string_view bytes) {
  if (!isBytes_) return;
  if (inList_) {
    if (tag_ == 1) sink_.metadata(bytes, partOffset_);
    if (tag_ == 2) sink_.item(bytes, partOffset_);
    return;
  }
  if (tag_ == 1) typeMeta(bytes);
  if (tag_ == 3 && !bytes.empty()) fail(partOffset_, "an encoded list is not supported");
}

void ProtobufListSplitter::feed(std::string_view chunk) {
  std::size_t at = 0;
  for (;;) {
    if (inPart()) {
      std::string_view bytes;
      if (!collect(chunk, at, bytes)) break;
      // The processor prefetches by itself, but not across pages.
      for (std::size_t i = at; i < std::min(at + bytes.size(), chunk.size()); i += 4096) {
        __builtin_prefetch(chunk.data() + i);
      }
      part(bytes);
      continue;
    }
    if (inList_ && listLeft_ == 0) {
      if (!header_.empty()) fail(passed_ + at, "unexpected end of the list");
      inList_ = false;
    }
    if (at == chunk.size()) break;
    const bool nested = inList_;
    if (nested) --listLeft_;
    const std::size_t offset = passed_ + at;
    if (header(chunk[at++], offset)) field(offset + 1, nested);
  }
  passed_ += chunk.size();
}

void ProtobufListSplitter::finish() {
  if (inPart() || inList_ || !header_.empty() || !sawList_) {
    fail(passed_, "unexpected end of the list");
  }
}

// ---- frames ----

void ProtobufFrameSplitter::feed(std::string_view chunk) {
  std::size_t at = 0;
  while (at < chunk.size() || inPart()) {
    if (!inPart()) {
      length_ += chunk[at++];
      if (length_.size() < 4) continue;
      std::uint64_t bytes = 0;
      for (const char byte : length_) bytes = bytes << 8 | static_cast<unsigned char>(byte);
      length_.clear();
      expect(bytes, passed_ + at);
    }
    std::string_view bytes;
    if (!collect(chunk, at, bytes)) break;
    sink_.item(bytes, partOffset_);
  }
  passed_ += chunk.size();
}

void ProtobufFrameSplitter::finish() {
  if (inPart() || !length_.empty()) fail(passed_, "unexpected end inside a frame");
}

}  // namespace kube::detail
