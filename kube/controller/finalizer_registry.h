// The finalizers of a controller: each is a name with the function that cleans up.
//
//   kube::FinalizerRegistry<Network> finalizers;
//   finalizers.add("example.com/routes", [&](const Network& network) { removeRoutes(network); });
//   finalizers.add("example.com/leases", [&](const Network& network) { endLeases(network); });
//   ...
//   // in the reconcile function:
//   if (!finalizers.finalize(networks, network)) return {};           // it is being deleted
//
// finalize() adds the finalizers that an object lacks. If the object is being deleted, it calls the
// functions of the finalizers that the object has, in the order of add(), and removes those whose
// function has returned, with one patch. It removes them even if another function throws; then it
// throws that exception, or an Error with the texts of all, and the next call goes on with the
// rest.
//
// Functions get the object as it was read, and may return a task. With an awaitable client,
// finalize() is a task; the registry and the object outlive it.
//
// Thread safety: add everything first; then finalize() may be called on several threads, as the
// functions allow.
#pragma once

#include <concepts>
#include <exception>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kube/base/error.h"
#include "kube/base/internal/task_call.h"
#include "kube/base/task.h"
#include "kube/controller/finalizers.h"
#include "kube/controller/write_options.h"
#include "kube/meta/unstructured.h"
#include "kube/meta/validation/object_validation.h"

namespace kube {

namespace detail {

/// Throws Error unless the name can be a finalizer.
inline void checkFinalizer(const std::string& name) {
  const FieldErrors problems = validation::validateFinalizers({name}, ErrorPath("finalizers"));
  if (!problems.empty()) throw Error("finalizer \"" + name + "\": " + problems[0].body());
}

template <class T>
bool isBeingDeleted(const T& object) {
  if constexpr (std::same_as<T, Unstructured>) {
    return !object.deletionTimestamp().isZero();
  } else {
    return !object.metadata.deletionTimestamp.isZero();
  }
}

/// Throws the only error, or an Error with the texts of all. Does nothing if there are none.
inline void throwJoined(const std::vector<std::exception_ptr>& errors) {
  if (errors.size() == 1) std::rethrow_exception(errors[0]);
  std::string text;
  for (const auto& error : errors) {
    if (!text.empty()) text += "; ";
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& thrown) {
      text += thrown.what();
    } catch (...) {
      text += "unknown exception";
    }
  }
  if (!errors.empty()) throw Error(text);
}

}  // namespace detail

template <Described T>
class FinalizerRegistry {
 public:
  /// Throws Error for a name that is not a finalizer, and for one that was added before.
  template <class CleanUp>
  void add(std::string name, CleanUp cleanUp) {
    detail::checkFinalizer(name);
    for (const auto& known : finalizers_) {
      if (known.name == name) throw Error("finalizer \"" + name + "\": was added before");
    }
    auto call = std::make_shared<CleanUp>(std::move(cleanUp));
    finalizers_.push_back({.name = std::move(name), .cleanUp = [call](const T& object) {
                             return detail::callTask<CleanUp, const T&>(*call, object);
                           }});
  }

  /// Returns false if the object is being deleted, or is gone: then there is nothing to reconcile.
  Task<bool> finalize(AsyncResourceClient<T> client, T& object,
                      const WriteOptions& options = WriteOptions()) const {
    return finalizeTask(client.with(options.defaults()), object);
  }
  bool finalize(const ResourceClient<T>& client, T& object, const WriteOptions& options,
                const std::stop_token& stop = {}) const {
    return detail::runBlocking(finalize(client.async(), object, options), stop);
  }
  bool finalize(const ResourceClient<T>& client, T& object,
                const std::stop_token& stop = {}) const {
    return finalize(client, object, WriteOptions(), stop);
  }

 private:
  struct Finalizer {
    std::string name;
    std::function<Task<void>(const T& object)> cleanUp;
  };

  Task<bool> finalizeTask(AsyncResourceClient<T> client, T& object) const {
    if (!detail::isBeingDeleted(object)) {
      const auto addAll = [this](T& changed) {
        // The object may have changed since it was read.
        if (detail::isBeingDeleted(changed)) return false;
        bool any = false;
        for (const auto& finalizer : finalizers_) any |= addFinalizer(changed, finalizer.name);
        return any;
      };
      co_await detail::changeFinalizers(client, object, addAll);
      if (!detail::isBeingDeleted(object)) co_return true;
    }
    List<String> done;
    std::vector<std::exception_ptr> errors;
    for (const auto& finalizer : finalizers_) {
      if (!containsFinalizer(object, finalizer.name)) continue;
      try {
        co_await finalizer.cleanUp(object);
        done.push_back(finalizer.name);
      } catch (...) {
        errors.push_back(std::current_exception());
      }
    }
    if (!done.empty()) co_await detail::removeFinalizersTask(client, object, done);
    detail::throwJoined(errors);
    co_return false;
  }

  std::vector<Finalizer> finalizers_;
};

}  // namespace kube
