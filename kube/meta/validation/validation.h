// What names, labels and other short texts may look like: apimachinery's rules, with its messages.
//
//   for (const std::string& why : isDNS1123Label(name)) ...   // "must be no more than 63
//   characters" if (!isValidLabelValue(value).empty()) ...
//
// Each check gives the reasons why a text is not valid; none means that it is. Those that may have
// something to say of a part of the text, or that it is missing, take the place of the field and
// give FieldErrors. See kube/meta/validation/object_validation.h for whole objects.
//
// All is in namespace kube::validation. Checking allocates nothing unless there is something wrong.
// Any thread may call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kube/meta/validation/field_error.h"

namespace kube::validation {

/// Why something is not valid.
using Reasons = std::vector<std::string>;

inline constexpr std::size_t kLabelValueMaxLength = 63;
inline constexpr std::size_t kDNS1123LabelMaxLength = 63;
inline constexpr std::size_t kDNS1123SubdomainMaxLength = 253;
inline constexpr std::size_t kDNS1035LabelMaxLength = 63;

/// The key of a label or annotation, a finalizer, a resource name: "app", "example.com/app".
Reasons isQualifiedName(std::string_view text);
Reasons isValidLabelValue(std::string_view text);

/// "my-name"
Reasons isDNS1123Label(std::string_view text);
/// "example.com": what most objects are called.
Reasons isDNS1123Subdomain(std::string_view text);
Reasons isDNS1123SubdomainWithUnderscore(std::string_view text);
/// "*.example.com"
Reasons isWildcardDNS1123Subdomain(std::string_view text);
/// As isDNS1123Label, but starting with a letter: what a Service is called.
Reasons isDNS1035Label(std::string_view text);

/// Names that can be part of a path. Empty ones pass, as upstream has it.
Reasons isPathSegmentName(std::string_view text);
/// The same for a name that something will be appended to.
Reasons isPathSegmentPrefix(std::string_view text);

Reasons isValidPortNum(std::int64_t port);
/// The name of a container's port: "http"
Reasons isValidPortName(std::string_view text);
Reasons isInRange(std::int64_t value, std::int64_t min, std::int64_t max);
Reasons isValidUserID(std::int64_t id);
Reasons isValidGroupID(std::int64_t id);
/// "25%"
Reasons isValidPercent(std::string_view text);

Reasons isCIdentifier(std::string_view text);
/// The rule up to Kubernetes 1.33.
Reasons isEnvVarName(std::string_view text);
/// The rule since: anything printable in ASCII but '='.
Reasons isRelaxedEnvVarName(std::string_view text);
Reasons isConfigMapKey(std::string_view text);
Reasons isHTTPHeaderName(std::string_view text);

/// At least two labels ("k8s.io"); a dot at the end is fine.
FieldErrors isFullyQualifiedDomainName(const ErrorPath& path, std::string_view text);
/// At least three labels, no dot at the end.
FieldErrors isFullyQualifiedName(const ErrorPath& path, std::string_view text);
/// "acme.io/foo/bar"
FieldErrors isDomainPrefixedPath(const ErrorPath& path, std::string_view text);
/// "acme.io/foo"
FieldErrors isDomainPrefixedKey(const ErrorPath& path, std::string_view text);

/// An address in canonical form: no leading zeros, lower case, "::" where it belongs, and an IPv4
/// address not dressed as IPv6.
FieldErrors isValidIP(const ErrorPath& path, std::string_view text);
FieldErrors isValidIPv4(const ErrorPath& path, std::string_view text);
FieldErrors isValidIPv6(const ErrorPath& path, std::string_view text);
/// A network in canonical form, with no bits set past the prefix: "10.9.8.0/24".
FieldErrors isValidCIDR(const ErrorPath& path, std::string_view text);
/// An address and the network it is in: "10.9.8.7/24".
FieldErrors isValidInterfaceAddress(const ErrorPath& path, std::string_view text);
/// For API fields that are older than these rules and need not be canonical. Without `strict`, even
/// leading zeros, IPv4 dressed as IPv6 and bits past the prefix pass.
FieldErrors isValidIPForLegacyField(const ErrorPath& path, std::string_view text,
                                    bool strict = true);
FieldErrors isValidCIDRForLegacyField(const ErrorPath& path, std::string_view text,
                                      bool strict = true);

}  // namespace kube::validation
