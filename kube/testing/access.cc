#include "kube/testing/access.h"

#include <fmt/core.h>

#include <algorithm>

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
  std::lock_guard lock(mutex_);
  options_.tokens.insert_or_assign(std::move(token), std::move(user));
}

std::optional<User> Access::tokenUser(std::string_view token) const {
  std::lock_guard lock(mutex_);
  const auto it = options_.tokens.find(std::string(token));
  if (it == options_.tokens.end()) return std::nullopt;
  return it->second;
}

User Access::authenticate(const ApiRequest& request) const {
  User user = options_.nobody;
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
  const std::string_view as = headers.get("Impersonate-User");
  if (as.empty()) return user;
  if (!allows(user, {.verb = "impersonate", .resource = "users", .name = std::string(as)})) {
    throw ApiError(status::forbidden(
        {"", "users"}, as,
        fmt::format("User \"{}\" cannot impersonate resource \"users\" in API group \"\" at the "
                    "cluster scope",
                    user.name)));
  }
  User other{.name = std::string(as), .groups = {}};
  for (const HttpHeader& header : headers) {
    if (equalIgnoringCase(header.name, "Impersonate-Group")) other.groups.push_back(header.value);
    if (equalIgnoringCase(header.name, "Impersonate-Uid")) other.uid = header.value;
    constexpr std::string_view kExtra = "Impersonate-Extra-";
    if (header.name.size() > kExtra.size() &&
        equalIgnoringCase(header.name.substr(0, kExtra.size()), kExtra)) {
      std::string key = header.name.substr(kExtra.size());
      std::ranges::transform(key, key.begin(), [](unsigned char c) { return std::tolower(c); });
      other.extra[key].push_back(header.value);
    }
  }
  other.groups.emplace_back("system:authenticated");
  return other;
}

bool Access::allows(const User& user, const AccessQuestion& question) const {
  if (contains(user.groups, "system:masters")) return true;
  std::lock_guard lock(mutex_);
  return std::ranges::any_of(options_.allow, [&](const AllowRule& rule) {
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
           fits(rule.apiGroups, question.group) && fits(rule.namespaces, question.namespace_);
  });
}

void Access::authorize(const User& user, const ApiRequest& request) const {
  if (!request.isResource()) {
    constexpr std::string_view kOpen[] = {"/healthz", "/livez", "/readyz", "/version"};
    for (const std::string_view open : kOpen) {
      if (request.path.starts_with(open)) return;
    }
    // Everyone who is someone may look at what there is.
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
  // Everyone may ask about oneself.
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
