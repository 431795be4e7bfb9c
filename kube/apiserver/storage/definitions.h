// Custom resources come and go with their definitions: names are accepted or refused, resources
// served, and when a definition is deleted, its objects are deleted first.
//
// All of it runs on the thread of a Background.
#pragma once

#include <map>
#include <string>

#include "kube/api/apiextensions/v1.h"
#include "kube/apiserver/storage/background.h"
#include "kube/apiserver/storage/object_store.h"

namespace kube::apiserver {

class Definitions {
 public:
  Definitions(ObjectStore& store, ResourceTable& resources, Background& background);

 private:
  using Definition = apiextensionsv1::CustomResourceDefinition;

  void changed(const Collection& collection, const Change& change);
  void accept(const Definition& definition);
  /// Those that had to wait for names which are free now.
  void acceptOthers(const Definition& gone);
  void serve(const Definition& definition);
  void withdraw(const Definition& definition);
  /// Deletes its objects and, once none is left, lets it go.
  void cleanUp(const Definition& definition);
  Target targetOf(const Definition& definition, std::string_view subresource) const;

  ObjectStore& store_;
  ResourceTable& resources_;
  const ResourcePtr definitions_;
  std::map<const Collection*, Definition> leaving_;  // by the objects that have to go first
};

}  // namespace kube::apiserver
