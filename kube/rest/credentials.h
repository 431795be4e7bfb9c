// How a client proves who it is, request by request: the headers and the certificate that a Config
// calls for, kept fresh.
//
//   auto credentials = kube::makeCredentials(config);
//   kube::Credentials::Grant grant = credentials->apply(headers, stop);
//   ...                                              // send; the answer is 401
//   if (credentials->refresh(grant, stop)) ...       // once more, from apply() on
//
// Tokens and passwords given in the Config are added to every request. A token file is read again
// when it may have changed (after 50 seconds, as kubelets expect), and the last good token serves
// while it cannot be read. Exec plugins are run, and OIDC tokens got, before the first request,
// when what they gave has expired, and after a 401; one thread does it and the others wait for the
// same result, each until its own stop token says otherwise.
//
// A secret that would break out of its header is a ConfigError; none appears in an error or a log.
//
// Thread safety: every method may be called from any thread. What blocks: apply() and refresh(),
// for as long as a plugin or an identity provider takes.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "kube/base/clock.h"
#include "kube/http/http_fetch.h"
#include "kube/rest/config.h"

namespace kube {

/// A certificate that a plugin has handed out, with its key: PEM texts.
struct ClientCertificate {
  std::string certData, keyData;

  bool operator==(const ClientCertificate&) const = default;
};

class Credentials {
 public:
  /// What a request was sent with.
  struct Grant {
    std::uint64_t number = 0;  // another one for other credentials

    /// To be used instead of the Config's own, if there is one. It is the same object as long as
    /// the certificate is the same; once it is another, connections made with the old one should
    /// be given up.
    std::shared_ptr<const ClientCertificate> certificate;
  };

  virtual ~Credentials();

  /// Adds Authorization and the Impersonate headers. A request that has an Authorization keeps it,
  /// one that has an Impersonate-User gets no other. Throws ConfigError or TransportError if there
  /// are no credentials to be had, CanceledError on a stop, TimeoutError at the deadline: a plugin
  /// that runs for this request is ended then.
  virtual Grant apply(HttpHeaders& headers, const std::stop_token& stop = {},
                      Clock::TimePoint deadline = Clock::noDeadline) = 0;

  /// To be called when a request was answered 401. Says whether there are other credentials now, so
  /// that the request deserves another try. Throws CanceledError and TimeoutError only: what else
  /// keeps it from getting new credentials is logged.
  virtual bool refresh(const Grant& used, const std::stop_token& stop = {},
                       Clock::TimePoint deadline = Clock::noDeadline) = 0;
};

struct CredentialsOptions {
  Clock* clock = nullptr;  // the real one if null; must outlive the credentials
  HttpFetch fetch = {};    // for OIDC, to get new tokens
  Clock::Duration execTimeout = std::chrono::minutes{5};  // a plugin that runs longer is ended
  std::function<bool()> stdinIsTerminal = {};             // for tests; asks the system if empty
};

/// Throws ConfigError for what is contradictory, incomplete or not known, if a token file cannot be
/// read, and for secrets where the server is reached without TLS. Runs no plugin and sends nothing
/// yet.
std::shared_ptr<Credentials> makeCredentials(const Config& config,
                                             const CredentialsOptions& options = {});

}  // namespace kube
