#include "kube/meta/api_error.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "kube/base/internal/text.h"

namespace kube {

namespace {

constexpr std::string_view kUnexpectedResponse = "UnexpectedServerResponse";

// The reasons with a meaning of their own.
constexpr std::array<std::string_view, 19> kKnownReasons = {"Unauthorized",
                                                            "Forbidden",
                                                            "NotFound",
                                                            "AlreadyExists",
                                                            "Conflict",
                                                            "Gone",
                                                            "Invalid",
                                                            "ServerTimeout",
                                                            "StoreReadError",
                                                            "Timeout",
                                                            "TooManyRequests",
                                                            "BadRequest",
                                                            "MethodNotAllowed",
                                                            "NotAcceptable",
                                                            "RequestEntityTooLarge",
                                                            "UnsupportedMediaType",
                                                            "InternalError",
                                                            "Expired",
                                                            "ServiceUnavailable"};

const metav1::Status* statusOf(const std::exception& error) noexcept {
  const auto* api = dynamic_cast<const ApiError*>(&error);
  return api != nullptr ? &api->status() : nullptr;
}

bool hasReason(const std::exception& error, std::string_view reason) noexcept {
  const metav1::Status* status = statusOf(error);
  return status != nullptr && status->reason == reason;
}

// Decides by the reason, or by the code if the reason is unknown.
bool isOf(const std::exception& error, std::string_view reason, int code) noexcept {
  const metav1::Status* status = statusOf(error);
  if (status == nullptr) return false;
  if (status->reason == reason) return true;
  return status->code == code &&
         std::ranges::find(kKnownReasons, status->reason.view()) == kKnownReasons.end();
}

// Decides by either, because the code has a single meaning.
bool isEither(const std::exception& error, std::string_view reason, int code) noexcept {
  const metav1::Status* status = statusOf(error);
  return status != nullptr && (status->reason == reason || status->code == code);
}

std::string describe(const metav1::Status& status, std::string_view doing,
                     std::string_view auditId) {
  std::string text(doing);
  if (!text.empty()) text += ": ";
  text += status.message.empty() ? "the server reported a failure" : status.message.view();
  if (status.code == 0 && status.reason.empty()) return text;
  text += " (";
  if (status.code != 0) text += std::to_string(status.code);
  if (status.code != 0 && !status.reason.empty()) text += ' ';
  text += status.reason;
  if (status.code >= 500 && !auditId.empty()) text.append(", audit id ").append(auditId);
  return text + ')';
}

}  // namespace

ApiError::ApiError(metav1::Status status, std::string_view doing, std::string_view auditId)
    : Error(ErrorKind::Api, describe(status, doing, auditId)),
      facts_(std::make_shared<const Facts>(Facts{std::move(status), std::string(auditId)})) {}

ApiError::~ApiError() = default;

std::optional<std::chrono::seconds> ApiError::retryAfter() const noexcept {
  if (!status().details) return std::nullopt;
  const int seconds = status().details->retryAfterSeconds;
  if (seconds <= 0 && status().reason != "ServerTimeout") return std::nullopt;
  return std::chrono::seconds(std::max(seconds, 0));
}

const metav1::StatusCause* ApiError::cause(std::string_view reason) const noexcept {
  if (!status().details) return nullptr;
  for (const metav1::StatusCause& cause : status().details->causes) {
    if (cause.reason == reason) return &cause;
  }
  return nullptr;
}

bool isNotFound(const std::exception& error) noexcept { return isOf(error, "NotFound", 404); }
bool isAlreadyExists(const std::exception& error) noexcept {
  return hasReason(error, "AlreadyExists");
}
bool isConflict(const std::exception& error) noexcept { return isOf(error, "Conflict", 409); }
bool isInvalid(const std::exception& error) noexcept { return isOf(error, "Invalid", 422); }
bool isGone(const std::exception& error) noexcept { return isOf(error, "Gone", 410); }
bool isResourceExpired(const std::exception& error) noexcept { return hasReason(error, "Expired"); }
bool isTooLargeVersion(const std::exception& error) noexcept {
  const auto* api = dynamic_cast<const ApiError*>(&error);
  if (api == nullptr) return false;
  if (api->cause("ResourceVersionTooLarge") != nullptr) return true;
  // Servers before 1.18.5 report this in the message only.
  return isTimeout(error) &&
         api->message().find("Too large resource version") != api->message().npos;
}
bool isNotAcceptable(const std::exception& error) noexcept {
  return isOf(error, "NotAcceptable", 406);
}
bool isUnsupportedMediaType(const std::exception& error) noexcept {
  return isOf(error, "UnsupportedMediaType", 415);
}
bool isMethodNotSupported(const std::exception& error) noexcept {
  return isOf(error, "MethodNotAllowed", 405);
}
bool isServiceUnavailable(const std::exception& error) noexcept {
  return isOf(error, "ServiceUnavailable", 503);
}
bool isBadRequest(const std::exception& error) noexcept { return isOf(error, "BadRequest", 400); }
bool isUnauthorized(const std::exception& error) noexcept {
  return isOf(error, "Unauthorized", 401);
}
bool isForbidden(const std::exception& error) noexcept { return isOf(error, "Forbidden", 403); }
bool isTimeout(const std::exception& error) noexcept { return isOf(error, "Timeout", 504); }
bool isServerTimeout(const std::exception& error) noexcept {
  return hasReason(error, "ServerTimeout");
}
bool isInternalError(const std::exception& error) noexcept {
  return isOf(error, "InternalError", 500);
}
bool isTooManyRequests(const std::exception& error) noexcept {
  return isEither(error, "TooManyRequests", 429);
}
bool isRequestEntityTooLarge(const std::exception& error) noexcept {
  return isEither(error, "RequestEntityTooLarge", 413);
}
bool isStoreReadError(const std::exception& error) noexcept {
  return hasReason(error, "StoreReadError");
}
bool isUnexpectedServerError(const std::exception& error) noexcept {
  const auto* api = dynamic_cast<const ApiError*>(&error);
  return api != nullptr && api->cause(kUnexpectedResponse) != nullptr;
}
std::optional<std::chrono::seconds> suggestsClientDelay(const std::exception& error) noexcept {
  const auto* api = dynamic_cast<const ApiError*>(&error);
  return api != nullptr ? api->retryAfter() : std::nullopt;
}

namespace status {

namespace {

metav1::Status failure(int code, std::string_view reason, std::string_view message) {
  metav1::Status status;
  status.status = "Failure";
  status.code = code;
  status.reason = reason;
  status.message = message;
  return status;
}

metav1::Status failure(int code, std::string_view reason, std::string_view message,
                       const GroupResource& resource, std::string_view name) {
  metav1::Status status = failure(code, reason, message);
  auto& details = *status.details;
  details.group = resource.group;
  details.kind = resource.resource;
  details.name = name;
  return status;
}

metav1::Status delayed(metav1::Status status, int seconds) {
  status.details->retryAfterSeconds = seconds;
  return status;
}

std::string named(const GroupResource& resource, std::string_view name) {
  return fmt::format("{} \"{}\"", resource.str(), name);
}

}  // namespace

metav1::Status notFound(const GroupResource& resource, std::string_view name) {
  return failure(404, "NotFound", named(resource, name) + " not found", resource, name);
}
metav1::Status alreadyExists(const GroupResource& resource, std::string_view name) {
  return failure(409, "AlreadyExists", named(resource, name) + " already exists", resource, name);
}
metav1::Status generateNameConflict(const GroupResource& resource, std::string_view name,
                                    int retryAfterSeconds) {
  return delayed(
      failure(
          409, "AlreadyExists",
          named(resource, name) +
              " already exists, the server was not able to generate a unique name for the object",
          resource, name),
      retryAfterSeconds);
}
metav1::Status unauthorized(std::string_view reason) {
  return failure(401, "Unauthorized", reason.empty() ? "not authorized" : reason);
}
metav1::Status forbidden(const GroupResource& resource, std::string_view name,
                         std::string_view why) {
  std::string message;
  if (!resource.empty()) {
    message = (name.empty() ? resource.str() : named(resource, name)) + " is ";
  }
  return failure(403, "Forbidden", fmt::format("{}forbidden: {}", message, why), resource, name);
}
metav1::Status conflict(const GroupResource& resource, std::string_view name,
                        std::string_view why) {
  return failure(409, "Conflict",
                 fmt::format("Operation cannot be fulfilled on {}: {}", named(resource, name), why),
                 resource, name);
}
metav1::Status applyConflict(List<metav1::StatusCause> causes, std::string_view message) {
  metav1::Status status = failure(409, "Conflict", message);
  status.details->causes = std::move(causes);
  return status;
}
metav1::Status gone(std::string_view message) { return failure(410, "Gone", message); }
metav1::Status expired(std::string_view message) { return failure(410, "Expired", message); }

metav1::Status invalid(const GroupKind& kind, std::string_view name,
                       List<metav1::StatusCause> causes) {
  std::string message = fmt::format("{} \"{}\" is invalid", kind.str(), name);
  if (!causes.empty()) {
    message += causes.size() > 1 ? ": [" : ": ";
    for (std::size_t i = 0; i < causes.size(); ++i) {
      const metav1::StatusCause& cause = std::as_const(causes)[i];
      if (i > 0) message += ", ";
      if (!cause.field.empty()) message += cause.field + ": ";
      message += cause.message;
    }
    if (causes.size() > 1) message += ']';
  }
  metav1::Status status = failure(422, "Invalid", message, {kind.group, kind.kind}, name);
  status.details->causes = std::move(causes);
  return status;
}

metav1::Status badRequest(std::string_view reason) { return failure(400, "BadRequest", reason); }
metav1::Status tooManyRequests(std::string_view message, int retryAfterSeconds) {
  return delayed(failure(429, "TooManyRequests", message), retryAfterSeconds);
}
metav1::Status serviceUnavailable(std::string_view reason) {
  return failure(503, "ServiceUnavailable", reason);
}
metav1::Status methodNotSupported(const GroupResource& resource, std::string_view action) {
  return failure(
      405, "MethodNotAllowed",
      fmt::format("{} is not supported on resources of kind \"{}\"", action, resource.str()),
      resource, {});
}
metav1::Status serverTimeout(const GroupResource& resource, std::string_view operation,
                             int retryAfterSeconds) {
  return delayed(failure(500, "ServerTimeout",
                         fmt::format("The {} operation against {} could not be completed at this "
                                     "time, please try again.",
                                     operation, resource.str()),
                         resource, operation),
                 retryAfterSeconds);
}
metav1::Status internalError(std::string_view what) {
  metav1::Status status =
      failure(500, "InternalError", fmt::format("Internal error occurred: {}", what));
  status.details->causes.push_back({.message = what});
  return status;
}
metav1::Status timeout(std::string_view message, int retryAfterSeconds) {
  return delayed(failure(504, "Timeout", fmt::format("Timeout: {}", message)), retryAfterSeconds);
}
metav1::Status requestEntityTooLarge(std::string_view message) {
  return failure(413, "RequestEntityTooLarge",
                 fmt::format("Request entity too large: {}", message));
}
metav1::Status notAcceptable(std::string_view message) {
  return failure(406, "NotAcceptable", message);
}
metav1::Status unsupportedMediaType(std::string_view message) {
  return failure(415, "UnsupportedMediaType", message);
}

metav1::Status fromResponse(int code, std::string_view verb, const GroupResource& resource,
                            std::string_view name, std::string_view serverMessage,
                            int retryAfterSeconds, bool unexpected) {
  struct Guess {
    int code;
    std::string_view reason, message;  // if the message is empty, the server's message is used
  };
  static constexpr Guess kGuesses[] = {
      {400, "BadRequest", "the server rejected our request for an unknown reason"},
      {401, "Unauthorized", "the server has asked for the client to provide credentials"},
      {403, "Forbidden", {}},
      {404, "NotFound", "the server could not find the requested resource"},
      {405, "MethodNotAllowed", "the server does not allow this method on the requested resource"},
      {406, "NotAcceptable", {}},
      {409, "Conflict", "the server reported a conflict"},
      {415, "UnsupportedMediaType", {}},
      {422, "Invalid", "the server rejected our request due to an error in our request"},
      {429, "TooManyRequests",
       "the server has received too many requests and has asked us to try again later"},
      {503, "ServiceUnavailable", "the server is currently unable to handle the request"},
      {504, "Timeout",
       "the server was unable to return a response in the time allotted, but may still be "
       "processing the request"},
  };
  std::string_view reason;
  std::string message;
  const auto* guess = std::ranges::find(kGuesses, code, &Guess::code);
  if (guess != std::end(kGuesses)) {
    reason = code == 409 && verb == "POST" ? "AlreadyExists" : guess->reason;
    message = guess->message.empty() ? serverMessage : guess->message;
    if (code == 406 && (serverMessage.empty() || serverMessage == "unknown")) {
      message = "the server was unable to respond with a content type that the client supports";
    }
  } else if (code >= 500) {
    reason = "InternalError";
    message = fmt::format(
        "an error on the server (\"{}\") has prevented the request from succeeding", serverMessage);
  } else {
    message = fmt::format(
        "the server responded with the status code {} but did not return more information", code);
  }
  if (!resource.empty()) {
    message += fmt::format(" ({} {}{}{})", detail::lower(verb), resource.str(),
                           name.empty() ? "" : " ", name);
  }
  metav1::Status status =
      delayed(failure(code, reason, message, resource, name), retryAfterSeconds);
  if (unexpected) {
    status.details->causes.push_back({.reason = kUnexpectedResponse, .message = serverMessage});
  }
  return status;
}

}  // namespace status

}  // namespace kube
