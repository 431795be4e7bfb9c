// Predicates select the changes of objects that a controller handles.
//
//   controller.when(kube::generationChanged);                    // not for changes of the status
//   controller.owns<corev1::ConfigMap>(kube::anyOf(kube::resourceVersionChanged,
//                                                  kube::labelsMatch("app=web")));
//   controller.when([](const kube::Change<Network>& change) {
//     return change.after == nullptr || !change.after->spec->paused;
//   });
//
// A predicate is any function of a Change. The predicates here work for every kind, typed and
// Unstructured, and for the filter of all sources (object_view.h). They let additions and deletions
// pass and judge updates. Resyncs are updates without a change: the predicates refuse them.
//
// Thread safety: predicates are called by several threads at a time.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include "kube/base/map.h"
#include "kube/cache/internal/object_access.h"
#include "kube/meta/selectors/label_selector.h"

namespace kube {

class ObjectView;

/// A type that predicates judge.
template <class T>
concept Judged = Cacheable<T> || std::same_as<T, ObjectView>;

/// A change of an object. At least one of the two states is set.
template <Judged T>
struct Change {
  const T* before = nullptr;  // null: the object was added
  const T* after = nullptr;   // null: the object was deleted

  bool isUpdate() const noexcept { return before != nullptr && after != nullptr; }
  /// The object as it is now, or was last.
  const T& object() const noexcept { return after != nullptr ? *after : *before; }
};

template <Judged T>
using Predicate = std::function<bool(const Change<T>& change)>;

namespace detail {

template <Judged T>
std::int64_t generationIn(const T& object) noexcept {
  if constexpr (NamedObject<T>) {
    return object.metadata.generation;
  } else {
    return object.generation();
  }
}
template <Judged T>
Map<String> labelsIn(const T& object) {
  if constexpr (NamedObject<T>) {
    return object.metadata.labels;
  } else {
    return object.labels();
  }
}
template <Judged T>
Map<String> annotationsIn(const T& object) {
  if constexpr (NamedObject<T>) {
    return object.metadata.annotations;
  } else {
    return object.annotations();
  }
}

template <Judged T>
const String& versionIn(const T& object) noexcept {
  if constexpr (Cacheable<T>) {
    return resourceVersionOf(object);
  } else {
    return object.resourceVersion();
  }
}
template <Judged T>
bool selectsIn(const labels::Selector& selector, const T& object) {
  if constexpr (Cacheable<T>) {
    return selects(selector, object);
  } else {
    return object.selectedBy(selector);
  }
}

struct GenerationChanged {
  template <Judged T>
  bool operator()(const Change<T>& change) const {
    return !change.isUpdate() || generationIn(*change.before) != generationIn(*change.after);
  }
};
struct ResourceVersionChanged {
  template <Judged T>
  bool operator()(const Change<T>& change) const {
    return !change.isUpdate() || versionIn(*change.before) != versionIn(*change.after);
  }
};
struct LabelsChanged {
  template <Judged T>
  bool operator()(const Change<T>& change) const {
    return !change.isUpdate() || labelsIn(*change.before) != labelsIn(*change.after);
  }
};
struct AnnotationsChanged {
  template <Judged T>
  bool operator()(const Change<T>& change) const {
    return !change.isUpdate() || annotationsIn(*change.before) != annotationsIn(*change.after);
  }
};

}  // namespace detail

/// The generation changed: the server counts changes of the spec and the beginning of the deletion.
/// Kinds without a status, such as ConfigMaps, have no generation.
inline constexpr detail::GenerationChanged generationChanged;
/// Anything changed.
inline constexpr detail::ResourceVersionChanged resourceVersionChanged;
inline constexpr detail::LabelsChanged labelsChanged;
inline constexpr detail::AnnotationsChanged annotationsChanged;

/// Selects objects with these labels, now or before the change. Throws DecodeError for an invalid
/// selector.
inline auto labelsMatch(std::string_view selector) {
  return [parsed = labels::Selector::parse(selector)](const auto& change) {
    return (change.before != nullptr && detail::selectsIn(parsed, *change.before)) ||
           (change.after != nullptr && detail::selectsIn(parsed, *change.after));
  };
}

template <class... Predicates>
auto anyOf(Predicates... predicates) {
  return [=](const auto& change) { return (predicates(change) || ...); };
}
template <class... Predicates>
auto allOf(Predicates... predicates) {
  return [=](const auto& change) { return (predicates(change) && ...); };
}
/// True if no predicate is true: for one predicate, its opposite, also for additions and deletions.
template <class... Predicates>
auto noneOf(Predicates... predicates) {
  return [=](const auto& change) { return !(predicates(change) || ...); };
}

}  // namespace kube
