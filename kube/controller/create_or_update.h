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
// Errors: a function that changes name or namespace causes an Error. Exceptions of the function are
// passed on. After an error the variable holds the object as it was read or changed; after success,
// as the server has it.
//
// Thread safety: that of the client and the function.
#pragma once

#include <concepts>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "kube/base/error.h"
#include "kube/client/resource_client.h"
#include "kube/codec/patch/patch.h"
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
void mutateObject(T& object, Mutate& mutate) {
  const String name = nameOf(object);
  const String space = namespaceOf(object);
  mutate();
  if (nameOf(object) == name && namespaceOf(object) == space) return;
  throw Error("\"" + space + "/" + name + "\": the function must not change name or namespace");
}

/// Reads the object that has the name of `object`. Returns false if it does not exist.
template <Described T>
bool readObject(const ResourceClient<T>& client, T& object, const std::stop_token& stop) {
  const String space = namespaceOf(object);
  const bool elsewhere = client.namespaceName().empty() && !space.empty();
  auto found = elsewhere ? client.inNamespace(space).find(nameOf(object), {}, stop)
                         : client.find(nameOf(object), {}, stop);
  if (found) object = std::move(*found);
  return found.has_value();
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

}  // namespace detail

template <Described T, class Mutate>
OperationResult createOrUpdate(const ResourceClient<T>& client, T& object, Mutate mutate,
                               const std::stop_token& stop = {}) {
  if (!detail::readObject(client, object, stop)) {
    detail::mutateObject(object, mutate);
    object = client.create(object, {}, stop);
    return OperationResult::Created;
  }
  const T before = object;
  detail::mutateObject(object, mutate);
  if (semanticEqual(object, before)) return OperationResult::Unchanged;
  object = client.update(object, {}, stop);
  return OperationResult::Updated;
}

template <Described T, class Mutate>
OperationResult createOrPatch(const ResourceClient<T>& client, T& object, Mutate mutate,
                              const std::stop_token& stop = {}) {
  const bool exists = detail::readObject(client, object, stop);
  T before = object;
  detail::mutateObject(object, mutate);
  const T wanted = object;
  const ResourceClient<T> home =
      client.namespaceName().empty() ? client.inNamespace(detail::namespaceOf(object)) : client;
  const auto patch = [&](const T& from, const T& to, std::string_view subresource) {
    object = home.patch(detail::nameOf(to), mergePatchType<T>(), createTwoWayMergePatch(from, to),
                        {}, stop, subresource);
  };

  auto result = OperationResult::Unchanged;
  if (!exists) {
    object = home.create(object, {}, stop);
    result = OperationResult::Created;
    before = object;
  } else {
    T withoutStatus = wanted;
    detail::copyStatus(before, withoutStatus);
    if (!semanticEqual(withoutStatus, before)) {
      patch(before, withoutStatus, {});
      result = OperationResult::Updated;
    }
  }
  // The object as the server has it, with the status before and after the change.
  T statusBefore = object;
  detail::copyStatus(before, statusBefore);
  T statusWanted = statusBefore;
  detail::copyStatus(wanted, statusWanted);
  if (semanticEqual(statusWanted, statusBefore)) return result;
  patch(statusBefore, statusWanted, "status");
  if (result == OperationResult::Unchanged) return OperationResult::UpdatedStatusOnly;
  return result == OperationResult::Updated ? OperationResult::UpdatedStatus : result;
}

}  // namespace kube
