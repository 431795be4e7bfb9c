// Brings an object on the server to a wanted state, whether it exists or not.
//
//   corev1::ConfigMap map;
//   map.metadata.namespace_ = "book";
//   map.metadata.name = "settings";
//   auto result = createOrUpdate(clients.coreV1().configMaps("book"), map, [&] {
//     map.data["color"] = "blue";                     // whatever the value was before
//     setControllerReference(owner, map);
//   });
//
// The object is read into the variable, and the function changes it to the wanted state. It is sent
// only if it differs then. createOrUpdate() sends the whole object, and fails with a conflict
// (isConflict) if another client has changed it meanwhile: see retryOnConflict. createOrPatch()
// sends only the changed fields; a changed status is sent to the status subresource.
//
//   createOrPatch(maps, map, mutate, {.fieldManager = "mine", .optimisticLock = true});
//
// Errors: a function that changes name or namespace causes an Error. Exceptions of the function are
// passed on. After an error the variable holds the object as it was read or changed; after success,
// as the server has it.
//
// With an awaitable client they are tasks, and the function may return a task as well. The variable
// outlives the task:
//
//   co_await createOrUpdate(clients.coreV1().configMaps("book").async(), map, mutate);
//
// Thread safety: that of the client and the function.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/internal/task_call.h"
#include "kube/base/task.h"
#include "kube/client/async_resource_client.h"
#include "kube/client/resource_client.h"
#include "kube/codec/patch/patch.h"
#include "kube/controller/write_options.h"
#include "kube/meta/api_error.h"
#include "kube/meta/equality.h"
#include "kube/meta/unstructured.h"

namespace kube {

enum class OperationResult : std::uint8_t {
  Unchanged,
  Created,
  Updated,
  UpdatedStatus,      // both
  UpdatedStatusOnly,  // the status alone
};

constexpr std::string_view toString(OperationResult result) noexcept {
  switch (result) {
    case OperationResult::Created:
      return "created";
    case OperationResult::Updated:
      return "updated";
    case OperationResult::UpdatedStatus:
      return "updatedStatus";
    case OperationResult::UpdatedStatusOnly:
      return "updatedStatusOnly";
    case OperationResult::Unchanged:
      break;
  }
  return "unchanged";
}

namespace detail {

/// Calls the function on the object. Throws Error if the function changes its name or namespace.
template <class T, class Mutate>
Task<void> mutateObject(T& object, Mutate& mutate) {
  const String name = nameOf(object);
  const String space = namespaceOf(object);
  co_await callTask(mutate);
  if (nameOf(object) == name && namespaceOf(object) == space) co_return;
  throw Error("\"" + space + "/" + name + "\": the function must not change name or namespace");
}

/// Reads the object that has the name of `object`. Returns false if it does not exist.
template <Described T>
Task<bool> readObject(AsyncResourceClient<T> client, T& object) {
  const String space = namespaceOf(object);
  if (client.namespaceName().empty() && !space.empty()) client = client.inNamespace(space);
  std::optional<T> found = co_await client.find(nameOf(object));
  if (found) object = std::move(*found);
  co_return found.has_value();
}

template <class T>
concept HasStatusField = requires(T object) {
  object.status;
};

/// Replaces the status of `to` with that of `from`.
template <class T>
void copyStatus(const T& from, T& to) {
  if constexpr (HasStatusField<T>) {
    to.status = from.status;
  } else if constexpr (std::same_as<T, Unstructured>) {
    if (const auto status = from.nestedField("status")) {
      to.setNestedField(*status, "status");
    } else {
      to.removeNestedField("status");
    }
  }
}

template <Described T, class Mutate>
Task<OperationResult> createOrUpdateTask(AsyncResourceClient<T> client, T& object, Mutate mutate) {
  const bool exists = co_await readObject(client, object);
  const T before = object;
  co_await mutateObject(object, mutate);
  if (!exists) {
    object = co_await client.create(object);
    co_return OperationResult::Created;
  }
  if (kube::semanticEqual(object, before)) co_return OperationResult::Unchanged;
  object = co_await client.update(object);
  co_return OperationResult::Updated;
}

template <Described T, class Mutate>
Task<OperationResult> createOrPatchTask(AsyncResourceClient<T> client, T& object, Mutate mutate,
                                        bool optimisticLock) {
  const bool exists = co_await readObject(client, object);
  T before = object;
  co_await mutateObject(object, mutate);
  const T wanted = object;
  const AsyncResourceClient<T> home =
      client.namespaceName().empty() ? client.inNamespace(namespaceOf(object)) : client;
  const auto patch = [&](const T& from, const T& to, std::string_view subresource) {
    const MergePatchOptions options{.optimisticLock = optimisticLock};
    return home.patch(nameOf(to), mergeFrom(from, to, options), {}, subresource);
  };

  auto result = OperationResult::Unchanged;
  if (!exists) {
    object = co_await home.create(object);
    result = OperationResult::Created;
    before = object;
    // The object does not exist then.
    if (home.requests().rest().defaults().dryRun) co_return result;
  } else {
    T withoutStatus = wanted;
    copyStatus(before, withoutStatus);
    if (!kube::semanticEqual(withoutStatus, before)) {
      object = co_await patch(before, withoutStatus, "");
      result = OperationResult::Updated;
    }
  }
  // The object as the server has it, with the status before and after the change.
  T statusBefore = object;
  copyStatus(before, statusBefore);
  T statusWanted = statusBefore;
  copyStatus(wanted, statusWanted);
  if (kube::semanticEqual(statusWanted, statusBefore)) co_return result;
  object = co_await patch(statusBefore, statusWanted, "status");
  if (result == OperationResult::Unchanged) co_return OperationResult::UpdatedStatusOnly;
  co_return result == OperationResult::Updated ? OperationResult::UpdatedStatus : result;
}

}  // namespace detail

template <Described T, class Mutate>
Task<OperationResult> createOrUpdate(const AsyncResourceClient<T>& client, T& object, Mutate mutate,
                                     const WriteOptions& options = WriteOptions()) {
  return detail::createOrUpdateTask(client.with(options.defaults()), object, std::move(mutate));
}
template <Described T, class Mutate>
OperationResult createOrUpdate(const ResourceClient<T>& client, T& object, Mutate mutate,
                               const WriteOptions& options, const std::stop_token& stop = {}) {
  return detail::runBlocking(createOrUpdate(client.async(), object, std::move(mutate), options),
                             stop);
}
template <Described T, class Mutate>
OperationResult createOrUpdate(const ResourceClient<T>& client, T& object, Mutate mutate,
                               const std::stop_token& stop = {}) {
  return createOrUpdate(client, object, std::move(mutate), WriteOptions(), stop);
}

template <Described T, class Mutate>
Task<OperationResult> createOrPatch(const AsyncResourceClient<T>& client, T& object, Mutate mutate,
                                    const WriteOptions& options = WriteOptions()) {
  return detail::createOrPatchTask(client.with(options.defaults()), object, std::move(mutate),
                                   options.optimisticLock);
}
template <Described T, class Mutate>
OperationResult createOrPatch(const ResourceClient<T>& client, T& object, Mutate mutate,
                              const WriteOptions& options, const std::stop_token& stop = {}) {
  return detail::runBlocking(createOrPatch(client.async(), object, std::move(mutate), options),
                             stop);
}
template <Described T, class Mutate>
OperationResult createOrPatch(const ResourceClient<T>& client, T& object, Mutate mutate,
                              const std::stop_token& stop = {}) {
  return createOrPatch(client, object, std::move(mutate), WriteOptions(), stop);
}

}  // namespace kube
