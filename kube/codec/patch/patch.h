// The kinds of patches that an API server takes, and the patch for a change of a typed object.
//
//   auto pod = pods.get("web");
//   auto changed = pod;
//   changed.metadata.labels["tier"] = "front";
//   std::string body = createTwoWayMergePatch(pod, changed);
//   send(body, contentType(mergePatchType<corev1::Pod>()));
//
// Built-in types, which have a protobuf form, have merge keys and get strategic merge patches. For
// custom resources, the server takes only JSON patch, JSON merge patch and apply. They and
// Unstructured get JSON merge patches, which replace a list as a whole.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "kube/meta/any_object.h"
#include "kube/meta/type_info.h"

namespace kube {

enum class PatchType : std::uint8_t {
  Json,            // RFC 6902: kube/codec/patch/json_patch.h
  Merge,           // RFC 7386: kube/codec/patch/merge_patch.h
  StrategicMerge,  // kube/codec/patch/strategic_merge.h
  Apply,           // server-side apply; the body is YAML or JSON: kube/codec/apply/apply.h
};

/// json, merge, strategic or apply: the words of `kubectl patch --type`, and apply.
std::string_view toString(PatchType type) noexcept;
std::ostream& operator<<(std::ostream& out, PatchType type);
/// Parses such a word.
std::optional<PatchType> parsePatchType(std::string_view word) noexcept;

/// application/strategic-merge-patch+json and the like.
std::string_view contentType(PatchType type) noexcept;
/// Parses a Content-Type header, which may have parameters.
std::optional<PatchType> patchTypeOf(std::string_view contentType) noexcept;

/// The type of patch that createTwoWayMergePatch makes for this type.
PatchType mergePatchType(const TypeInfo& type) noexcept;
template <Described T>
PatchType mergePatchType() noexcept {
  return mergePatchType(TypeOf<T>::info);
}

struct MergePatchOptions {
  /// Adds the resourceVersion of `before` to a patch that changes anything: the server refuses it
  /// with a conflict if the object has changed since. Throws Error if there is none.
  bool optimisticLock = false;
  /// Merge or StrategicMerge; none: that of mergePatchType.
  std::optional<PatchType> type = {};
};

/// The patch in JSON that turns `before` into `after`; "{}" if they are equal. Both are of that
/// type.
std::string createTwoWayMergePatch(const TypeInfo& type, const void* before, const void* after,
                                   const MergePatchOptions& options = {});
/// Throws Error if the two are of different types.
std::string createTwoWayMergePatch(const AnyObject& before, const AnyObject& after);

template <Described T>
std::string createTwoWayMergePatch(const T& before, const T& after,
                                   const MergePatchOptions& options = {}) {
  return createTwoWayMergePatch(TypeOf<T>::info, &before, &after, options);
}

/// A patch with its type, for ResourceClient::patch().
struct MergePatch {
  PatchType type = PatchType::Merge;
  std::string body = "{}";

  /// True if it changes nothing.
  bool empty() const noexcept { return body == "{}"; }
};

/// The patch that turns `before` into `after`:
///
///   pods.patch("web", mergeFrom(before, after, {.optimisticLock = true}));
template <Described T>
MergePatch mergeFrom(const T& before, const T& after, const MergePatchOptions& options = {}) {
  return {.type = options.type.value_or(mergePatchType<T>()),
          .body = createTwoWayMergePatch(before, after, options)};
}

}  // namespace kube
