// The generated files for a project's own types.
#include <fmt/core.h>

#include <set>

#include "codegen/generate.h"
#include "codegen/names.h"

namespace kube::codegen {

std::vector<GeneratedFile> generateCustom(const Schema& library,
                                          const std::vector<Package>& packages) {
  std::vector<GeneratedFile> files;
  std::set<std::string> headers, clients;
  std::string sources(kCustomBanner);
  std::string calls;
  for (const Package& package : packages) {
    for (GeneratedFile& file : generatePackage(library, package)) files.push_back(std::move(file));
    files.push_back(generateCustomClient(library, package));
    files.push_back(generateCustomInformers(package));
    headers.insert(pathOf(package) + ".h");
    clients.insert({pathOf(package) + "_client.h", pathOf(package) + "_informers.h"});
    sources += fmt::format("#include \"{}.cc\"\n", pathOf(package));
    calls += fmt::format("  {}::addToScheme(scheme);\n", fullNamespaceOf(package));
  }
  const auto including = [](std::string_view what, const std::set<std::string>& all) {
    std::string index(kCustomBanner);
    index += fmt::format("//\n// {}\n#pragma once\n\n", what);
    for (const std::string& header : all) index += fmt::format("#include \"{}\"\n", header);
    return index;
  };
  std::string index = including("All types.", headers);
  const std::string outer = packages.empty() ? "" : packages.front().outer;
  if (!outer.empty()) index += fmt::format("\nnamespace {} {{\n", outer);
  // Each project has a function of this name, so it is static.
  index += fmt::format(
      "\n/// Registers all kinds.\nstatic inline void addAllToScheme(kube::Scheme& scheme) "
      "{{\n{}}}\n",
      calls);
  if (!outer.empty()) index += fmt::format("\n}}  // namespace {}\n", outer);
  files.push_back({"crds.h", index});
  files.push_back({"crds_clients.h", including("All clients and informers.", clients)});
  files.push_back({"crds.cc", sources});
  return files;
}

}  // namespace kube::codegen
