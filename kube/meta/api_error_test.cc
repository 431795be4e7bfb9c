#include "kube/meta/api_error.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace kube {
namespace {

using namespace std::chrono_literals;

const GroupResource kPods{"", "pods"};
const GroupResource kDeployments{"apps", "deployments"};

metav1::Status plain(int code, std::string_view reason) {
  metav1::Status status;
  status.status = "Failure";
  status.code = code;
  status.reason = reason;
  return status;
}

TEST(ApiErrorTest, MessageHasTheOperationAndTheServersMessage) {
  const ApiError error(status::conflict(kPods, "web-1", "the object has been modified"),
                       "update pods \"web-1\" in namespace \"book\"");
  EXPECT_STREQ(error.what(),
               "update pods \"web-1\" in namespace \"book\": Operation cannot be fulfilled on pods "
               "\"web-1\": the object has been modified (409 Conflict)");
  EXPECT_EQ(error.kind(), ErrorKind::Api);
  EXPECT_EQ(error.code(), 409);
  EXPECT_EQ(error.reason(), "Conflict");
  EXPECT_EQ(error.status().details->name, "web-1");
  EXPECT_STREQ(ApiError({}).what(), "the server reported a failure");
}

TEST(ApiErrorTest, PredicatesGoByTheReason) {
  EXPECT_TRUE(isNotFound(ApiError(status::notFound(kPods, "a"))));
  EXPECT_TRUE(isAlreadyExists(ApiError(status::alreadyExists(kPods, "a"))));
  EXPECT_FALSE(isConflict(ApiError(status::alreadyExists(kPods, "a"))));
  EXPECT_TRUE(isConflict(ApiError(status::conflict(kPods, "a", "b"))));
  EXPECT_TRUE(isInvalid(ApiError(status::invalid({"", "Pod"}, "a", {}))));
  EXPECT_TRUE(isGone(ApiError(status::gone("a"))));
  EXPECT_FALSE(isResourceExpired(ApiError(status::gone("a"))));
  EXPECT_TRUE(isResourceExpired(ApiError(status::expired("a"))));
  EXPECT_FALSE(isGone(ApiError(status::expired("a"))));
  EXPECT_TRUE(isUnauthorized(ApiError(status::unauthorized(""))));
  EXPECT_TRUE(isForbidden(ApiError(status::forbidden(kPods, "a", "b"))));
  EXPECT_TRUE(isBadRequest(ApiError(status::badRequest("a"))));
  EXPECT_TRUE(isTooManyRequests(ApiError(status::tooManyRequests("a", 1))));
  EXPECT_TRUE(isServiceUnavailable(ApiError(status::serviceUnavailable("a"))));
  EXPECT_TRUE(isMethodNotSupported(ApiError(status::methodNotSupported(kPods, "patch"))));
  EXPECT_TRUE(isServerTimeout(ApiError(status::serverTimeout(kPods, "list", 1))));
  EXPECT_FALSE(isInternalError(ApiError(status::serverTimeout(kPods, "list", 1))));
  EXPECT_TRUE(isInternalError(ApiError(status::internalError("a"))));
  EXPECT_TRUE(isTimeout(ApiError(status::timeout("a", 1))));
  EXPECT_TRUE(isRequestEntityTooLarge(ApiError(status::requestEntityTooLarge("a"))));
  EXPECT_TRUE(isNotAcceptable(ApiError(status::notAcceptable("a"))));
  EXPECT_TRUE(isUnsupportedMediaType(ApiError(status::unsupportedMediaType("a"))));
  EXPECT_TRUE(isStoreReadError(ApiError(plain(500, "StoreReadError"))));
}

TEST(ApiErrorTest, PredicatesGoByTheCodeWhereTheReasonIsUnknown) {
  EXPECT_TRUE(isNotFound(ApiError(plain(404, ""))));
  EXPECT_TRUE(isNotFound(ApiError(plain(404, "SomethingElse"))));
  EXPECT_FALSE(isNotFound(ApiError(plain(404, "Conflict"))));
  EXPECT_TRUE(isConflict(ApiError(plain(409, ""))));
  EXPECT_FALSE(isAlreadyExists(ApiError(plain(409, ""))));
  EXPECT_TRUE(isTooManyRequests(ApiError(plain(429, "Conflict"))));
  EXPECT_FALSE(isResourceExpired(ApiError(plain(410, ""))));
}

TEST(ApiErrorTest, PredicatesAreFalseForOtherExceptions) {
  EXPECT_FALSE(isNotFound(std::runtime_error("not found")));
  EXPECT_FALSE(isUnexpectedServerError(TransportError("cut")));
  EXPECT_FALSE(suggestsClientDelay(TransportError("cut")).has_value());
}

TEST(ApiErrorTest, ReturnsTheRequestedDelay) {
  EXPECT_EQ(suggestsClientDelay(ApiError(status::tooManyRequests("a", 7))), 7s);
  EXPECT_EQ(suggestsClientDelay(ApiError(status::tooManyRequests("a", 0))), std::nullopt);
  EXPECT_EQ(suggestsClientDelay(ApiError(status::serverTimeout(kPods, "list", 0))), 0s);
  EXPECT_EQ(suggestsClientDelay(ApiError(status::badRequest("a"))), std::nullopt);
}

TEST(ApiErrorTest, StatusesMatchTheServers) {
  EXPECT_EQ(status::notFound(kDeployments, "web").message, "deployments.apps \"web\" not found");
  EXPECT_EQ(status::alreadyExists(kPods, "web").message, "pods \"web\" already exists");
  EXPECT_EQ(status::forbidden(kPods, "", "no").message, "pods is forbidden: no");
  EXPECT_EQ(status::forbidden({}, "", "no").message, "forbidden: no");
  EXPECT_EQ(status::unauthorized("").message, "not authorized");
  EXPECT_EQ(status::methodNotSupported(kPods, "patch").message,
            "patch is not supported on resources of kind \"pods\"");
  const metav1::Status one = status::invalid(
      {"apps", "Deployment"}, "web",
      {{.reason = "FieldValueRequired", .message = "Required value", .field = "spec.selector"}});
  EXPECT_EQ(one.message, "Deployment.apps \"web\" is invalid: spec.selector: Required value");
  EXPECT_EQ(one.details->kind, "Deployment");
  EXPECT_NE(ApiError(one).cause("FieldValueRequired"), nullptr);
  EXPECT_EQ(ApiError(one).cause("FieldValueInvalid"), nullptr);
  EXPECT_EQ(
      status::invalid({"", "Pod"}, "a", {{.message = "x", .field = "f"}, {.message = "y"}}).message,
      "Pod \"a\" is invalid: [f: x, y]");
}

TEST(ApiErrorTest, GuessesWhatAnAnswerWithoutStatusMeans) {
  const auto guess = [](int code, std::string_view verb = "GET", std::string_view message = "why") {
    return status::fromResponse(code, verb, kPods, "web", message, 0, true);
  };
  EXPECT_EQ(guess(404).message, "the server could not find the requested resource (get pods web)");
  EXPECT_TRUE(isNotFound(ApiError(guess(404))));
  EXPECT_TRUE(isUnexpectedServerError(ApiError(guess(404))));
  EXPECT_TRUE(isAlreadyExists(ApiError(guess(409, "POST"))));
  EXPECT_TRUE(isConflict(ApiError(guess(409, "PUT"))));
  EXPECT_EQ(guess(403).message, "why (get pods web)");
  EXPECT_EQ(guess(406, "GET", "").message,
            "the server was unable to respond with a content type that the client supports (get "
            "pods web)");
  EXPECT_EQ(guess(502).message,
            "an error on the server (\"why\") has prevented the request from succeeding (get pods "
            "web)");
  EXPECT_EQ(guess(418).message,
            "the server responded with the status code 418 but did not return more information "
            "(get pods web)");
  EXPECT_EQ(status::fromResponse(429, "GET", {}, {}, "", 5, false).details.read().retryAfterSeconds,
            5);
}

}  // namespace
}  // namespace kube
