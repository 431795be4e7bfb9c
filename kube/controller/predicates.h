// Which changes of objects a controller wants to hear of.
//
//   controller.when(kube::generationChanged);                    // not of its own status
//   controller.owns<corev1::ConfigMap>(kube::anyOf(kube::resourceVersionChanged,
//                                                  kube::labelsMatch("app=web")));
//   controller.when([](const kube::Change<Network>& change) {
//     return change.after == nullptr || !change.after->spec->paused;
//   });
//
// A predicate is any function of a Change. Those here work for every kind, typed and Unstructured,
// and let additions and deletions pass: they are about updates. Among these are updates without a
// change, at resyncs, which each of them holds back.
//
// Thread safety: predicates are called by several threads at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include "kube/base/map.h"
#include "kube/cache/internal/object_access.h"
#include "kube/meta/selectors/label_selector.h"

namespace kube {

/// What has happened to an object. At least one of both is there.
template <Cacheable T>
struct Change {
  const T* before = nullptr;  // null: it was added
  const T* after = nullptr;   // null: it is gone

  bool isUpdate() const noexcept { return before != nullptr && after != nullptr; }
  /// As it is now, or was last.
  const T& object() const noexcept { return after != nullptr ? *after : *before; }
};

template <Cacheable T>
using Predicate = std::function<bool(const Change<T>& change)>;

namespace detail {

template <Cacheable T>
std::int64_t generationIn(const T& object) noexcept {
  if constexpr (NamedObject<T>) {
    return object.metadata.generation;
  } else {
    return object.generation();
  }
}
template <Cacheable T>
Map<String> labelsIn(const T& object) {
  if constexpr (NamedObject<T>) {
    return object.metadata.labels;
  } else {
    return object.labels();
  }
}
template <Cacheable T>
Map<String> annotationsIn(const T& object) {
  if constexpr (NamedObject<T>) {
    return object.metadata.annotations;
  } else {
    return object.annotations();
  }
}

struct GenerationChanged {
  template <Cacheable T>
  bool operator()(const Change<T>& change) const {
    return !change.isUpdate() || generationIn(*change.before) != generationIn(*change.after);
  }
};
struct ResourceVersionChanged {
  template <Cacheable T>
  bool operator()(const Change<T>& change) const {
    return !change.isUpdate() ||
           resourceVersionIn(*change.before) != resourceVersionIn(*change.after);
  }
};
struct LabelsChanged {
  template <Cacheable T>
  bool operator()(const Change<T>& change) const {
    return !change.isUpdate() || labelsIn(*change.before) != labelsIn(*change.after);
  }
};
struct AnnotationsChanged {
  template <Cacheable T>
  bool operator()(const Change<T>& change) const {
    return !change.isUpdate() || annotationsIn(*change.before) != annotationsIn(*change.after);
  }
};

}  // namespace detail

/// Of what is wanted, or the deletion that has begun: the server counts both. Kinds without a
/// status, such as ConfigMaps, have no generation.
inline constexpr detail::GenerationChanged generationChanged;
/// Anything at all.
inline constexpr detail::ResourceVersionChanged resourceVersionChanged;
inline constexpr detail::LabelsChanged labelsChanged;
inline constexpr detail::AnnotationsChanged annotationsChanged;

/// Objects with these labels, be it now or before. Throws DecodeError for what is no selector.
inline auto labelsMatch(std::string_view selector) {
  return [parsed = labels::Selector::parse(selector)](const auto& change) {
    return (change.before != nullptr && detail::selects(parsed, *change.before)) ||
           (change.after != nullptr && detail::selects(parsed, *change.after));
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
/// Of one: its opposite, for additions and deletions as well.
template <class... Predicates>
auto noneOf(Predicates... predicates) {
  return [=](const auto& change) { return !(predicates(change) || ...); };
}

}  // namespace kube
