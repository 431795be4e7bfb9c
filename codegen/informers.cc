// The accessors of a SharedInformerFactory, by group-version. They are members of templates, so
// that a program compiles only the informers that it uses.
#include <fmt/core.h>

#include <algorithm>

#include "codegen/generate.h"
#include "codegen/names.h"

namespace kube::codegen {

namespace {

bool canBeWatched(const Kind& kind) {
  const auto has = [&](std::string_view verb) {
    return std::ranges::find(kind.verbs, verb) != kind.verbs.end();
  };
  return !kind.resource.empty() && has("list") && has("watch");
}

std::string accessorsOf(const Package& package) {
  std::string accessors;
  for (const Kind& kind : package.kinds) {
    if (!canBeWatched(kind)) continue;
    accessors += fmt::format(
        "  auto {}() const {{ return factory_.template informerFor<{}>(); }}\n", accessorName(kind),
        package.custom ? typeOf(kind) : namespaceOf(package.name) + "::" + typeName(kind.kind));
  }
  return accessors;
}

std::string groupHeader(const Package& package) {
  const std::string name = groupVersionName(package);
  const std::string accessors = accessorsOf(package);
  return fmt::format(
      R"({0}//
// factory.{1}(): an informer for each resource of {2}.
#pragma once

#include "{3}.h"
#include "kube/cache/shared_informer_factory.h"

namespace kube {{

template <typename Factory>
class {4}Informers {{
 public:
  explicit {4}Informers(const Factory& factory) : factory_(factory) {{}}

{5}
 private:
  const Factory& factory_;
}};

inline {4}Informers<SharedInformerFactory> detail::InformerGroups::{1}() const {{
  return {4}Informers(static_cast<const SharedInformerFactory&>(*this));
}}

}}  // namespace kube
)",
      kBanner, lowerFirst(name),
      package.group.empty() ? package.version : package.group + "/" + package.version,
      pathOf(package.name), name, accessors);
}

}  // namespace

GeneratedFile generateCustomInformers(const Package& package) {
  const std::string name = groupVersionName(package);
  return {pathOf(package) + "_informers.h",
          fmt::format(R"({0}//
// factory.{1}(): an informer for each resource of {2}/{3}.
//
//   kube::SharedInformerFactoryWith<{4}::WithInformers> factory(clients);
//   {4}::{5}Informers(factory);           // or, for an existing SharedInformerFactory
#pragma once

#include "{6}.h"
#include "kube/cache/shared_informer_factory_with.h"

namespace {4} {{

template <typename Factory>
class {5}Informers {{
 public:
  explicit {5}Informers(const Factory& factory) : factory_(factory) {{}}

{7}
 private:
  const Factory& factory_;
}};

/// For kube::SharedInformerFactoryWith.
template <class Base>
class WithInformers : public Base {{
 public:
  using Base::Base;
  auto {1}() const {{ return {5}Informers<kube::SharedInformerFactory>(*this); }}
}};

}}  // namespace {4}
)",
                      kCustomBanner, lowerFirst(name), package.group, package.version,
                      fullNamespaceOf(package), name, pathOf(package), accessorsOf(package))};
}

std::vector<GeneratedFile> generateInformers(const Schema& schema) {
  std::vector<GeneratedFile> files;
  std::string classes;
  std::string accessors;
  for (const auto& [name, package] : schema) {
    if (std::ranges::none_of(package.kinds, canBeWatched)) continue;
    const std::string informers = groupVersionName(package);
    classes += fmt::format("template <typename Factory>\nclass {}Informers;\n", informers);
    accessors += fmt::format("  {}Informers<SharedInformerFactory> {}() const;\n", informers,
                             lowerFirst(informers));
    files.push_back(
        {fmt::format("kube/cache/{}/{}.h", folderOf(name), versionOf(name)), groupHeader(package)});
  }
  files.push_back({"kube/cache/informer_groups.h", fmt::format(R"({}//
// The accessors of a SharedInformerFactory, by group-version. Each is defined in its own header.
#pragma once

namespace kube {{

class SharedInformerFactory;

{}
namespace detail {{

class InformerGroups {{
 public:
{}
 protected:
  InformerGroups() = default;
  ~InformerGroups() = default;
}};

}}  // namespace detail

}}  // namespace kube
)",
                                                               kBanner, classes, accessors)});
  return files;
}

}  // namespace kube::codegen
