// The lists of all built-in kinds and packages, by which code finds types by name.
#include <fmt/core.h>

#include "codegen/generate.h"
#include "codegen/names.h"
#include "kube/base/error.h"

namespace kube::codegen {

std::vector<GeneratedFile> generateRegistry(const Schema& schema) {
  std::string header(kBanner);
  header +=
      "//\n// Every built-in kind, for code that finds types by name. Using this links all of "
      "them.\n"
      "#pragma once\n\n#include <span>\n#include <string_view>\n\n"
      "#include \"kube/meta/type_info.h\"\n\nnamespace kube {\n\n"
      "std::span<const TypeInfo* const> builtInKinds() noexcept;\n\n"
      "/// The type of a kind, as in {\"apps/v1\", \"Deployment\"}; null if it is not built in.\n"
      "const TypeInfo* builtInKind(std::string_view apiVersion, std::string_view kind) "
      "noexcept;\n\n"
      "}  // namespace kube\n";
  std::string source(kBanner);
  source += "#include \"kube/api/registry.h\"\n\n";
  std::string entries;
  for (const auto& [name, package] : schema) {
    source += fmt::format("#include \"{}.h\"\n", pathOf(name));
    for (const Kind& kind : package.kinds) {
      if (kind.bare || !kind.type.empty() || package.find(kind.kind) == nullptr) continue;
      entries +=
          fmt::format("    &TypeOf<{}::{}>::info,\n", namespaceOf(name), typeName(kind.kind));
    }
  }
  source += fmt::format(
      "\nnamespace kube {{\n\nnamespace {{\nconstexpr const TypeInfo* kKinds[] = "
      "{{\n{}}};\n}}  // namespace\n",
      entries);
  source += R"(
std::span<const TypeInfo* const> builtInKinds() noexcept { return kKinds; }

const TypeInfo* builtInKind(std::string_view apiVersion, std::string_view kind) noexcept {
  const auto slash = apiVersion.find('/');
  const bool core = slash == std::string_view::npos;
  const std::string_view group = core ? std::string_view() : apiVersion.substr(0, slash);
  const std::string_view version = core ? apiVersion : apiVersion.substr(slash + 1);
  for (const TypeInfo* type : kKinds) {
    const ResourceInfo& resource = *type->resource;
    if (resource.kind == kind && resource.group == group && resource.version == version) return type;
  }
  return nullptr;
}

}  // namespace kube
)";
  return {{"kube/api/registry.h", header}, {"kube/api/registry.cc", source}};
}

std::vector<GeneratedFile> generatePackages(const Schema& schema) {
  std::string header(kBanner);
  header += R"(//
// Every built-in type, kinds and their parts, by upstream's package, for code that names types as
// upstream does. Using this links all of them.
#pragma once

#include <span>
#include <string_view>

#include "kube/meta/type_info.h"

namespace kube {

/// The types of a package, such as "core/v1". The core group is "core", and meta.k8s.io "meta".
struct ApiPackage {
  std::string_view name;
  std::span<const TypeInfo* const> types;
};

std::span<const ApiPackage> builtInPackages() noexcept;

/// The release of Kubernetes from which the built-in types come, such as "1.36.4".
std::string_view builtInRelease() noexcept;

}  // namespace kube
)";
  std::string source(kBanner);
  source += "#include \"kube/api/packages.h\"\n\n";
  std::string lists, entries, release;
  for (const auto& [name, package] : schema) {
    source += fmt::format("#include \"{}.h\"\n", pathOf(name));
    const std::string space = namespaceOf(name);
    lists += fmt::format("constexpr const TypeInfo* k_{}[] = {{\n", space);
    for (const Type& type : package.types) {
      lists += fmt::format("    &TypeOf<{}::{}>::info,\n", space, typeName(type.name));
    }
    lists += "};\n";
    entries += fmt::format("    {{{}, k_{}}},\n", literal(name), space);
    // Packages that are gone keep an earlier release; core never goes.
    if (release.empty() || name == "core/v1") release = package.release;
  }
  source += fmt::format(
      "\nnamespace kube {{\n\nnamespace {{\n{}constexpr ApiPackage kPackages[] = {{\n{}}};\n"
      "}}  // namespace\n\n"
      "std::span<const ApiPackage> builtInPackages() noexcept {{ return kPackages; }}\n\n"
      "std::string_view builtInRelease() noexcept {{ return {}; }}\n\n}}  // namespace kube\n",
      lists, entries, literal(release));
  return {{"kube/api/packages.h", header}, {"kube/api/packages.cc", source}};
}

}  // namespace kube::codegen
