// Options that a client sends with every request that takes them.
//
//   const auto mine = clients.with({.fieldManager = "network-controller"});
//   mine.coreV1().configMaps("book").update(map);                  // ?fieldManager=...
//   const auto trial = clients.with({.dryRun = true});             // nothing is stored
//
// They hold for all clients made of that client or of its rest(): typed, dynamic, metadata, scale,
// and subresources. Options of a call win where they are set. Creates, updates and patches take all
// three options, applies take the field manager and the dry run, deletes the dry run.
//
// Thread safety: a plain value.
#pragma once

#include <string>

namespace kube {

struct ClientDefaults {
  std::string fieldManager = {};
  bool dryRun = false;               // the server checks everything and stores nothing
  std::string fieldValidation = {};  // "Ignore", "Warn" or "Strict"
  /// The namespace of clients without one, for kinds that are known to be in namespaces. They can
  /// then no longer see all namespaces.
  std::string namespace_ = {};

  /// These, and those of `base` that are not set here.
  ClientDefaults over(const ClientDefaults& base) const {
    const auto either = [](const std::string& first, const std::string& second) {
      return first.empty() ? second : first;
    };
    return {.fieldManager = either(fieldManager, base.fieldManager),
            .dryRun = dryRun || base.dryRun,
            .fieldValidation = either(fieldValidation, base.fieldValidation),
            .namespace_ = either(namespace_, base.namespace_)};
  }
  bool operator==(const ClientDefaults&) const = default;
};

}  // namespace kube
