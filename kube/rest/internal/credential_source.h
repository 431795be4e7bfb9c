// Where the secret part of Credentials comes from, and the one way in which sources renew it.
//
// Thread safety: every public method may be called from any thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "kube/base/clock.h"
#include "kube/rest/credentials.h"

namespace kube::detail {

struct Secret {
  std::string authorization;  // the header's value; empty for none
  std::shared_ptr<const ClientCertificate> certificate = {};
  std::optional<Clock::WallTime> expires = {};      // by the word of whoever issued it
  Clock::TimePoint staleAfter = Clock::noDeadline;  // when to look for another

  /// Whether both prove the same.
  bool sameAs(const Secret& other) const;
};

/// How long to wait for a secret. The stop token is the caller's, and outlives the call.
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
  /// Throws TimeoutError at the deadline.
  virtual Issued get(const Patience& patience) = 0;
  /// After the one of this number was refused: another, or the same if there is no other.
  virtual Issued renew(std::uint64_t number, const Patience& patience) = 0;
};

/// A secret that never changes.
std::unique_ptr<CredentialSource> fixedSource(std::string authorization);

/// A bearer token in a file, or `fallback` while there is none.
std::unique_ptr<CredentialSource> tokenFileSource(std::string path, std::string fallback,
                                                  Clock& clock);

/// A source that has to ask somebody. However many threads need a new secret, one asks, and the
/// rest take what it gets, be it an error. If that one is told to stop, or has no more time, the
/// next asks.
class RenewingSource : public CredentialSource {
 public:
  Issued get(const Patience& patience) final;
  Issued renew(std::uint64_t number, const Patience& patience) final;

 protected:
  explicit RenewingSource(Clock& clock) : clock_(clock) {}

  /// Called by one thread at a time and without a lock; `last` may be null. `refused` says that the
  /// last one was.
  virtual Secret issue(const Secret* last, bool refused, const Patience& patience) = 0;

  Clock& clock_;

 private:
  struct Flight {
    bool done = false;
    bool abandoned = false;
    std::exception_ptr error;
    Issued issued;
  };

  Issued joinLocked(std::unique_lock<std::mutex>& lock, bool refused, const Patience& patience);
  Issued leadLocked(std::unique_lock<std::mutex>& lock, bool refused, const Patience& patience);

  std::mutex issuedMutex_;
  std::condition_variable_any landed_;
  std::shared_ptr<Flight> flight_;  // null: nobody is asking
  Issued current_;
};

}  // namespace kube::detail
