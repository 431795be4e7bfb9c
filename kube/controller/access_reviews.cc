#include "kube/controller/access_reviews.h"

#include <fmt/core.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>

#include "kube/api/authentication/v1.h"
#include "kube/api/authorization/v1.h"
#include "kube/base/error.h"
#include "kube/base/internal/lru_map.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/internal/text.h"
#include "kube/base/log.h"
#include "kube/base/rate_limiter.h"
#include "kube/base/task_scope.h"
#include "kube/base/task_threads.h"
#include "kube/base/when.h"
#include "kube/client/async_resource_client.h"

namespace kube {
namespace {

using authenticationv1::TokenReview;
using authenticationv1::UserInfo;
using authorizationv1::SubjectAccessReview;

ServerResponse refusal(int status, std::string why) {
  ServerResponse answer{.status = status,
                        .headers = {{"Content-Type", "text/plain; charset=utf-8"},
                                    {"X-Content-Type-Options", "nosniff"},
                                    {"Cache-Control", "no-store"}},
                        .body = std::move(why) + "\n"};
  if (status == 401) answer.headers.add("WWW-Authenticate", "Bearer");
  return answer;
}

// A refusal on its way out of a coroutine.
struct Refused {
  int status;
  const char* why;
};

/// Identifies texts without holding them. Each is preceded by its size, so that no two lists of
/// texts are alike.
class Digest {
 public:
  void add(std::string_view text) {
    text_ += std::to_string(text.size());
    text_ += ':';
    text_ += text;
  }
  std::string finish() const {
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
    SHA256(reinterpret_cast<const unsigned char*>(text_.data()), text_.size(), digest.data());
    return {digest.begin(), digest.end()};
  }

 private:
  std::string text_;
};

// The token of "Authorization: Bearer ..."; empty if there is none, or one that no server issues.
std::string tokenOf(const HttpHeaders& headers) {
  const std::string_view header = headers.get("Authorization");
  constexpr std::string_view kScheme = "bearer ";
  if (detail::lower(header.substr(0, kScheme.size())) != kScheme) return {};
  const std::string_view token = detail::trim(header.substr(kScheme.size()));
  const auto isFine = [](char c) { return c > ' ' && c < '\x7f'; };
  return std::ranges::all_of(token, isFine) ? std::string(token) : std::string();
}

// A handler may take such a path for another than the API server does.
bool isAmbiguous(std::string_view path) {
  std::string plain = detail::lower(path);
  for (std::size_t at; (at = plain.find("%2e")) != std::string::npos;) plain.replace(at, 3, ".");
  plain += '/';
  return plain.find("/../") != std::string::npos || plain.find("/./") != std::string::npos;
}

std::optional<UserInfo> userOf(const std::optional<PeerIdentity>& peer) {
  if (!peer || peer->commonName.empty()) return std::nullopt;
  UserInfo user;
  user.username = peer->commonName;
  for (const std::string& group : peer->organizations) user.groups.push_back(group);
  user.groups.push_back("system:authenticated");
  return user;
}

}  // namespace

class AccessReviews::State {
 public:
  State(RestClient rest, AccessReviewOptions options)
      : options_(std::move(options)),
        clock_(orReal(options_.clock)),
        tokenReviews_(rest.forVersion({"authentication.k8s.io", "v1"})),
        accessReviews_(rest.forVersion({"authorization.k8s.io", "v1"})),
        newcomers_({.qps = options_.reviewsPerSecond, .burst = options_.burst}, clock_),
        users_(options_.cacheSize),
        refused_(options_.cacheSize),
        decisions_(options_.cacheSize),
        tasks_(Executor([threads = TaskThreads::shared()](Executor::Work work) {
          threads->run(std::move(work));
        })) {}

  void pass(ServerRequest request, const Responder& responder,
            const std::shared_ptr<const HttpHandler>& handler) {
    Question question;
    question.path = request.target.substr(0, request.target.find('?'));
    question.verb = detail::lower(request.method);
    if (isAmbiguous(question.path)) return responder.send(refusal(400, "ambiguous path"));
    question.user = userOf(request.peer);
    if (!question.user) {
      question.token = tokenOf(request.headers);
      if (question.token.empty()) return responder.send(refusal(401, "Unauthorized"));
    }
    if (recall(question)) return finish(question, std::move(request), responder, *handler);
    if (tasks_.size() >= options_.maxWaiting) {
      return responder.send(refusal(503, "too many requests are waiting"));
    }
    tasks_.start(ask(std::move(question), std::move(request), responder, handler),
                 "a review of access");
  }

 private:
  struct Question {
    std::string token;             // empty if the user is known from a certificate
    std::optional<UserInfo> user;  // none: not known yet, or the token is refused
    std::string verb, path;
    std::optional<bool> valid;    // whether there is such a user
    std::optional<bool> allowed;  // whether the user may do that
    // When that was reviewed before:
    bool wasValid = false, wasAllowed = false;
  };
  struct KnownUser {
    UserInfo user;
    Clock::TimePoint until;
  };
  struct Decision {
    bool allowed;
    Clock::TimePoint until;
  };

  static std::string keyOfToken(const std::string& token) {
    Digest digest;
    digest.add(token);
    return digest.finish();
  }
  static std::string keyOf(const Question& question) {
    Digest digest;
    const UserInfo& user = *question.user;
    digest.add(user.username);
    digest.add(user.uid);
    digest.add(std::to_string(user.groups.size()));
    for (const String& group : user.groups) digest.add(group);
    for (const auto& [name, values] : user.extra) {
      digest.add(name);
      digest.add(std::to_string(values.size()));
      for (const String& value : values) digest.add(value);
    }
    digest.add(question.verb);
    digest.add(question.path);
    return digest.finish();
  }

  // Answers from results that still count. Returns whether all is known.
  bool recall(Question& question) {
    const Clock::TimePoint now = clock_.now();
    const detail::Lock lock(resultsMutex_);
    if (!question.user) {
      const std::string key = keyOfToken(question.token);
      if (const KnownUser* known = users_.find(key)) {
        question.wasValid = true;
        if (now < known->until) question.user = known->user;
      } else if (const Clock::TimePoint* until = refused_.find(key); until && now < *until) {
        question.valid = false;
        return true;
      }
    }
    if (!question.user) return false;
    question.valid = true;
    if (const Decision* decision = decisions_.find(keyOf(question))) {
      question.wasAllowed = decision->allowed;
      if (now < decision->until) question.allowed = decision->allowed;
    }
    return question.allowed.has_value();
  }

  static void finish(const Question& question, ServerRequest request, const Responder& responder,
                     const HttpHandler& handler) {
    if (!*question.valid) return responder.send(refusal(401, "Unauthorized"));
    if (*question.allowed) return handler(std::move(request), responder);
    responder.send(
        refusal(403, fmt::format("Authorization denied for user {}", question.user->username)));
  }

  Task<void> ask(Question question, ServerRequest request, Responder responder,
                 std::shared_ptr<const HttpHandler> handler) {
    std::optional<ServerResponse> failed;
    try {
      co_await within(options_.timeout, review(question), clock_);
    } catch (const Refused& refused) {
      failed = refusal(refused.status, refused.why);
    } catch (const CanceledError&) {
      throw;
    } catch (const std::exception& error) {
      log_.warning("a reader of {} cannot be checked, and is refused: {}", question.path,
                   error.what());
      failed = refusal(500, "the API server could not be asked who you are and what you may do");
    }
    if (failed) co_return responder.send(*failed);
    finish(question, std::move(request), responder, *handler);
  }

  Task<void> review(Question& question) {
    if (!question.user) co_await reviewToken(question);
    if (!*question.valid || question.allowed) co_return;
    if (recall(question)) co_return;
    co_await reviewAccess(question);
  }

  void expectRoom(bool known) {
    if (known || newcomers_.tryAccept()) return;
    throw Refused{429, "too many reviews of access"};
  }

  Task<void> reviewToken(Question& question) {
    expectRoom(question.wasValid);
    const Clock::TimePoint until = clock_.deadlineAfter(options_.tokenTime);
    TokenReview review;
    review.spec->token = question.token;
    for (const std::string& audience : options_.audiences) {
      review.spec->audiences.push_back(audience);
    }
    const TokenReview result = co_await tokenReviews_.async().create(review);
    const auto& status = *result.status;
    question.valid = status.authenticated && !status.user->username.empty() && isForUs(result);
    const std::string key = keyOfToken(question.token);
    const detail::Lock lock(resultsMutex_);
    if (*question.valid) {
      question.user = *status.user;
      question.wasValid = true;
      users_.put(key, {*question.user, until});
    } else {
      users_.erase(key);
      refused_.put(key, until);
    }
  }

  // A server that does not know of audiences returns none.
  bool isForUs(const TokenReview& result) const {
    if (options_.audiences.empty()) return true;
    return std::ranges::any_of(result.status->audiences, [&](const String& audience) {
      return std::ranges::find(options_.audiences, audience.str()) != options_.audiences.end();
    });
  }

  Task<void> reviewAccess(Question& question) {
    expectRoom(question.wasAllowed);
    const Clock::TimePoint now = clock_.now();
    SubjectAccessReview review;
    const UserInfo& user = *question.user;
    review.spec->user = user.username;
    review.spec->uid = user.uid;
    review.spec->groups = user.groups;
    review.spec->extra = user.extra;
    review.spec->nonResourceAttributes->path = question.path;
    review.spec->nonResourceAttributes->verb = question.verb;
    const SubjectAccessReview result = co_await accessReviews_.async().create(review);
    const bool allowed = result.status->allowed && !result.status->denied;
    question.allowed = allowed;
    const detail::Lock lock(resultsMutex_);
    const auto time = allowed ? options_.allowTime : options_.denyTime;
    decisions_.put(keyOf(question), {allowed, now + time});
  }

  const AccessReviewOptions options_;
  Clock& clock_;
  const Logger log_{"access"};
  const ResourceClient<TokenReview> tokenReviews_;
  const ResourceClient<SubjectAccessReview> accessReviews_;
  TokenBucket newcomers_;

  detail::Mutex resultsMutex_;
  // By digests. An entry stays when its time is over, so that its reader is known.
  LruMap<std::string, KnownUser> users_ KUBE_GUARDED_BY(resultsMutex_);
  LruMap<std::string, Clock::TimePoint> refused_ KUBE_GUARDED_BY(resultsMutex_);
  LruMap<std::string, Decision> decisions_ KUBE_GUARDED_BY(resultsMutex_);
  TaskScope tasks_;  // uses the members above
};

AccessReviews::AccessReviews(RestClient rest, AccessReviewOptions options)
    : state_(std::make_unique<State>(std::move(rest), std::move(options))) {}
AccessReviews::~AccessReviews() = default;

HttpHandler AccessReviews::guarding(HttpHandler handler) {
  return [state = state_.get(), handler = std::make_shared<const HttpHandler>(std::move(handler))](
             ServerRequest request, const Responder& responder) {
    state->pass(std::move(request), responder, handler);
  };
}

}  // namespace kube
