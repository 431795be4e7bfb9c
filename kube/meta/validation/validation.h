// Rules for names, labels and other short texts: those of apimachinery, with its messages.
//
//   for (const std::string& why : isDNS1123Label(name)) ...   // must be no more than 63 characters
//   if (!isValidLabelValue(value).empty()) ...
//
// Each check returns the reasons why a text is invalid; none if it is valid. Checks that may report
// a part of the text, or a missing text, take the path of the field and return FieldErrors.
// kube/meta/validation/object_validation.h validates whole objects.
//
// Everything is in namespace kube::validation. Checks allocate nothing unless a text is invalid.
// Thread safety: every function may be called from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kube/meta/validation/field_error.h"

namespace kube::validation {

/// The reasons why a text is invalid.
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
/// "example.com": the names of most objects.
Reasons isDNS1123Subdomain(std::string_view text);
Reasons isDNS1123SubdomainWithUnderscore(std::string_view text);
/// "*.example.com"
Reasons isWildcardDNS1123Subdomain(std::string_view text);
/// As isDNS1123Label, but with a letter first: the names of Services.
Reasons isDNS1035Label(std::string_view text);

/// Names that can be part of a path. Empty names pass, as in upstream.
Reasons isPathSegmentName(std::string_view text);
/// The same for a name that will get a suffix.
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
/// The rule since then: any printable ASCII character except '='.
Reasons isRelaxedEnvVarName(std::string_view text);
Reasons isConfigMapKey(std::string_view text);
Reasons isHTTPHeaderName(std::string_view text);

/// At least two labels ("k8s.io"); a dot at the end is allowed.
FieldErrors isFullyQualifiedDomainName(const ErrorPath& path, std::string_view text);
/// At least three labels, without a dot at the end.
FieldErrors isFullyQualifiedName(const ErrorPath& path, std::string_view text);
/// "acme.io/foo/bar"
FieldErrors isDomainPrefixedPath(const ErrorPath& path, std::string_view text);
/// "acme.io/foo"
FieldErrors isDomainPrefixedKey(const ErrorPath& path, std::string_view text);

/// An address in canonical form: no leading zeros, lower case, "::" in its canonical place, and no
/// IPv4 address in IPv6 form.
FieldErrors isValidIP(const ErrorPath& path, std::string_view text);
FieldErrors isValidIPv4(const ErrorPath& path, std::string_view text);
FieldErrors isValidIPv6(const ErrorPath& path, std::string_view text);
/// A network in canonical form, with no bits set after the prefix: "10.9.8.0/24".
FieldErrors isValidCIDR(const ErrorPath& path, std::string_view text);
/// An address with the prefix of its network: "10.9.8.7/24".
FieldErrors isValidInterfaceAddress(const ErrorPath& path, std::string_view text);
/// For API fields that are older than these rules and need not be canonical. Without `strict`, even
/// leading zeros, IPv4 in IPv6 form and bits after the prefix pass.
FieldErrors isValidIPForLegacyField(const ErrorPath& path, std::string_view text,
                                    bool strict = true);
FieldErrors isValidCIDRForLegacyField(const ErrorPath& path, std::string_view text,
                                      bool strict = true);

}  // namespace kube::validation
