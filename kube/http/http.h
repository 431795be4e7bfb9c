// HTTP messages: the requests that a Transport sends and the responses that it returns.
//
//   HttpRequest request{.method = "PATCH",
//                       .url = server + "/api/v1/namespaces/book/pods/example",
//                       .headers = {{"Content-Type", "application/merge-patch+json"}},
//                       .body = patch};
//
// Thread safety: plain values.
#pragma once

#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace kube {

struct HttpHeader {
  std::string name, value;

  bool operator==(const HttpHeader&) const = default;
};

/// Headers in the order of the message. Names are compared without regard to case and may repeat.
/// Messages have few headers, so a look-up is a linear search.
class HttpHeaders {
 public:
  using value_type = HttpHeader;
  using const_iterator = std::vector<HttpHeader>::const_iterator;

  HttpHeaders() = default;
  HttpHeaders(std::initializer_list<HttpHeader> headers) : headers_(headers) {}

  void add(std::string name, std::string value);
  /// Replaces all headers of that name by one.
  void set(std::string name, std::string value);
  /// Returns the number of headers that were removed.
  std::size_t erase(std::string_view name);

  bool has(std::string_view name) const noexcept;
  /// The first value of that name; empty if there is none.
  std::string_view get(std::string_view name) const noexcept;

  auto begin() const noexcept { return headers_.begin(); }
  auto end() const noexcept { return headers_.end(); }
  std::size_t size() const noexcept { return headers_.size(); }
  bool empty() const noexcept { return headers_.empty(); }
  void clear() noexcept { headers_.clear(); }

  bool operator==(const HttpHeaders&) const = default;

 private:
  std::vector<HttpHeader> headers_;
};

/// The transport itself writes Host, Content-Length, Accept-Encoding and the headers that control
/// the connection. Give other headers only.
struct HttpRequest {
  std::string method = "GET";
  std::string url = {};
  HttpHeaders headers = {};
  std::string body = {};
  /// Limits the whole call, from its start to the end of the body. 0: no limit.
  std::chrono::nanoseconds timeout{0};
  /// Transport::send() throws TransportError for a longer body. Counted after decompression.
  std::size_t maxBodyBytes = std::size_t{256} << 20;
  /// The protocol to switch the connection to, such as "websocket"; see HttpExchange::write(). Such
  /// a request uses HTTP/1.1 and a connection of its own, and its timeout covers the time until the
  /// headers of the answer.
  std::string upgrade = {};
  /// Set if a part of the body is useless. If the call fails, unread data is dropped and
  /// HttpStream::read() throws at once.
  bool wholeOnly = false;
};

struct HttpResponse {
  int status = 0;
  HttpHeaders headers = {};
  std::string body = {};
  int httpVersion = 0;  // 1 or 2
};

/// Compares header names: ASCII letters are equal in either case.
bool equalIgnoringCase(std::string_view a, std::string_view b) noexcept;

namespace detail {

/// Status and headers of an answer: of an HttpResponse, or of one under way (HttpStream,
/// WebSocket).
template <class Answer>
int statusOf(const Answer& answer) {
  return answer.status();
}
inline int statusOf(const HttpResponse& answer) { return answer.status; }
template <class Answer>
const HttpHeaders& headersOf(const Answer& answer) {
  return answer.headers();
}
inline const HttpHeaders& headersOf(const HttpResponse& answer) { return answer.headers; }

/// Status and headers of an answer, for code that changes them. For the answer's reader.
struct AnswerHead {
  template <class Answer>
  static HttpResponse& of(Answer& answer) {
    return answer.head();
  }
  static HttpResponse& of(HttpResponse& answer) { return answer; }
};

}  // namespace detail
}  // namespace kube
