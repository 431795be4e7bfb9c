#include "kube/rest/internal/credential_source.h"

#include <utility>

#include "kube/base/error.h"
#include "kube/base/log.h"
#include "kube/http/internal/files.h"
#include "kube/http/internal/text.h"

namespace kube::detail {
namespace {

class FixedSource final : public CredentialSource {
 public:
  explicit FixedSource(std::string authorization)
      : issued_{std::make_shared<const Secret>(Secret{std::move(authorization)}), 1} {}

  Issued get(const Patience&) override { return issued_; }
  Issued renew(std::uint64_t, const Patience&) override { return issued_; }

 private:
  const Issued issued_;
};

// Kubelets replace a service account's token when a fifth of its time is left, two minutes at
// least. Upstream reads the file anew after a minute, less ten seconds for late clocks.
constexpr auto kTokenFilePeriod = std::chrono::seconds{50};
constexpr auto kTokenFileRetry = std::chrono::seconds{1};
constexpr std::size_t kMaxTokenBytes = 1 << 20;

class TokenFileSource final : public RenewingSource {
 public:
  TokenFileSource(std::string path, std::string fallback, Clock& clock)
      : RenewingSource(clock), path_(std::move(path)), fallback_(std::move(fallback)) {}

 private:
  Secret issue(const Secret* last, bool, const Patience&) override {
    try {
      return {.authorization = bearer(readToken(), path_),
              .staleAfter = clock_.deadlineAfter(kTokenFilePeriod)};
    } catch (const ConfigError& error) {
      if (last == nullptr && fallback_.empty()) throw;
      Logger("credentials").warning("the token read before is used on: {}", error.what());
      return {.authorization = last != nullptr ? last->authorization : fallback_,
              .staleAfter = clock_.deadlineAfter(kTokenFileRetry)};
    }
  }

  std::string readToken() const {
    const std::string text = readFile(path_, kMaxTokenBytes);
    const std::string_view token = trim(text);
    if (token.empty()) throw ConfigError(path_ + ": holds no token");
    return std::string(token);
  }

  const std::string path_;
  const std::string fallback_;
};

}  // namespace

CredentialSource::~CredentialSource() = default;

bool Secret::sameAs(const Secret& other) const {
  return authorization == other.authorization &&
         (certificate == other.certificate ||
          (certificate && other.certificate && *certificate == *other.certificate));
}

std::unique_ptr<CredentialSource> fixedSource(std::string authorization) {
  return std::make_unique<FixedSource>(std::move(authorization));
}

std::unique_ptr<CredentialSource> tokenFileSource(std::string path, std::string fallback,
                                                  Clock& clock) {
  return std::make_unique<TokenFileSource>(std::move(path), std::move(fallback), clock);
}

CredentialSource::Issued RenewingSource::get(const Patience& patience) {
  std::unique_lock lock(issuedMutex_);
  if (const Secret* secret = current_.secret.get()) {
    const bool expired = secret->expires && clock_.wallNow() > *secret->expires;
    if (!expired && clock_.now() < secret->staleAfter) return current_;
  }
  return joinLocked(lock, false, patience);
}

CredentialSource::Issued RenewingSource::renew(std::uint64_t number, const Patience& patience) {
  std::unique_lock lock(issuedMutex_);
  if (current_.number != number) return current_;  // another thread was first
  return joinLocked(lock, true, patience);
}

CredentialSource::Issued RenewingSource::joinLocked(std::unique_lock<std::mutex>& lock,
                                                    bool refused, const Patience& patience) {
  for (;;) {
    if (patience.stop.stop_requested()) throw CanceledError("getting credentials: stopped");
    if (!flight_) return leadLocked(lock, refused, patience);
    const std::shared_ptr<Flight> flight = flight_;
    if (!clock_.waitUntil(landed_, lock, patience.stop, patience.deadline,
                          [&] { return flight->done; })) {
      if (patience.stop.stop_requested()) continue;
      throw TimeoutError("getting credentials: another request that gets them takes too long");
    }
    if (flight->abandoned) continue;
    if (flight->error) std::rethrow_exception(flight->error);
    return flight->issued;
  }
}

CredentialSource::Issued RenewingSource::leadLocked(std::unique_lock<std::mutex>& lock,
                                                    bool refused, const Patience& patience) {
  const auto flight = flight_ = std::make_shared<Flight>();
  const Issued last = current_;
  lock.unlock();

  std::shared_ptr<const Secret> fresh;
  try {
    Secret issued = issue(last.secret.get(), refused, patience);
    // The same certificate stays the same object.
    if (last.secret && last.secret->certificate && issued.certificate &&
        *issued.certificate == *last.secret->certificate) {
      issued.certificate = last.secret->certificate;
    }
    fresh = std::make_shared<const Secret>(std::move(issued));
  } catch (const CanceledError&) {
    flight->abandoned = true;
  } catch (const TimeoutError&) {
    // Of this request: others may have more time.
    flight->abandoned = true;
    flight->error = std::current_exception();
  } catch (...) {
    flight->error = std::current_exception();
  }

  lock.lock();
  if (fresh) {
    const bool another = !last.secret || !fresh->sameAs(*last.secret);
    current_ = {std::move(fresh), last.number + (another ? 1 : 0)};
    flight->issued = current_;
  }
  flight->done = true;
  flight_ = nullptr;
  landed_.notify_all();
  if (flight->error) std::rethrow_exception(flight->error);
  if (flight->abandoned) throw CanceledError("getting credentials: stopped");
  return flight->issued;
}

}  // namespace kube::detail
