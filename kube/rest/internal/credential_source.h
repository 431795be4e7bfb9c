// The sources of the secret part of Credentials, and the way in which they renew it.
//
// Thread safety: every public method may be called from any thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "kube/base/clock.h"
#include "kube/base/internal/mutex.h"
#include "kube/rest/credentials.h"

namespace kube::detail {

struct Secret {
  std::string authorization;  // value of the header; empty for none
  std::shared_ptr<const ClientCertificate> certificate = {};
  std::optional<Clock::WallTime> expires = {};      // as its issuer says
  Clock::TimePoint staleAfter = Clock::noDeadline;  // when to look for a new one

  /// Returns whether both prove the same identity.
  bool sameAs(const Secret& other) const;
};

/// Limits the wait for a secret. The stop token is the caller's, and outlives the call.
struct Patience {
  const std::stop_token& stop;
  Clock::TimePoint deadline = Clock::noDeadline;
};

class CredentialSource {
 public:
  struct Issued {
    std::shared_ptr<const Secret> secret;
    std::uint64_t number = 0;
  };

  virtual ~CredentialSource();
  /// Returns the secret if that takes no time.
  virtual std::optional<Issued> current() = 0;
  /// Throws TimeoutError at the deadline.
  virtual Issued get(const Patience& patience) = 0;
  /// Returns a new secret after the one of this number was refused, or the same if there is no
  /// other.
  virtual Issued renew(std::uint64_t number, const Patience& patience) = 0;
};

/// Makes a source of a secret that never changes.
std::unique_ptr<CredentialSource> fixedSource(std::string authorization);

/// Makes a source that reads a bearer token from a file; `fallback` is used while there is none.
std::unique_ptr<CredentialSource> tokenFileSource(std::string path, std::string fallback,
                                                  Clock& clock);

/// A source that obtains secrets by slow calls. If several threads need a new secret, one of them
/// asks, and the others take its result, including an error. If that thread is told to stop or runs
/// out of time, the next one asks.
class RenewingSource : public CredentialSource {
 public:
  std::optional<Issued> current() final;
  Issued get(const Patience& patience) final;
  Issued renew(std::uint64_t number, const Patience& patience) final;

 protected:
  explicit RenewingSource(Clock& clock) : clock_(clock) {}

  /// Called by one thread at a time and without a lock; `last` may be null. `refused` says that the
  /// last secret was refused.
  virtual Secret issue(const Secret* last, bool refused, const Patience& patience) = 0;

  Clock& clock_;

 private:
  struct Flight {
    bool done = false;
    bool abandoned = false;
    std::exception_ptr error;
    Issued issued;
  };

  /// Returns the current secret if it is `good`; otherwise asks for a new one, or waits for
  /// another thread that does.
  template <class Good>
  Issued join(Good good, bool refused, const Patience& patience) KUBE_EXCLUDES(issuedMutex_);
  /// Asks for a new secret, for `flight` and its waiters.
  Issued lead(const std::shared_ptr<Flight>& flight, const Issued& last, bool refused,
              const Patience& patience) KUBE_EXCLUDES(issuedMutex_);
  bool isFresh() const KUBE_REQUIRES(issuedMutex_);

  Mutex issuedMutex_;
  std::condition_variable_any landed_;
  std::shared_ptr<Flight> flight_ KUBE_GUARDED_BY(issuedMutex_);  // null: no thread is asking
  Issued current_ KUBE_GUARDED_BY(issuedMutex_);
};

}  // namespace kube::detail
