// Writes C++ from a schema: structs with public fields, the tables that describe them, and the
// clients of what a server has of them.
#pragma once

#include <string>
#include <vector>

#include "codegen/schema.h"

namespace kube::codegen {

struct GeneratedFile {
  std::string path;  // relative to the project
  std::string content;
};

/// A package's header and source. Throws kube::Error where the schema makes no sense.
std::vector<GeneratedFile> generatePackage(const Schema& schema, const Package& package);

/// The list of all kinds, for what has to find a type by its name.
std::vector<GeneratedFile> generateRegistry(const Schema& schema);

/// The list of all types by package, and the release they are of. Throws kube::Error where packages
/// are of different releases.
std::vector<GeneratedFile> generatePackages(const Schema& schema);

/// Clientset, and for each package with resources a client that has an accessor for each.
std::vector<GeneratedFile> generateClients(const Schema& schema);

/// The same for informers, of what can be listed and watched.
std::vector<GeneratedFile> generateInformers(const Schema& schema);

// ---- Of a project's own types; `library` has the built-in ones that they use.

GeneratedFile generateCustomClient(const Schema& library, const Package& package);
GeneratedFile generateCustomInformers(const Package& package);

/// All of that: for each package its header and source, client and informers. For all of them
/// crds.h, which has the types and registers all kinds, crds_clients.h with clients and informers,
/// and crds.cc, which includes the sources.
std::vector<GeneratedFile> generateCustom(const Schema& library,
                                          const std::vector<Package>& packages);

}  // namespace kube::codegen
