#include "kube/controller/internal/manager_pages.h"

#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <type_traits>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/log.h"
#include "kube/http/internal/descriptor.h"

namespace kube::detail {
namespace {

constexpr std::size_t kChecksAtOnce = 4;

// Probes and scrapes are few and small, so more than that is refused. HTTP gets a quarter of the
// file descriptors at most; the rest is for the program.
HttpServerOptions limited(HttpServerOptions http) {
  const auto atMost = [](auto& limit, auto most) {
    limit = std::min(limit, static_cast<std::remove_reference_t<decltype(limit)>>(most));
  };
  atMost(http.maxHeaderBytes, 16 << 10);
  atMost(http.maxBodyBytes, 0);
  atMost(http.maxConcurrentStreams, 20);
  atMost(http.maxConnections, std::min<std::size_t>(mostDescriptors() / 4, 256));
  atMost(http.maxUnfinishedBytes, 4 << 20);
  atMost(http.maxUnsentBytes, 16 << 20);
  for (auto* time : {&http.handshakeTime, &http.headTime, &http.bodyTime, &http.sendTime}) {
    atMost(*time, std::chrono::seconds(10));
  }
  return http;
}

std::string pathOf(std::string_view target) {
  return std::string(target.substr(0, target.find('?')));
}

bool refusesMethod(const ServerRequest& request, const Responder& responder) {
  if (request.method == "GET" || request.method == "HEAD") return false;
  responder.send({.status = 405, .headers = {{"Allow", "GET, HEAD"}}});
  return true;
}

}  // namespace

ManagerPages::ManagerPages(ManagerPagesOptions options, const RestClient& rest,
                           const HealthChecks& health, const HealthChecks& ready)
    : options_(std::move(options)), health_(health), ready_(ready) {
  const auto& others = options_.metricsHttp ? options_.metricsHttp : options_.http;
  if (!others) return;
  const auto answers = [this](AnswerQueue::Answer answer, std::size_t atOnce) {
    return std::make_unique<AnswerQueue>(std::move(answer), atOnce, threads_);
  };
  healthAnswers_ =
      answers([this](const auto& target) { return health_.answer(target); }, kChecksAtOnce);
  readyAnswers_ =
      answers([this](const auto& target) { return ready_.answer(target); }, kChecksAtOnce);
  const auto make = [this](const std::string& path) -> ServerResponse {
    try {
      return makers_.find(path)->second();
    } catch (const std::exception& error) {
      Logger("manager").error("the page {} cannot be made: {}", path, error.what());
      return {.status = 500, .body = "the page cannot be made\n"};
    }
  };
  texts_ = answers(make, 1);
  const auto addText = [this](const char* path, const char* type,
                              const std::function<std::string()>& text) {
    makers_.emplace(path, [type, text]() -> ServerResponse {
      return {.headers = {{"Content-Type", type},
                          {"X-Content-Type-Options", "nosniff"},
                          {"Cache-Control", "no-store"}},
              .body = text()};
    });
    add(path, [this, path](const ServerRequest& request, const Responder& responder) {
      if (!refusesMethod(request, responder)) texts_->ask(path, responder);
    });
  };
  if (options_.readers) {
    if (!others->tls) {
      throw ConfigError(
          "manager: metrics: readers show their tokens, which need TLS: set `tls` of the port");
    }
    reviews_ = std::make_unique<AccessReviews>(rest, *options_.readers);
  }
  addText("/metrics", "text/plain; version=0.0.4; charset=utf-8", options_.metrics);
  if (options_.debug) addText("/debug", "text/plain; charset=utf-8", options_.debug);

  if (options_.http) {
    http_ = std::make_unique<HttpServer>(limited(*options_.http),
                                         [this](ServerRequest request, const Responder& responder) {
                                           serveHealth(std::move(request), responder);
                                         });
  }
  if (options_.metricsHttp) {
    metricsHttp_ = std::make_unique<HttpServer>(
        limited(*options_.metricsHttp), [this](ServerRequest request, const Responder& responder) {
          serveOthers(std::move(request), responder);
        });
  }
}

ManagerPages::~ManagerPages() = default;

void ManagerPages::add(std::string path, HttpHandler handler) {
  if (!path.starts_with('/')) {
    throw Error(fmt::format("manager: the path of a page begins with a slash, not \"{}\"", path));
  }
  if (reviews_) handler = reviews_->guarding(std::move(handler));
  const bool taken = health_.serves(path) || ready_.serves(path);
  const Lock lock(pagesMutex_);
  if (taken ||
      !pages_.emplace(path, std::make_shared<const HttpHandler>(std::move(handler))).second) {
    throw Error(fmt::format("manager: a page {} exists already", path));
  }
}

std::string ManagerPages::healthUrl() const { return http_ ? http_->url() : std::string(); }
std::string ManagerPages::otherUrl() const {
  return metricsHttp_ ? metricsHttp_->url() : healthUrl();
}

// Answers on other threads: a check may take longer than the server's thread may wait.
void ManagerPages::serveHealth(ServerRequest request, const Responder& responder) {
  for (const auto& [checks, answers] :
       {std::pair{&health_, healthAnswers_.get()}, std::pair{&ready_, readyAnswers_.get()}}) {
    if (!checks->serves(request.target)) continue;
    if (!refusesMethod(request, responder)) answers->ask(request.target, responder);
    return;
  }
  if (!options_.metricsHttp) return serveOthers(std::move(request), responder);
  responder.send({.status = 404, .body = "not found: this port has /healthz and /readyz\n"});
}

void ManagerPages::serveOthers(ServerRequest request, const Responder& responder) {
  const std::string path = pathOf(request.target);
  std::shared_ptr<const HttpHandler> handler;
  {
    const Lock lock(pagesMutex_);
    // The longest path that ends with a slash, and is a part of the request's.
    for (std::string_view at = path;; at = at.substr(0, at.find_last_of('/', at.size() - 2) + 1)) {
      const auto found = pages_.find(at);
      if (found != pages_.end()) handler = found->second;
      if (handler || at.size() < 2) break;
    }
  }
  if (handler) return (*handler)(std::move(request), responder);
  responder.send({.status = 404, .body = "not found\n"});
}

}  // namespace kube::detail
