#include "kube/http/http.h"

#include <algorithm>
#include <utility>

#include "kube/base/internal/text.h"

namespace kube {

bool equalIgnoringCase(std::string_view a, std::string_view b) noexcept {
  return detail::equalIgnoringCase(a, b);
}

void HttpHeaders::add(std::string name, std::string value) {
  if (headers_.capacity() == 0) headers_.reserve(8);  // most messages have no more
  headers_.push_back({std::move(name), std::move(value)});
}

void HttpHeaders::set(std::string name, std::string value) {
  erase(name);
  add(std::move(name), std::move(value));
}

std::size_t HttpHeaders::erase(std::string_view name) {
  return std::erase_if(headers_,
                       [name](const HttpHeader& h) { return equalIgnoringCase(h.name, name); });
}

bool HttpHeaders::has(std::string_view name) const noexcept {
  return std::any_of(begin(), end(),
                     [name](const HttpHeader& h) { return equalIgnoringCase(h.name, name); });
}

std::string_view HttpHeaders::get(std::string_view name) const noexcept {
  for (const HttpHeader& header : headers_) {
    if (equalIgnoringCase(header.name, name)) return header.value;
  }
  return {};
}

}  // namespace kube
