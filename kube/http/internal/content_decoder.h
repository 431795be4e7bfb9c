// Decodes Content-Encoding, gzip or deflate, piece by piece.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace kube::detail {

class ContentDecoder {
 public:
  /// Returns null if nothing has to be decoded. Throws TransportError for an unknown coding, which
  /// was not requested.
  static std::unique_ptr<ContentDecoder> forCoding(std::string_view contentEncoding);

  ContentDecoder();
  ~ContentDecoder();

  /// Decodes from the front of `input`, removes the bytes used, and returns up to a buffer full.
  /// The result is valid until the next call, and empty only if more input is needed. Throws
  /// TransportError for malformed data.
  std::string_view decode(std::string_view& input);

  /// Returns whether the compressed data is complete.
  bool complete() const noexcept { return complete_; }

 private:
  struct Inflater;
  std::unique_ptr<Inflater> inflater_;
  std::string output_;
  bool complete_ = false;
};

}  // namespace kube::detail
