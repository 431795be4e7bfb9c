#include "kube/http/internal/http1_answer.h"

#include <fmt/core.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <cstdint>
#include <limits>
#include <utility>

#include "kube/http/internal/parsed_text.h"

namespace kube::detail {

namespace {

namespace http = boost::beast::http;
using boost::beast::error_code;
using BeastView = boost::beast::string_view;

}  // namespace

// Collects the head, and passes on the body as it is parsed.
class Http1Answer::Parser final : public http::basic_parser<false> {
 public:
  explicit Parser(Http1Answer& answer) : answer_(answer) {
    header_limit(static_cast<std::uint32_t>(
        std::min<std::size_t>(answer.maxHeaderBytes_, std::numeric_limits<std::uint32_t>::max())));
    body_limit(std::numeric_limits<std::uint64_t>::max());  // streams have no limit
    eager(true);
    skip(answer.expected_.toHead);
    head_.httpVersion = 1;
  }

  int status() const { return status_; }

 private:
  void on_request_impl(http::verb, BeastView, BeastView, int, error_code&) override {}
  void on_response_impl(int code, BeastView, int, error_code& error) override {
    head_.status = status_ = code;
    // Neither informational nor an answer, and it would have a body.
    if (code < 100) error = http::error::bad_status;
  }
  void on_field_impl(http::field, BeastView name, BeastView value, error_code&) override {
    if (!is_header_done()) head_.headers.add(std::string(view(name)), std::string(view(value)));
  }
  void on_header_impl(error_code&) override {
    if (status_ >= 200 || (status_ == 101 && answer_.expected_.mayUpgrade)) {
      answer_.sink_.head(std::move(head_));
    }
  }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(BeastView body, error_code&) override {
    if (!body.empty() && !answer_.sink_.abandoned()) answer_.sink_.body(view(body));
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t, BeastView, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, BeastView body, error_code& error) override {
    return on_body_impl(body, error);
  }
  void on_finish_impl(error_code&) override {}

  Http1Answer& answer_;
  HttpResponse head_;
  int status_ = 0;
};

Http1Answer::Http1Answer(Sink& sink, std::size_t maxHeaderBytes)
    : sink_(sink), maxHeaderBytes_(maxHeaderBytes) {}
Http1Answer::~Http1Answer() = default;

void Http1Answer::expect(Expected expected) {
  expected_ = expected;
  informational_ = 0;
  begin();
}

void Http1Answer::begin() {
  parser_ = std::make_unique<Parser>(*this);
  state_ = State::Reading;
}

void Http1Answer::fail(std::string problem) {
  problem_ = std::move(problem);
  state_ = State::Failed;
}

Http1Answer::State Http1Answer::feed(std::string_view bytes) {
  if (unparsed_.empty()) {
    const std::size_t used = parse(bytes);
    unparsed_.assign(bytes.substr(used));
  } else {
    unparsed_.append(bytes);
    unparsed_.erase(0, parse(unparsed_));
  }
  if (state_ == State::Reading && unparsed_.size() > maxHeaderBytes_) {
    fail(fmt::format("the answer's chunk extensions or trailers are longer than {} bytes",
                     maxHeaderBytes_));
  }
  return state_;
}

// Returns the number of bytes used; the others have to be given again, with more after them.
std::size_t Http1Answer::parse(std::string_view bytes) {
  std::size_t used = 0;
  while (state_ == State::Reading && !sink_.abandoned() && used < bytes.size()) {
    // Beast assumes that a last chunk is complete as soon as it has begun, and a last chunk always
    // follows.
    constexpr std::size_t kLastChunk = std::string_view("0\r\n\r\n").size();
    const bool chunks = parser_->is_header_done() && parser_->chunked();
    if (chunks && bytes.size() - used < kLastChunk) break;
    error_code error;
    const std::size_t step =
        parser_->put(boost::asio::buffer(bytes.data() + used, bytes.size() - used), error);
    used += step;
    if (error == http::error::need_more) break;
    if (error) {
      fail(error == http::error::header_limit
               ? fmt::format("the answer's header is longer than {} bytes", maxHeaderBytes_)
               : fmt::format("malformed HTTP/1.1 answer: {}", error.message()));
      break;
    }
    if (parser_->is_done() && !sink_.abandoned()) {
      complete();
    } else if (step == 0) {
      break;
    }
  }
  return used;
}

void Http1Answer::complete() {
  if (parser_->status() >= 200) {
    state_ = State::Complete;
  } else if (parser_->status() == 101) {
    if (!expected_.mayUpgrade) return fail("the server switches protocols without being asked");
    state_ = State::Upgraded;
  } else if (++informational_ > kMaxInformational) {
    fail(fmt::format("more than {} informational answers before the final one", kMaxInformational));
  } else {
    begin();  // 100 Continue, 103 Early Hints: the answer follows
  }
}

Http1Answer::State Http1Answer::end() {
  if (state_ != State::Reading || !parser_->got_some()) return state_;
  error_code error;
  parser_->put_eof(error);
  if (!error && parser_->is_done() && !sink_.abandoned()) complete();
  return state_;
}

bool Http1Answer::keepsAlive() const { return parser_->keep_alive(); }

std::string Http1Answer::takeRest() { return std::exchange(unparsed_, {}); }

}  // namespace kube::detail
