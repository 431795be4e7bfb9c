// kubexx create KIND NAME: simple objects without a manifest.
//
//   create namespace book
//   create configmap settings --from-literal=colour=blue --from-file=[key=]path
//   create secret generic password --from-literal=user=jane
//   create serviceaccount builder
#pragma once

#include <string>
#include <vector>

namespace kube::cmd {

struct CreatedKind {
  std::vector<std::string> words = {};     // the kind and the name
  std::vector<std::string> literals = {};  // KEY=VALUE
  std::vector<std::string> files = {};     // [KEY=]PATH
};

/// The object, as a manifest. Throws UsageError.
std::string manifestOf(const CreatedKind& created);

}  // namespace kube::cmd
