// HTTP messages: what is sent through a Transport, and what comes back.
//
//   HttpRequest request{.method = "PATCH", .url = server + "/api/v1/namespaces/book/pods/example",
//                       .headers = {{"Content-Type", "application/merge-patch+json"}}, .body =
//                       patch};
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

/// Headers in the order they came. Names are compared without regard to case and may repeat. There
/// are few, so looking one up is a walk.
class HttpHeaders {
 public:
  using value_type = HttpHeader;
  using const_iterator = std::vector<HttpHeader>::const_iterator;

  HttpHeaders() = default;
  HttpHeaders(std::initializer_list<HttpHeader> headers) : headers_(headers) {}

  void add(std::string name, std::string value);
  /// Replaces all headers of that name.
  void set(std::string name, std::string value);
  /// Says how many there were.
  std::size_t erase(std::string_view name);

  bool has(std::string_view name) const noexcept;
  /// The first value under that name; "" where there is none.
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

/// Host, Content-Length, Accept-Encoding and what governs the connection are the transport's to
/// write; give other headers only.
struct HttpRequest {
  std::string method = "GET";
  std::string url = {};
  HttpHeaders headers = {};
  std::string body = {};
  /// How long the whole call may take, from its start to the end of the body; 0: as long as it
  /// likes.
  std::chrono::nanoseconds timeout{0};
  /// Transport::send() refuses a longer body (as counted after decompression) with TransportError.
  std::size_t maxBodyBytes = std::size_t{256} << 20;
  /// The protocol that the connection is to go on with, such as "websocket"; see
  /// HttpExchange::write(). Such a request has a connection of its own, by HTTP/1.1, and its
  /// timeout ends with the head of the answer.
  std::string upgrade = {};
  /// The body is of use only as a whole: what has come of it and was not read yet is dropped when
  /// the call fails, so that HttpStream::read() says so at once.
  bool wholeOnly = false;
  /// The body has many small pieces which need not come at once, as a watch's events: where they
  /// come thick and fast, a thread that waits for them reads a few at a time; see
  /// TransportOptions::gatherTime.
  bool gathers = false;
};

struct HttpResponse {
  int status = 0;
  HttpHeaders headers = {};
  std::string body = {};
  int httpVersion = 0;  // 1 or 2
};

/// Equality of header names: ASCII letters of either case are the same.
bool equalIgnoringCase(std::string_view a, std::string_view b) noexcept;

}  // namespace kube
