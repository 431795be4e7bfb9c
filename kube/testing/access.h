// Who may do what on an API server: users by certificate or token, and rules that allow.
//
//   Access access({.tokens = {{"secret", {.name = "ann", .groups = {"dev"}}}},
//                  .allow = {{.groups = {"dev"}, .verbs = {"get", "list"}, .resources =
//                  {"pods"}}}});
//   User user = access.authenticate(request);      // throws ApiError (401)
//   access.authorize(user, request);               // throws ApiError (403)
//
// The group system:masters may do everything. Requests without credentials are those of
// system:anonymous, who may read /version and the health endpoints and nothing else.
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

/// Allows what fits all of its lists; an empty one, or "*", fits everything.
struct AllowRule {
  std::vector<std::string> users = {}, groups = {};
  std::vector<std::string> verbs = {};
  std::vector<std::string> resources = {};  // "pods", "pods/log"
  std::vector<std::string> apiGroups = {};  // "" is the core group
  std::vector<std::string> namespaces = {};
  std::vector<std::string> paths = {};  // of requests that are about no resource
  std::vector<std::string> names = {};  // of objects; of whom one may impersonate
};

struct AccessOptions {
  std::map<std::string, User> tokens = {};
  User nobody = {};  // whom requests without credentials are from
  std::vector<AllowRule> allow = {};
};

/// What is asked for, as rules see it.
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

  /// Also by Impersonate- headers: who may "impersonate" the users (or serviceaccounts), groups,
  /// uids and userextras/KEY that they name.
  User authenticate(const ApiRequest& request) const;
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
