// Options of the functions that read an object, change it and write it back: createOrUpdate,
// createOrPatch, ensureFinalizer and removeFinalizer.
//
// Thread safety: a plain value.
#pragma once

#include "kube/base/string.h"
#include "kube/rest/client_defaults.h"

namespace kube {

struct WriteOptions {
  // As in ClientDefaults; those of the client hold where these are empty.
  String fieldManager = {};
  bool dryRun = false;
  String fieldValidation = {};
  /// createOrPatch fails with a conflict (isConflict) if another client has changed the object
  /// since it was read, as createOrUpdate does. Finalizers are always changed with this lock.
  bool optimisticLock = false;

  ClientDefaults defaults() const {
    return {.fieldManager = fieldManager.str(),
            .dryRun = dryRun,
            .fieldValidation = fieldValidation.str()};
  }
};

}  // namespace kube
