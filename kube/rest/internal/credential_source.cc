#include "kube/rest/internal/credential_source.h"

#include <utility>

#include "kube/base/error.h"
#include "kube/base/internal/text.h"
#include "kube/base/log.h"
#include "kube/http/internal/files.h"
#include "kube/http/internal/header_text.h"

namespace kube::detail {
namespace {

class FixedSource final : public CredentialSource {
 public:
  explicit FixedSource(std::string authorization)
      : issued_{std::make_shared<const Secret>(Secret{std::move(authorization)}), 1} {}

  std::optional<Issued> current() override { return issued_; }
  Issued get(const Patience&) override { return issued_; }
  Issued renew(std::uint64_t, const Patience&) override { return issued_; }

 private:
  const Issued issued_;
};

// Kubelets replace a service account's token when a fifth of its time is left, at least two
// minutes. Upstream reads the file again after a minute, less ten seconds for late clocks.
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
      Logger("credentials").warning("using the previous token: {}", error.what());
      return {.authorization = last != nullptr ? last->authorization : fallback_,
              .staleAfter = clock_.deadlineAfter(kTokenFileRetry)};
    }
  }

  std::string readToken() const {
    const std::string text = readFile(path_, kMaxTokenBytes);
    const std::string_view token = trim(text);
    if (token.empty()) throw ConfigError(path_ + ": contains no token");
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

std::optional<CredentialSource::Issued> RenewingSource::current() {
  const Lock lock(issuedMutex_);
  if (!isFresh()) return std::nullopt;
  return current_;
}

CredentialSource::Issued RenewingSource::get(const Patience& patience) {
  return join([this]() KUBE_REQUIRES(issuedMutex_) { return isFresh(); }, false, patience);
}

CredentialSource::Issued RenewingSource::renew(std::uint64_t number, const Patience& patience) {
  const auto renewedMeanwhile = [this, number]() KUBE_REQUIRES(issuedMutex_) {
    return current_.number != number;
  };
  return join(renewedMeanwhile, true, patience);
}

bool RenewingSource::isFresh() const {
  const Secret* secret = current_.secret.get();
  if (secret == nullptr) return false;
  const bool expired = secret->expires && clock_.wallNow() > *secret->expires;
  return !expired && clock_.now() < secret->staleAfter;
}

template <class Good>
CredentialSource::Issued RenewingSource::join(Good good, bool refused, const Patience& patience) {
  std::shared_ptr<Flight> own;
  Issued last;
  {
    Lock lock(issuedMutex_);
    if (good()) return current_;
    for (;;) {
      if (patience.stop.stop_requested()) throw CanceledError("getting credentials: stopped");
      if (!flight_) break;
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
    own = flight_ = std::make_shared<Flight>();
    last = current_;
  }
  return lead(own, last, refused, patience);
}

CredentialSource::Issued RenewingSource::lead(const std::shared_ptr<Flight>& flight,
                                              const Issued& last, bool refused,
                                              const Patience& patience) {
  std::shared_ptr<const Secret> fresh;
  try {
    Secret issued = issue(last.secret.get(), refused, patience);
    // An unchanged certificate stays the same object.
    if (last.secret && last.secret->certificate && issued.certificate &&
        *issued.certificate == *last.secret->certificate) {
      issued.certificate = last.secret->certificate;
    }
    fresh = std::make_shared<const Secret>(std::move(issued));
  } catch (const CanceledError&) {
    flight->abandoned = true;
  } catch (const TimeoutError&) {
    // The time of this request; others may have more.
    flight->abandoned = true;
    flight->error = std::current_exception();
  } catch (...) {
    flight->error = std::current_exception();
  }

  const Lock lock(issuedMutex_);
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
