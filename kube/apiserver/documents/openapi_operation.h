// One operation of an OpenAPI document and its parameters. For the source files that make such
// documents.
//
// Parameters that all operations of a sort have are stored once per document and referred to.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "kube/apiserver/documents/openapi_definitions.h"
#include "kube/meta/gvk.h"
#include "kube/meta/value.h"

namespace kube::apiserver {

// --- Names.

std::string capitalized(std::string_view text);
/// "rbacAuthorization" of rbac.authorization.k8s.io, "core" of the core group.
std::string groupTag(std::string_view group);
/// "apps_v1"
std::string versionTag(const GroupVersion& version);
/// "AppsV1": part of the ids of a version's operations.
std::string versionId(const GroupVersion& version);

// --- Parameters.

struct QueryParameter {
  std::string_view name;
  std::string_view type;
};

inline constexpr QueryParameter kListParameters[] = {{"allowWatchBookmarks", "boolean"},
                                                     {"continue", "string"},
                                                     {"fieldSelector", "string"},
                                                     {"labelSelector", "string"},
                                                     {"limit", "integer"},
                                                     {"resourceVersion", "string"},
                                                     {"resourceVersionMatch", "string"},
                                                     {"sendInitialEvents", "boolean"},
                                                     {"shardSelector", "string"},
                                                     {"timeoutSeconds", "integer"},
                                                     {"watch", "boolean"}};
inline constexpr QueryParameter kDeleteParameters[] = {
    {"gracePeriodSeconds", "integer"},
    {"ignoreStoreReadErrorWithClusterBreakingPotential", "boolean"},
    {"orphanDependents", "boolean"},
    {"propagationPolicy", "string"}};

/// Parameters in the form of a document.
class Parameters {
 public:
  explicit Parameters(OpenApiForm form) : form_(form) {}

  Value query(std::string_view name, std::string_view type) const;
  Value path(std::string_view name) const;
  /// A reference to a parameter that the document has once.
  Value common(std::string_view name) const;
  /// The parameters that references lead to, by name.
  Value allCommon() const;

 private:
  Value parameter(std::string_view in, std::string_view name, std::string_view type) const;

  const OpenApiForm form_;
};

// --- Operations.

using MediaTypes = std::span<const std::string_view>;
inline constexpr std::string_view kObjectTypes[] = {"application/json", "application/yaml",
                                                    "application/vnd.kubernetes.protobuf"};
inline constexpr std::string_view kAnyType[] = {"*/*"};

using StatusCodes = std::span<const int>;
inline constexpr int kOk[] = {200};

/// The facts of an operation; the rest follows from the form of the document.
struct Operation {
  std::string id;
  std::string tag;
  std::string_view action = {};  // empty: none
  GroupVersionKind kind = {};
  Value body = {};  // the schema of the request's body; null: none
  bool bodyRequired = true;
  MediaTypes consumes = kAnyType;
  Value response = {};  // the schema of the answer's body; null: none
  MediaTypes produces = kObjectTypes;
  StatusCodes codes = kOk;
  Value::Array parameters = {};
};

Value write(const Operation& operation, OpenApiForm form);

}  // namespace kube::apiserver
