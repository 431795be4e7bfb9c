// The controllers that an API server needs to be useful: the garbage collector, the end of
// namespaces, and the end of pods after their grace period.
//
// Objects whose owners are all gone are deleted. An owner that waits for its dependents
// (foreground) is deleted after them; one that orphans its dependents is removed from their
// references. A namespace that is being deleted is emptied first.
//
// All of it runs on the thread of a Background.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "kube/apiserver/storage/background.h"
#include "kube/apiserver/storage/object_store.h"
#include "kube/base/clock.h"

namespace kube::apiserver {

class Collector {
 public:
  /// With `judges`, dependents are deleted with their owners.
  Collector(ObjectStore& store, Background& background, bool judges);

 private:
  struct Node {
    ResourcePtr resource;
    metav1::ObjectMeta meta;
    std::unordered_set<std::string> dependents;  // by uid
  };

  void changed(const Collection& collection, const Change& change);
  ResourcePtr resourceOf(const Collection& collection);
  void unlink(const Node& node);
  /// Deletes a dependent that has no owner left, or drops references to owners that are gone.
  void judge(const std::string& uid);
  void deleteDependents(const Node& owner);
  void orphanDependents(const Node& owner);
  void removeFinalizer(const Node& node, std::string_view finalizer);
  void empty(const String& name);
  void removeInTime(const Node& node);
  Target targetOf(const Node& node) const;
  /// Calls a function, and ignores that the object is gone or was replaced.
  template <class Function>
  void tryTo(const Function& function) const;

  ObjectStore& store_;
  Background& background_;
  const bool judges_;
  std::unordered_map<const Collection*, ResourcePtr> resources_;
  std::unordered_map<std::string, Node> nodes_;  // by uid
  std::set<String> terminating_;                 // namespaces that are being deleted
  std::map<std::string, Timer> ends_;            // the ends of pods, by uid
};

}  // namespace kube::apiserver
