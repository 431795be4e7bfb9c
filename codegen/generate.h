// Writes C++ from a schema: structs with public fields, the tables that describe them, and clients
// and informers of their resources.
#pragma once

#include <string>
#include <vector>

#include "codegen/schema.h"

namespace kube::codegen {

struct GeneratedFile {
  std::string path;  // relative to the project
  std::string content;
};

/// A package's header and source. Throws kube::Error for an inconsistent schema.
std::vector<GeneratedFile> generatePackage(const Schema& schema, const Package& package);

/// The list of all kinds, for code that finds types by name.
std::vector<GeneratedFile> generateRegistry(const Schema& schema);

/// The list of all types by package, and their release of Kubernetes. Throws kube::Error if
/// packages are of different releases.
std::vector<GeneratedFile> generatePackages(const Schema& schema);

/// Clientset, and for each package with resources a client that has an accessor for each resource.
std::vector<GeneratedFile> generateClients(const Schema& schema);

/// For each package, accessors for the informers of resources that can be listed and watched.
std::vector<GeneratedFile> generateInformers(const Schema& schema);

// ---- For a project's own types; `library` has the built-in types that they use.

GeneratedFile generateCustomClient(const Schema& library, const Package& package);
GeneratedFile generateCustomInformers(const Package& package);

/// All files of a project: for each package its header, source, client and informers; for all
/// packages crds.h, which has the types and registers all kinds, crds_clients.h with clients and
/// informers, and crds.cc, which includes the sources.
std::vector<GeneratedFile> generateCustom(const Schema& library,
                                          const std::vector<Package>& packages);

}  // namespace kube::codegen
