// Header fields in nghttp2's form: pointers to text, with names in lower case as HTTP/2 requires.
//
//   Http2Fields fields;
//   fields.start(headers, 1);
//   fields.add(":status", "200");
//   for (const HttpHeader& header : headers) fields.addHeader(header);
//   nghttp2_submit_response(session, id, fields.data(), fields.size(), nullptr);
//
// Names and values are not copied, except names that addHeader() turns into lower case: everything
// given has to live until the fields are submitted.
//
// Thread safety: one thread at a time.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/internal/text.h"
#include "kube/http/http.h"

namespace kube::detail {

class Http2Fields {
 public:
  /// Empties the list, and makes room for these headers and `others`.
  void start(const HttpHeaders& headers, std::size_t others) {
    fields_.clear();
    fields_.reserve(headers.size() + others);
    names_.clear();
    std::size_t bytes = 0;
    for (const HttpHeader& header : headers) bytes += header.name.size();
    names_.reserve(bytes);
  }

  /// `name` is in lower case.
  void add(std::string_view name, std::string_view value) {
    fields_.push_back(
        {pointer(name), pointer(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
  }

  /// Adds one of the headers given to start().
  void addHeader(const HttpHeader& header) {
    const std::size_t begin = names_.size();
    for (const char c : header.name) names_ += lower(c);  // within the capacity, so none moves
    add(std::string_view(names_).substr(begin), header.value);
  }

  const nghttp2_nv* data() const { return fields_.data(); }
  std::size_t size() const { return fields_.size(); }

 private:
  static std::uint8_t* pointer(std::string_view text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  }

  std::string names_;
  std::vector<nghttp2_nv> fields_;
};

}  // namespace kube::detail
