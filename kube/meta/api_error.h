// A failure that an API server reported: an exception that holds the server's whole Status.
//
//   try {
//     clients.coreV1().pods("book").get("example");
//   } catch (const kube::ApiError& e) {
//     if (!kube::isNotFound(e)) throw;
//   }
//
// The predicates decide as those of apimachinery: by the Status' reason or, if the reason is
// unknown, by its code. They take any exception and are false for exceptions other than ApiError,
// so one handler may test everything.
//
// The functions in namespace kube::status make the Statuses that servers answer with, in upstream's
// words.
//
// Thread safety: exceptions are immutable; copying one never throws.
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kube/base/error.h"
#include "kube/meta/gvk.h"
#include "kube/meta/v1.h"

namespace kube {

class ApiError : public Error {
 public:
  /// `doing` describes the failed operation: `update pods "web-1" in namespace "book"`. In what(),
  /// it precedes the server's message, which code and reason follow.
  /// `auditId` identifies the request in the server's audit log; failures of the server (5xx) show
  /// it in what().
  explicit ApiError(metav1::Status status, std::string_view doing = {},
                    std::string_view auditId = {});
  ~ApiError() override;

  const metav1::Status& status() const noexcept { return facts_->status; }
  int code() const noexcept { return status().code; }
  std::string_view reason() const noexcept { return status().reason; }
  /// The server's message.
  std::string_view message() const noexcept { return status().message; }
  /// The id of the request in the server's audit log (Audit-Id); empty if the server sent none.
  std::string_view auditId() const noexcept { return facts_->auditId; }
  /// The time that the server asks to wait before the next try, if it does.
  std::optional<std::chrono::seconds> retryAfter() const noexcept;
  /// The first cause with this reason in the Status, such as a problem of one field; null if there
  /// is none.
  const metav1::StatusCause* cause(std::string_view reason) const noexcept;

 private:
  struct Facts {
    metav1::Status status;
    std::string auditId;
  };
  std::shared_ptr<const Facts> facts_;  // shared, so that copying cannot throw
};

bool isNotFound(const std::exception& error) noexcept;
bool isAlreadyExists(const std::exception& error) noexcept;
/// True if the object has changed since it was read: read it again and retry (see retryOnConflict).
bool isConflict(const std::exception& error) noexcept;
bool isInvalid(const std::exception& error) noexcept;
bool isGone(const std::exception& error) noexcept;
/// True if a resource version or continue token is too old: list again.
bool isResourceExpired(const std::exception& error) noexcept;
/// True if the server has not reached the requested resource version. It may never reach it, for
/// example if it was restored from a backup.
bool isTooLargeVersion(const std::exception& error) noexcept;
bool isNotAcceptable(const std::exception& error) noexcept;
bool isUnsupportedMediaType(const std::exception& error) noexcept;
bool isMethodNotSupported(const std::exception& error) noexcept;
bool isServiceUnavailable(const std::exception& error) noexcept;
bool isBadRequest(const std::exception& error) noexcept;
bool isUnauthorized(const std::exception& error) noexcept;
bool isForbidden(const std::exception& error) noexcept;
/// True if the server gave up waiting; the call may still take effect.
bool isTimeout(const std::exception& error) noexcept;
/// True if the server could not complete the call in time; trying again is safe.
bool isServerTimeout(const std::exception& error) noexcept;
bool isInternalError(const std::exception& error) noexcept;
bool isTooManyRequests(const std::exception& error) noexcept;
bool isRequestEntityTooLarge(const std::exception& error) noexcept;
bool isStoreReadError(const std::exception& error) noexcept;
/// True if the answer did not come from an API server, but perhaps from a proxy.
bool isUnexpectedServerError(const std::exception& error) noexcept;
/// The time that the error asks to wait, if it does.
std::optional<std::chrono::seconds> suggestsClientDelay(const std::exception& error) noexcept;

/// Statuses as servers make them.
namespace status {

metav1::Status notFound(const GroupResource& resource, std::string_view name);
metav1::Status alreadyExists(const GroupResource& resource, std::string_view name);
metav1::Status generateNameConflict(const GroupResource& resource, std::string_view name,
                                    int retryAfterSeconds);
/// With an empty reason, the message is "not authorized".
metav1::Status unauthorized(std::string_view reason);
metav1::Status forbidden(const GroupResource& resource, std::string_view name,
                         std::string_view why);
metav1::Status conflict(const GroupResource& resource, std::string_view name, std::string_view why);
metav1::Status applyConflict(List<metav1::StatusCause> causes, std::string_view message);
metav1::Status gone(std::string_view message);
metav1::Status expired(std::string_view message);
/// Each cause is a field at fault; its `message` is printed after the field.
metav1::Status invalid(const GroupKind& kind, std::string_view name,
                       List<metav1::StatusCause> causes);
metav1::Status badRequest(std::string_view reason);
metav1::Status tooManyRequests(std::string_view message, int retryAfterSeconds);
metav1::Status serviceUnavailable(std::string_view reason);
metav1::Status methodNotSupported(const GroupResource& resource, std::string_view action);
metav1::Status serverTimeout(const GroupResource& resource, std::string_view operation,
                             int retryAfterSeconds);
metav1::Status internalError(std::string_view what);
metav1::Status timeout(std::string_view message, int retryAfterSeconds);
metav1::Status requestEntityTooLarge(std::string_view message);
metav1::Status notAcceptable(std::string_view message);
metav1::Status unsupportedMediaType(std::string_view message);

/// Guesses the Status for an answer whose body is not a Status, as client-go does. `unexpected`:
/// the answer did not come from an API server. `name` may be empty.
metav1::Status fromResponse(int code, std::string_view verb, const GroupResource& resource,
                            std::string_view name, std::string_view serverMessage,
                            int retryAfterSeconds, bool unexpected);

}  // namespace status

}  // namespace kube
