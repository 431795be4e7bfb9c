// Undoes Content-Encoding: gzip or deflate, piece by piece.
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
  /// Null where nothing has to be decoded. Throws TransportError for a coding that was not asked
  /// for and is not known.
  static std::unique_ptr<ContentDecoder> forCoding(std::string_view contentEncoding);

  ContentDecoder();
  ~ContentDecoder();

  /// Decodes from the front of `input`, removing what it used, and returns up to a buffer full. The
  /// result is valid until the next call, and empty only when more input is needed. Throws
  /// TransportError for what is not gzip or deflate.
  std::string_view decode(std::string_view& input);

  /// Whether the end of the data is also the end of what was compressed.
  bool complete() const noexcept { return complete_; }

 private:
  struct Inflater;
  std::unique_ptr<Inflater> inflater_;
  std::string output_;
  bool complete_ = false;
};

}  // namespace kube::detail
