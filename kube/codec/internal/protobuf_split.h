// Cuts protobuf bodies into list items and watch frames (see kube/codec/internal/split.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kube/codec/internal/split.h"

namespace kube::detail {

/// The common base: takes parts whose length is known in advance.
class ProtobufSplitter : public Splitter {
 protected:
  using Splitter::Splitter;
  /// Announces a part of this many bytes, which starts at `offset`.
  void expect(std::uint64_t bytes, std::size_t offset);
  bool inPart() const noexcept { return inPart_; }
  /// Takes more of the part from the chunk. Returns true when it is complete; `bytes` is valid
  /// until the next call.
  bool collect(std::string_view chunk, std::size_t& at, std::string_view& bytes);
  [[noreturn]] static void fail(std::size_t offset, std::string_view reason);

 private:
  std::string whole_;  // the last part, if it came in pieces
  std::size_t needed_ = 0;
  bool inPart_ = false;
};

/// Cuts the list inside its envelope, field by field.
class ProtobufListSplitter : public ProtobufSplitter {
 public:
  using ProtobufSplitter::ProtobufSplitter;
  void feed(std::string_view chunk) override;
  void finish() override;

 private:
  bool header(char byte, std::size_t offset);
  void field(std::size_t offset, bool nested);
  void part(std::string_view bytes);
  void typeMeta(std::string_view bytes);

  std::string header_;  // bytes of the magic, or of a field's key and length
  bool sawMagic_ = false;
  bool sawList_ = false;
  bool inList_ = false;         // inside the envelope's raw object
  std::uint64_t listLeft_ = 0;  // bytes of the raw object not read yet
  // The field whose header was read last:
  std::uint32_t tag_ = 0;
  bool isBytes_ = false;  // length-prefixed
  std::uint64_t length_ = 0;
};

/// Cuts frames with a 4-byte big-endian length in front.
class ProtobufFrameSplitter : public ProtobufSplitter {
 public:
  using ProtobufSplitter::ProtobufSplitter;
  void feed(std::string_view chunk) override;
  void finish() override;

 private:
  std::string length_;
};

}  // namespace kube::detail
