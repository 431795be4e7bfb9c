#include "kube/rest/request_log.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "kube/base/log.h"
#include "kube/codec/protobuf.h"
#include "kube/rest/internal/request_text.h"

namespace kube {
namespace {

using Write = std::function<void(const std::string& text)>;

std::size_t shownBytes(int verbosity) {
  if (verbosity < 8) return 0;
  if (verbosity == 8) return 1 << 10;
  return verbosity == 9 ? 10 << 10 : std::numeric_limits<std::size_t>::max();
}

// In single quotes, for a shell.
std::string shellWord(std::string_view text) {
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + '\'';
}

std::string curl(const HttpRequest& request, const std::string& url) {
  std::string text = "curl -v -X" + request.method;
  for (const HttpHeader& header : request.headers) {
    text += " -H " + shellWord(header.name + ": " + detail::loggedHeader(header));
  }
  return text + ' ' + shellWord(url);
}

std::string headerLines(const HttpHeaders& headers) {
  std::string text;
  for (const HttpHeader& header : headers) {
    text += fmt::format("\n    {}: {}", header.name, detail::loggedHeader(header));
  }
  return text;
}

// The bodies of one request.
class Bodies {
 public:
  Bodies(Write write, std::size_t most, bool secret)
      : write_(std::move(write)), left_(most), secret_(secret) {}

  void show(std::string_view what, std::string_view body) {
    if (body.empty() || left_ == 0) return;
    if (secret_) {
      left_ = 0;
      return write_(fmt::format("{} <masked>", what));
    }
    if (isProtobuf(body)) return write_(fmt::format("{} {} bytes of protobuf", what, body.size()));
    const std::string_view shown = body.substr(0, left_);
    left_ -= shown.size();
    const std::size_t hidden = body.size() - shown.size();
    write_(fmt::format("{} {}{}", what, shown,
                       hidden > 0 ? fmt::format(" [truncated {} bytes]", hidden) : ""));
  }

 private:
  const Write write_;
  std::size_t left_;
  const bool secret_;
};

Task<> show(int verbosity, Write write, HttpAttempt& attempt, NextMiddleware next) {
  const std::string url = detail::loggedUrl(attempt.server + attempt.request.url);
  const std::size_t most = shownBytes(verbosity);
  const bool secret = detail::holdsSecrets(attempt.request.url);
  if (verbosity >= 9) {
    write(curl(attempt.request, url));
  } else {
    write(fmt::format("Request {} {}{}", attempt.request.method, url,
                      headerLines(attempt.request.headers)));
  }
  Bodies(write, most, secret).show("Request Body", attempt.request.body);
  co_await next();
  if (most == 0) co_return;
  write(fmt::format("Response {} {}{}", attempt.answer.status, url,
                    headerLines(attempt.answer.headers)));
  const auto bodies = std::make_shared<Bodies>(write, most, secret);
  bodies->show("Response Body", attempt.answer.body);
  attempt.onBody.emplace_back(
      [bodies](std::string_view piece) { bodies->show("Response Body", piece); });
}

}  // namespace

Middleware logRequests(int verbosity, std::function<void(const std::string& text)> write) {
  if (!write) {
    write = [log = Logger("rest")](const std::string& text) { log.debug("{}", text); };
  }
  return [verbosity, write = std::move(write)](HttpAttempt& attempt, NextMiddleware next) {
    return show(verbosity, write, attempt, next);
  };
}

}  // namespace kube
