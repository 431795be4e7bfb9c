// Follows the definitions of custom resources: accepts or refuses their names, serves their
// resources, and deletes the objects of a definition before the definition.
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
  /// Accepts definitions that waited for names which are free now.
  void acceptOthers(const Definition& gone);
  void serve(const Definition& definition);
  void withdraw(const Definition& definition);
  /// Deletes the objects of a definition and, once none is left, removes its finalizer.
  void cleanUp(const Definition& definition);
  Target targetOf(const Definition& definition, std::string_view subresource) const;

  ObjectStore& store_;
  ResourceTable& resources_;
  const ResourcePtr definitions_;
  std::map<const Collection*, Definition>
      leaving_;  // keyed by the objects that must be deleted first
};

}  // namespace kube::apiserver
