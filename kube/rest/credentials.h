// Credentials of requests: the headers and the certificate that a Config asks for, kept up to date.
//
//   auto credentials = kube::makeCredentials(config);
//   kube::Credentials::Grant grant = credentials->apply(headers, stop);
//   ...                                         // send; the answer is 401
//   if (credentials->refresh(grant, stop)) ...  // try again, from apply() on
//
// Tokens and passwords of the Config are added to every request. A token file is read again when it
// may have changed (after 50 seconds, as kubelets expect); while it is unreadable, the last good
// token is used. Exec plugins are run, and OIDC tokens fetched, before the first request, when the
// current ones have expired, and after a 401. One thread does that, and the others wait for its
// result, each until its own stop token is triggered.
//
// A secret that cannot be the value of a header is a ConfigError. No secret appears in an error or
// a log.
//
// Thread safety: every method may be called from any thread. apply() and refresh() block while a
// plugin or an identity provider works.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "kube/base/clock.h"
#include "kube/http/http_fetch.h"
#include "kube/rest/config.h"

namespace kube {

/// A certificate that a plugin has returned, and its key: PEM texts.
struct ClientCertificate {
  std::string certData, keyData;

  bool operator==(const ClientCertificate&) const = default;
};

class Credentials {
 public:
  /// The credentials that a request was sent with.
  struct Grant {
    std::uint64_t number = 0;  // differs for different credentials

    /// Replaces the Config's certificate, if not null. The object stays the same while the
    /// certificate is the same; when it changes, connections with the old one should be closed.
    std::shared_ptr<const ClientCertificate> certificate;
  };

  virtual ~Credentials();

  /// Adds Authorization and the Impersonate headers. An existing Authorization or Impersonate-User
  /// is kept. Throws ConfigError or TransportError if there are no credentials, CanceledError on a
  /// stop, TimeoutError at the deadline, which also ends a plugin that runs for this request.
  virtual Grant apply(HttpHeaders& headers, const std::stop_token& stop = {},
                      Clock::TimePoint deadline = Clock::noDeadline) = 0;
  /// The same if it takes no time; otherwise nothing, and the headers stay as they are.
  virtual std::optional<Grant> applyNow(HttpHeaders& headers) = 0;

  /// To be called when a request was answered 401. Returns whether the credentials are different
  /// now, so that another try may succeed. Throws CanceledError and TimeoutError only;
  /// other failures are logged.
  virtual bool refresh(const Grant& used, const std::stop_token& stop = {},
                       Clock::TimePoint deadline = Clock::noDeadline) = 0;
};

struct CredentialsOptions {
  Clock* clock = nullptr;  // null: the real clock; must outlive the credentials
  HttpFetch fetch = {};    // to get new OIDC tokens
  Clock::Duration execTimeout = std::chrono::minutes{5};  // limit of a plugin's run
  std::function<bool()> stdinIsTerminal = {};             // for tests; empty: asks the system
};

/// Throws ConfigError for contradictory, incomplete or unknown settings, an unreadable token file,
/// and secrets for a server without TLS. Runs no plugin and sends nothing yet.
std::shared_ptr<Credentials> makeCredentials(const Config& config,
                                             const CredentialsOptions& options = {});

}  // namespace kube
