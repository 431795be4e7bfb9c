#include "kube/apiserver/custom/custom_approval.h"

#include <fmt/core.h>

#include <string_view>

#include "kube/apiserver/custom/custom_resources.h"
#include "kube/apiserver/schema/schema_formats.h"
#include "kube/base/internal/utf8.h"

namespace kube::apiserver {

namespace {

constexpr std::string_view kSee = "see https://github.com/kubernetes/enhancements/pull/1111";

bool isAbsoluteUrl(std::string_view text) {
  const std::size_t scheme = text.find("://");
  if (scheme == std::string_view::npos || scheme == 0) return false;
  const std::string_view host = text.substr(scheme + 3);
  return !host.empty() && host.front() != '/' && findStringFormat("uri")->matches(text);
}

}  // namespace

std::optional<ApiApproval> apiApproval(const apiextensionsv1::CustomResourceDefinition& crd) {
  using State = ApiApproval::State;
  const std::string_view group = crd.spec->group;
  const bool isProtected = group == "k8s.io" || group.ends_with(".k8s.io") ||
                           group == "kubernetes.io" || group.ends_with(".kubernetes.io");
  if (!isProtected) return std::nullopt;
  const std::string_view text = crd.metadata.annotations[kApiApprovedAnnotation];
  if (text.empty()) {
    return ApiApproval{State::Missing,
                       fmt::format("protected groups must have approval annotation \"{}\", {}",
                                   kApiApprovedAnnotation, kSee)};
  }
  if (text.starts_with("unapproved")) {
    return ApiApproval{State::Bypassed,
                       fmt::format("not approved: {}", kube::detail::quoted(text))};
  }
  if (isAbsoluteUrl(text)) return ApiApproval{State::Approved, fmt::format("approved in {}", text)};
  return ApiApproval{
      State::Invalid,
      fmt::format("protected groups must have approval annotation \"{}\" with either "
                  "a URL or a reason starting with \"unapproved\", {}",
                  kApiApprovedAnnotation, kSee)};
}

}  // namespace kube::apiserver
