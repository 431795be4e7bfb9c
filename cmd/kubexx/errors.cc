#include "cmd/kubexx/errors.h"

#include <fmt/core.h>

#include <algorithm>
#include <ostream>
#include <vector>

#include "cmd/kubexx/invocation.h"
#include "kube/meta/api_error.h"
#include "kube/meta/mapping/rest_mapper.h"

namespace kube::cmd {

namespace {

std::string invalidText(const ApiError& error) {
  const metav1::Status& status = error.status();
  std::string text = "The request is invalid";
  if (!status.details->kind.empty() || !status.details->name.empty()) {
    text = fmt::format("The {} \"{}\" is invalid", status.details->kind, status.details->name);
  }
  std::vector<std::string> causes;
  for (const metav1::StatusCause& cause : status.details->causes) {
    std::string line = cause.field.empty() ? cause.message.str()
                                           : fmt::format("{}: {}", cause.field, cause.message);
    if (std::ranges::find(causes, line) == causes.end()) causes.push_back(std::move(line));
  }
  if (causes.empty()) return fmt::format("{}: {}", text, status.message);
  if (causes.size() == 1) return fmt::format("{}: {}", text, causes[0]);
  text += ": ";
  for (const std::string& cause : causes) text += "\n* " + cause;
  return text;
}

std::string apiErrorText(const ApiError& error) {
  if (isInvalid(error)) return invalidText(error);
  if (isUnauthorized(error)) {
    return fmt::format(
        "error: You must be logged in to the server ({})",
        error.message().empty() ? std::string_view("Unauthorized") : error.message());
  }
  const std::string_view message = error.message();
  if (error.reason().empty()) return fmt::format("Error from server: {}", message);
  return fmt::format("Error from server ({}): {}", error.reason(), message);
}

}  // namespace

std::string errorText(const std::exception& error, const std::string& server) {
  if (const auto* api = dynamic_cast<const ApiError*>(&error)) return apiErrorText(*api);
  const std::string_view what = error.what();
  if (const auto* none = dynamic_cast<const NoResourceMatchError*>(&error)) {
    const GroupVersionResource& asked = none->partialResource();
    std::string name = asked.resource.str();
    if (!asked.version.empty()) name += "." + asked.version.str();
    if (!asked.group.empty()) name += "." + asked.group.str();
    return fmt::format("error: the server doesn't have a resource type \"{}\"", name);
  }
  if (dynamic_cast<const TransportError*>(&error) != nullptr) {
    if (what.find("efused") != std::string_view::npos && !server.empty()) {
      return fmt::format(
          "The connection to the server {} was refused - did you specify the right host or port?",
          server);
    }
    return fmt::format("Unable to connect to the server: {}", what);
  }
  return fmt::format("error: {}", what);
}

void SeveralErrors::add(const std::exception& error) {
  std::string text = errorText(error, server_);
  if (text == last_) return;
  out_ << text << '\n';
  last_ = std::move(text);
}

}  // namespace kube::cmd
