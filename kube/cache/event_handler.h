// Handlers of an informer: functions that are called when objects are added, updated and deleted.
//
//   informer.addHandler({.onAdd    = [](auto pod) { ... },
//                        .onUpdate = [](auto before, auto after) { ... },
//                        .onDelete = [](auto last) { ... }});
//
// Each function may be left out. Its arguments are shared pointers to const objects, which may be
// kept. onUpdate is also called if nothing has changed (`before` and `after` have the same
// resourceVersion): at resyncs, and after the informer had to list again.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "kube/cache/internal/object_access.h"
#include "kube/meta/object_key.h"

namespace kube {

/// A deleted object. Reads like a pointer to its last known state.
template <class T>
struct DeletedObject {
  ObjectKey key = {};
  std::shared_ptr<const T> object = {};  // never null in a handler
  /// True if the object was deleted while the informer had no connection: the state is the last one
  /// seen, and may be outdated.
  bool finalStateUnknown = false;

  const T& operator*() const noexcept { return *object; }
  const T* operator->() const noexcept { return object.get(); }
};

/// A function of an object and, if it takes a second argument, of whether the object existed when
/// the informer (or the handler) started.
template <class T>
class AddFunction {
 public:
  AddFunction() = default;
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, AddFunction> &&
           (std::invocable<F&, std::shared_ptr<const T>, bool> ||
            std::invocable<F&, std::shared_ptr<const T>>))
      AddFunction(F function) {  // NOLINT: implicit, as std::function is
    if constexpr (std::invocable<F&, std::shared_ptr<const T>, bool>) {
      function_ = std::move(function);
    } else {
      function_ = [function = std::move(function)](std::shared_ptr<const T> object, bool) mutable {
        function(std::move(object));
      };
    }
  }

  explicit operator bool() const noexcept { return static_cast<bool>(function_); }
  void operator()(std::shared_ptr<const T> object, bool inInitialList) const {
    function_(std::move(object), inInitialList);
  }

 private:
  std::function<void(std::shared_ptr<const T>, bool)> function_;
};

template <Cacheable T>
struct EventHandler {
  using Object = std::shared_ptr<const T>;

  AddFunction<T> onAdd = {};
  std::function<void(Object before, Object after)> onUpdate = {};
  std::function<void(DeletedObject<T> last)> onDelete = {};
};

/// A handler that sees only the objects for which `wanted` returns true. An object that starts to
/// be wanted is reported as added; one that ceases to be wanted as deleted.
template <Cacheable T>
EventHandler<T> filtered(std::function<bool(const T& object)> wanted, EventHandler<T> handler) {
  struct Shared {
    std::function<bool(const T&)> wanted;
    EventHandler<T> to;
    void add(std::shared_ptr<const T> object, bool initial) const {
      if (to.onAdd) to.onAdd(std::move(object), initial);
    }
    void remove(DeletedObject<T> last) const {
      if (to.onDelete) to.onDelete(std::move(last));
    }
  };
  const auto shared = std::make_shared<const Shared>(Shared{std::move(wanted), std::move(handler)});
  using Object = std::shared_ptr<const T>;
  return {
      .onAdd =
          [shared](Object object, bool initial) {
            if (shared->wanted(*object)) shared->add(std::move(object), initial);
          },
      .onUpdate =
          [shared](Object before, Object after) {
            const bool was = shared->wanted(*before);
            const bool is = shared->wanted(*after);
            if (was && is) {
              if (shared->to.onUpdate) shared->to.onUpdate(std::move(before), std::move(after));
            } else if (is) {
              shared->add(std::move(after), false);
            } else if (was) {
              shared->remove({keyOf(*before), before, false});
            }
          },
      .onDelete =
          [shared](DeletedObject<T> last) {
            if (shared->wanted(*last)) shared->remove(std::move(last));
          },
  };
}

}  // namespace kube
