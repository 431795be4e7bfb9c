#include "kube/testing/access.h"

#include <fmt/core.h>

#include <algorithm>

#include "kube/base/internal/text.h"
#include "kube/http/url.h"
#include "kube/meta/api_error.h"

namespace kube::testing {

namespace {

bool contains(const std::vector<std::string>& list, std::string_view text) {
  return std::ranges::any_of(list, [&](const std::string& one) { return one == text; });
}

bool fits(const std::vector<std::string>& list, std::string_view text) {
  return list.empty() || contains(list, "*") || contains(list, text);
}

bool fitsPath(const std::vector<std::string>& list, std::string_view path) {
  return std::ranges::any_of(list, [&](const std::string& one) {
    return one.ends_with('*') ? path.starts_with(std::string_view(one).substr(0, one.size() - 1))
                              : one == path;
  });
}

constexpr std::string_view kExtra = "Impersonate-Extra-";

bool startsWithIgnoringCase(std::string_view text, std::string_view start) {
  return text.size() > start.size() && equalIgnoringCase(text.substr(0, start.size()), start);
}

struct AccountName {
  std::string namespace_ = {}, name = {};
};

// Splits "system:serviceaccount:NAMESPACE:NAME". Empty if the user is not a service account.
AccountName serviceAccountOf(std::string_view user) {
  constexpr std::string_view kStart = "system:serviceaccount:";
  if (!user.starts_with(kStart)) return {};
  user.remove_prefix(kStart.size());
  const std::size_t colon = user.find(':');
  if (colon == 0 || colon == std::string_view::npos || colon + 1 == user.size()) return {};
  if (user.find(':', colon + 1) != std::string_view::npos) return {};
  return {std::string(user.substr(0, colon)), std::string(user.substr(colon + 1))};
}

AccessQuestion questionOf(const ApiRequest& request) {
  AccessQuestion question{.verb = request.verb, .path = request.path};
  question.group = request.resource.group.str();
  question.resource = request.resource.resource.str();
  question.subresource = request.subresource.str();
  question.namespace_ = request.namespace_.str();
  question.name = request.name.str();
  return question;
}

}  // namespace

void Access::addToken(std::string token, User user) {
  const detail::Lock lock(tokensMutex_);
  tokens_.insert_or_assign(std::move(token), std::move(user));
}

std::optional<User> Access::tokenUser(std::string_view token) const {
  const detail::Lock lock(tokensMutex_);
  const auto it = tokens_.find(std::string(token));
  if (it == tokens_.end()) return std::nullopt;
  return it->second;
}

User Access::authenticate(const ApiRequest& request) const {
  User user = nobody_;
  const HttpHeaders& headers = request.http.headers;
  if (request.http.peer && !request.http.peer->commonName.empty()) {
    user.name = request.http.peer->commonName;
    user.groups = request.http.peer->organizations;
    user.groups.emplace_back("system:authenticated");
  } else if (const std::string_view header = headers.get("Authorization"); !header.empty()) {
    std::optional<User> known;
    if (header.size() > 7 && equalIgnoringCase(header.substr(0, 7), "Bearer ")) {
      known = tokenUser(header.substr(7));
    }
    if (!known) throw ApiError(status::unauthorized("Unauthorized"));
    user = *known;
    if (!contains(user.groups, "system:authenticated")) {
      user.groups.emplace_back("system:authenticated");
    }
  }
  return impersonated(user, headers);
}

// Checks each part of the requested identity by itself: a group may have more rights than any user
// that the caller may impersonate.
User Access::impersonated(const User& user, const HttpHeaders& headers) const {
  const auto ask = [&](AccessQuestion question) {
    question.verb = "impersonate";
    if (allows(user, question)) return;
    std::string what = question.resource;
    if (!question.subresource.empty()) what += "/" + question.subresource;
    const std::string where = question.namespace_.empty()
                                  ? "at the cluster scope"
                                  : fmt::format("in the namespace \"{}\"", question.namespace_);
    throw ApiError(status::forbidden(
        {question.group, question.resource}, question.name,
        fmt::format("User \"{}\" cannot impersonate resource \"{}\" in API group \"{}\" {}",
                    user.name, what, question.group, where)));
  };
  constexpr std::string_view kAuthentication = "authentication.k8s.io";
  User other{.name = std::string(headers.get("Impersonate-User")), .groups = {}};
  bool more = false;
  const AccountName account = serviceAccountOf(other.name);
  if (!account.name.empty()) {
    ask({.resource = "serviceaccounts", .namespace_ = account.namespace_, .name = account.name});
  } else if (!other.name.empty()) {
    ask({.resource = "users", .name = other.name});
  }
  for (const HttpHeader& header : headers) {
    if (equalIgnoringCase(header.name, "Impersonate-Group")) {
      more = true;
      ask({.resource = "groups", .name = header.value});
      other.groups.push_back(header.value);
    } else if (equalIgnoringCase(header.name, "Impersonate-Uid")) {
      more = true;
      ask({.group = std::string(kAuthentication), .resource = "uids", .name = header.value});
      other.uid = header.value;
    } else if (startsWithIgnoringCase(header.name, kExtra)) {
      more = true;
      const std::string key =
          percentDecoded(detail::lower(std::string_view(header.name).substr(kExtra.size())));
      ask({.group = std::string(kAuthentication),
           .resource = "userextras",
           .subresource = key,
           .name = header.value});
      other.extra[key].push_back(header.value);
    }
  }
  if (other.name.empty()) {
    if (!more) return user;
    throw ApiError(
        status::internalError("requested to impersonate groups, a uid or extra values "
                              "without impersonating a user"));
  }
  if (other.groups.empty() && !account.name.empty()) {
    other.groups = {"system:serviceaccounts", "system:serviceaccounts:" + account.namespace_};
  }
  const bool anonymous = other.name == "system:anonymous";
  if (!contains(other.groups, "system:unauthenticated") &&
      (anonymous || !contains(other.groups, "system:authenticated"))) {
    other.groups.emplace_back(anonymous ? "system:unauthenticated" : "system:authenticated");
  }
  return other;
}

bool Access::allows(const User& user, const AccessQuestion& question) const {
  if (contains(user.groups, "system:masters")) return true;
  return std::ranges::any_of(allow_, [&](const AllowRule& rule) {
    const bool who = (rule.users.empty() && rule.groups.empty()) || contains(rule.users, "*") ||
                     contains(rule.users, user.name) ||
                     std::ranges::any_of(user.groups, [&](const std::string& group) {
                       return contains(rule.groups, group);
                     });
    if (!who || !fits(rule.verbs, question.verb)) return false;
    if (question.resource.empty()) return fitsPath(rule.paths, question.path);
    const std::string resource = question.subresource.empty()
                                     ? question.resource
                                     : question.resource + "/" + question.subresource;
    return rule.paths.empty() && fits(rule.resources, resource) &&
           fits(rule.apiGroups, question.group) && fits(rule.namespaces, question.namespace_) &&
           fits(rule.names, question.name);
  });
}

void Access::authorize(const User& user, const ApiRequest& request) const {
  if (!request.isResource()) {
    constexpr std::string_view kOpen[] = {"/healthz", "/livez", "/readyz", "/version"};
    for (const std::string_view open : kOpen) {
      if (request.path.starts_with(open)) return;
    }
    // Every authenticated user may read discovery and OpenAPI.
    const bool known = contains(user.groups, "system:authenticated");
    const bool discovery = request.path == "/" || request.path.starts_with("/api") ||
                           request.path.starts_with("/openapi");
    if (known && discovery && request.verb == "get") return;
    if (allows(user, questionOf(request))) return;
    throw ApiError(status::forbidden(
        {}, "",
        fmt::format("User \"{}\" cannot {} path \"{}\"", user.name, request.verb, request.path)));
  }
  if (allows(user, questionOf(request))) return;
  // Every authenticated user may create reviews of their own identity and rights.
  const std::string_view resource = request.resource.resource;
  if (contains(user.groups, "system:authenticated") && resource.starts_with("selfsubject")) return;
  std::string what = request.resource.resource.str();
  if (!request.subresource.empty()) what += "/" + request.subresource.str();
  const std::string where = request.namespace_.empty()
                                ? "at the cluster scope"
                                : fmt::format("in the namespace \"{}\"", request.namespace_);
  throw ApiError(
      status::forbidden({request.resource.group, request.resource.resource}, request.name,
                        fmt::format("User \"{}\" cannot {} resource \"{}\" in API group \"{}\" {}",
                                    user.name, request.verb, what, request.resource.group, where)));
}

}  // namespace kube::testing
