// Access to an API server: finds a request's user by certificate or token, and checks the request
// against a list of rules that allow.
//
//   Access access({.tokens = {{"secret", {.name = "ann", .groups = {"dev"}}}},
//                  .allow = {{.groups = {"dev"},
//                             .verbs = {"get", "list"},
//                             .resources = {"pods"}}}});
//   User user = access.authenticate(request);      // throws ApiError (401)
//   access.authorize(user, request);               // throws ApiError (403)
//
// The group system:masters may do everything. Requests without credentials belong to the user
// system:anonymous, which may read only /version and the health endpoints.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/internal/mutex.h"
#include "kube/testing/api_request.h"

namespace kube::testing {

struct User {
  std::string name = "system:anonymous";
  std::vector<std::string> groups = {"system:unauthenticated"};
  std::string uid = {};
  std::map<std::string, std::vector<std::string>> extra = {};
};

/// Allows requests that match all of its lists. An empty list, or "*", matches everything.
struct AllowRule {
  std::vector<std::string> users = {}, groups = {};
  std::vector<std::string> verbs = {};
  std::vector<std::string> resources = {};  // "pods", "pods/log"
  std::vector<std::string> apiGroups = {};  // "" is the core group
  std::vector<std::string> namespaces = {};
  std::vector<std::string> paths = {};  // for requests without a resource
  std::vector<std::string> names = {};  // of objects, or of the identity to impersonate
};

struct AccessOptions {
  std::map<std::string, User> tokens = {};
  User nobody = {};  // the user of requests without credentials
  std::vector<AllowRule> allow = {};
};

/// The attributes of a request that rules are checked against.
struct AccessQuestion {
  std::string verb = {}, group = {}, resource = {}, subresource = {}, namespace_ = {}, name = {};
  std::string path = {};
};

class Access {
 public:
  explicit Access(AccessOptions options)
      : nobody_(std::move(options.nobody)),
        allow_(std::move(options.allow)),
        tokens_(std::move(options.tokens)) {}

  /// Returns the request's user. Impersonate- headers replace it, if rules allow it the verb
  /// "impersonate" for the users (or serviceaccounts), groups, uids and userextras/KEY that they
  /// name. Throws ApiError for unknown credentials (401) and refused impersonation (403).
  User authenticate(const ApiRequest& request) const;
  /// Throws ApiError (403) unless the user may make the request.
  void authorize(const User& user, const ApiRequest& request) const;
  bool allows(const User& user, const AccessQuestion& question) const;

  void addToken(std::string token, User user);
  std::optional<User> tokenUser(std::string_view token) const;

 private:
  User impersonated(const User& user, const HttpHeaders& headers) const;

  const User nobody_;
  const std::vector<AllowRule> allow_;
  mutable detail::Mutex tokensMutex_;
  std::map<std::string, User> tokens_ KUBE_GUARDED_BY(tokensMutex_);
};

}  // namespace kube::testing
