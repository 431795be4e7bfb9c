#include "codegen/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "codegen/names.h"
#include "kube/base/error.h"

namespace kube::codegen {

namespace {

// Types the library implements by hand, with their C++ names.
const std::map<std::string, std::string> kBuiltIns = {
    {"bool", "bool"},         {"int32", "std::int32_t"},      {"int64", "std::int64_t"},
    {"double", "double"},     {"string", "String"},           {"bytes", "Bytes"},
    {"Time", "Time"},         {"MicroTime", "MicroTime"},     {"Duration", "Duration"},
    {"Quantity", "Quantity"}, {"IntOrString", "IntOrString"}, {"RawExtension", "RawExtension"},
    {"FieldsV1", "FieldsV1"}, {"JSON", "RawExtension"},       {"Strings", "Strings"},
};

// C++'s keywords, and what compilers define as macros where extensions are on.
const std::set<std::string> kKeywords = {
    "alignas",   "alignof",  "and",    "asm",      "auto",     "bool",     "break",     "case",
    "catch",     "char",     "class",  "const",    "continue", "default",  "delete",    "do",
    "double",    "else",     "enum",   "explicit", "export",   "extern",   "false",     "float",
    "for",       "friend",   "goto",   "if",       "inline",   "int",      "long",      "mutable",
    "namespace", "new",      "not",    "operator", "or",       "private",  "protected", "public",
    "register",  "requires", "return", "short",    "signed",   "sizeof",   "static",    "struct",
    "switch",    "template", "this",   "throw",    "true",     "try",      "typedef",   "typename",
    "union",     "unsigned", "using",  "virtual",  "void",     "volatile", "while",     "linux",
    "unix",      "xor"};

// A field's C++ name: its JSON name, with an underscore where that is a keyword.
std::string memberOf(const Field& field) {
  std::string name = field.name;
  const bool isIdentifier = std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (!isIdentifier) {
    name = field.protoName;
    if (name.empty()) throw Error("field " + field.name + " has no name usable in C++");
    name[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(name[0])));
  }
  return kKeywords.contains(name) ? name + "_" : name;
}

class PackageWriter {
 public:
  PackageWriter(const Schema& schema, const Package& package)
      : schema_(schema), package_(package), space_(namespaceOf(package.name)) {}

  std::string header() const;
  std::string source();

 private:
  // A type with embedded types flattened, and the shape of its protobuf.
  struct Member {
    const Field* field;
    const Package* home;  // whose names the field's type is to be read in
  };
  struct WireEntry {
    int tag;
    std::size_t field = 0;
    std::vector<WireEntry> group;
  };
  struct Flat {
    std::vector<Member> members;
    std::vector<WireEntry> wire;
  };

  Flat flatten(const Type& type) const;
  void flattenInto(const Type& type, const Package& home, std::vector<Member>& members,
                   std::vector<WireEntry>& wire) const;
  std::pair<const Package*, const Type*> resolve(const std::string& name,
                                                 const Package& home) const;
  bool isBuiltIn(const Member& member) const { return kBuiltIns.contains(member.field->type); }
  bool byValue(const Member& member) const;
  std::string cppType(const Member& member) const;
  std::vector<const Type*> inOrder() const;
  std::set<std::string> dependencies() const;
  const Kind* kindOf(const Type& type) const;

  std::string flags(const Member& member) const;
  std::string mergeInfo(const Field& field);
  std::string stringArray(const std::vector<std::string>& strings);
  std::string wireTable(const std::string& name, const std::vector<WireEntry>& wire);
  std::string resourceInfo(const Kind& kind);
  std::string typeTable(const Type& type);

  const Schema& schema_;
  const Package& package_;
  std::string space_;
  std::string constants_;                     // shared by the tables of this file
  std::map<std::string, std::string> known_;  // constant's text -> its name
};

std::pair<const Package*, const Type*> PackageWriter::resolve(const std::string& name,
                                                              const Package& home) const {
  const Package* package = &home;
  std::string type = name;
  if (const auto slash = name.find('/'); slash != std::string::npos) {
    const auto dot = name.find('.', slash);
    const auto at = schema_.find(name.substr(0, dot));
    if (at == schema_.end()) throw Error(home.name + ": unknown package in " + name);
    package = &at->second;
    type = name.substr(dot + 1);
  }
  const Type* found = package->find(type);
  if (found == nullptr) throw Error(home.name + ": unknown type " + name);
  return {package, found};
}

void PackageWriter::flattenInto(const Type& type, const Package& home, std::vector<Member>& members,
                                std::vector<WireEntry>& wire) const {
  for (const Field& field : type.fields) {
    WireEntry entry{.tag = field.tag, .field = members.size(), .group = {}};
    if (field.inlined.empty()) {
      members.push_back({&field, &home});
    } else {
      const auto [package, embedded] = resolve(field.inlined, home);
      flattenInto(*embedded, *package, members, entry.group);
    }
    if (entry.tag != 0) wire.push_back(std::move(entry));
  }
  std::ranges::sort(wire, {}, &WireEntry::tag);
}

PackageWriter::Flat PackageWriter::flatten(const Type& type) const {
  Flat flat;
  flattenInto(type, package_, flat.members, flat.wire);
  if (flat.wire.size() > 64) throw Error(type.name + ": more than 64 protobuf fields");
  return flat;
}

// Object and list metadata are part of every object; all other messages are shared.
bool PackageWriter::byValue(const Member& member) const {
  if (isBuiltIn(member) || !member.field->shape.empty()) return false;
  const auto [package, type] = resolve(member.field->type, *member.home);
  return package->name == "meta/v1" && (type->name == "ObjectMeta" || type->name == "ListMeta");
}

std::string PackageWriter::cppType(const Member& member) const {
  const Field& field = *member.field;
  std::string type;
  if (isBuiltIn(member)) {
    type = kBuiltIns.at(field.type);
  } else {
    const auto [package, message] = resolve(field.type, *member.home);
    type = package == &package_ ? "" : namespaceOf(package->name) + "::";
    type += typeName(message->name);
  }
  if (field.shape == "list") return "List<" + type + ">";
  if (field.shape == "map") return "Map<" + type + ">";
  if (!isBuiltIn(member)) return byValue(member) ? type : "Shared<" + type + ">";
  if (field.shape != "pointer") return type;
  // These have an empty state of their own.
  const bool nullable =
      type == "Time" || type == "MicroTime" || type == "RawExtension" || type == "FieldsV1";
  return nullable ? type : "std::optional<" + type + ">";
}

// Types in the schema's order, except that what is held by value comes before its holder.
std::vector<const Type*> PackageWriter::inOrder() const {
  std::vector<const Type*> order;
  const std::function<void(const Type&)> visit = [&](const Type& type) {
    if (std::ranges::find(order, &type) != order.end()) return;
    for (const Member& member : flatten(type).members) {
      if (!byValue(member)) continue;
      const auto [package, held] = resolve(member.field->type, *member.home);
      if (package == &package_) visit(*held);
    }
    order.push_back(&type);
  };
  for (const Type& type : package_.types) visit(type);
  return order;
}

std::set<std::string> PackageWriter::dependencies() const {
  std::set<std::string> packages;
  for (const Type& type : package_.types) {
    for (const Member& member : flatten(type).members) {
      if (isBuiltIn(member)) continue;
      packages.insert(resolve(member.field->type, *member.home).first->name);
    }
  }
  packages.erase(package_.name);
  return packages;
}

const Kind* PackageWriter::kindOf(const Type& type) const {
  for (const Kind& kind : package_.kinds) {
    if (kind.kind == type.name && kind.type.empty()) return &kind;
  }
  return nullptr;
}

std::string PackageWriter::header() const {
  std::string out(kBanner);
  out += fmt::format("//\n// The types of {}{}{}, as a server of that version has them.\n",
                     package_.group, package_.group.empty() ? "" : "/", package_.version);
  out += "#pragma once\n\n#include <cstdint>\n#include <optional>\n\n";
  std::set<std::string> includes = {"kube/meta/type_info.h"};
  for (const std::string& package : dependencies()) includes.insert(pathOf(package) + ".h");
  for (const std::string& include : includes) out += fmt::format("#include \"{}\"\n", include);
  out += fmt::format("\nnamespace kube::{} {{\n\n", space_);
  for (const Type& type : package_.types) out += fmt::format("struct {};\n", typeName(type.name));
  for (const Type* type : inOrder()) {
    out += fmt::format("\nstruct {} {{\n", typeName(type->name));
    const Flat flat = flatten(*type);
    for (const Member& member : flat.members) {
      const std::string cpp = cppType(member);
      const bool number = cpp == "bool" || cpp == "double" || cpp.starts_with("std::int");
      out += fmt::format("  {} {}{};\n", cpp, memberOf(*member.field),
                         !number         ? " = {}"
                         : cpp == "bool" ? " = false"
                                         : " = 0");
    }
    if (!flat.members.empty()) out += "\n";
    out +=
        fmt::format("  bool operator==(const {}&) const = default;\n}};\n", typeName(type->name));
  }
  out += fmt::format("\n}}  // namespace kube::{}\n\nnamespace kube {{\n\n// clang-format off\n",
                     space_);
  for (const Type& type : package_.types) {
    out += fmt::format("template <> struct TypeOf<{}::{}> {{ static const TypeInfo info; }};\n",
                       space_, typeName(type.name));
  }
  out += "// clang-format on\n\n}  // namespace kube\n";
  return out;
}

std::string PackageWriter::flags(const Member& member) const {
  const Field& field = *member.field;
  static const std::set<std::string> kStructs = {"Time",     "MicroTime",   "Duration",
                                                 "Quantity", "IntOrString", "RawExtension",
                                                 "FieldsV1", "JSON"};
  const bool isStruct = kStructs.contains(field.type) && field.shape.empty();
  std::string result;
  const auto add = [&](std::string_view flag) {
    if (!result.empty()) result += " | ";
    result += flag;
  };
  if (field.required) add("kRequired");
  if (field.shape != "pointer" && (field.keep || (isStruct && !field.omitZero))) add("kKeep");
  if (field.shape == "pointer" && !cppType(member).starts_with("std::optional") &&
      isBuiltIn(member)) {
    add("kPointer");
  }
  if (!isBuiltIn(member) && field.shape.empty() && !byValue(member)) add("kByValue");
  return result.empty() ? "0" : result;
}

std::string PackageWriter::stringArray(const std::vector<std::string>& strings) {
  if (strings.empty()) return "{}";
  std::string content;
  for (const std::string& text : strings) {
    if (!content.empty()) content += ", ";
    content += literal(text);
  }
  auto& name = known_[content];
  if (name.empty()) {
    name = fmt::format("kNames{}", known_.size());
    constants_ += fmt::format("constexpr std::string_view {}[] = {{{}}};\n", name, content);
  }
  return name;
}

std::string PackageWriter::mergeInfo(const Field& field) {
  std::string content;
  const auto add = [&](std::string_view key, std::string_view value) {
    if (!content.empty()) content += ", ";
    content += fmt::format(".{} = {}", key, value);
  };
  if (field.listType == "atomic") add("listType", "MergeInfo::ListType::Atomic");
  if (field.listType == "set") add("listType", "MergeInfo::ListType::Set");
  if (field.listType == "map") add("listType", "MergeInfo::ListType::Map");
  if (field.mapType == "atomic") add("atomicMap", "true");
  if (field.mapType == "granular") add("granular", "true");
  if (!field.listMapKeys.empty()) add("listMapKeys", stringArray(field.listMapKeys));
  if (!field.patchStrategy.empty()) add("patchStrategy", literal(field.patchStrategy));
  if (!field.patchMergeKey.empty()) add("patchMergeKey", literal(field.patchMergeKey));
  if (content.empty()) return "nullptr";
  auto& name = known_[content];
  if (name.empty()) {
    name = fmt::format("kMerge{}", known_.size());
    constants_ += fmt::format("constexpr MergeInfo {}{{{}}};\n", name, content);
  }
  return "&" + name;
}

std::string PackageWriter::wireTable(const std::string& name, const std::vector<WireEntry>& wire) {
  std::string before;
  std::string entries;
  for (const WireEntry& entry : wire) {
    if (!entries.empty()) entries += ", ";
    if (entry.group.empty()) {
      entries += fmt::format("{{{}, {}}}", entry.tag, entry.field);
    } else {
      const std::string group = fmt::format("{}_{}", name, entry.tag);
      before += wireTable(group, entry.group);
      entries += fmt::format("{{{}, 0, {}}}", entry.tag, group);
    }
  }
  return before + fmt::format("constexpr WireField {}[] = {{{}}};\n", name, entries);
}

std::string PackageWriter::resourceInfo(const Kind& kind) {
  // meta's own kinds appear under "v1", whatever group they are used with.
  const bool plainV1 = kind.unversioned;
  std::string out = fmt::format("{{.group = {}, .version = {}, .kind = {}",
                                literal(plainV1 ? "" : package_.group),
                                literal(plainV1 ? "v1" : package_.version), literal(kind.kind));
  const auto add = [&](std::string_view key, const std::string& value) {
    out += fmt::format(", .{} = {}", key, value);
  };
  if (!kind.resource.empty()) add("plural", literal(kind.resource));
  if (!kind.singular.empty()) add("singular", literal(kind.singular));
  if (!kind.list.empty()) add("listKind", literal(kind.list));
  if (kind.namespaced) add("namespaced", "true");
  if (kind.retired) add("retired", "true");
  if (kind.unversioned) add("unversioned", "true");
  if (!kind.verbs.empty()) add("verbs", stringArray(kind.verbs));
  if (!kind.shortNames.empty()) add("shortNames", stringArray(kind.shortNames));
  if (!kind.categories.empty()) add("categories", stringArray(kind.categories));
  if (!kind.subresources.empty()) {
    std::string entries;
    for (const Subresource& sub : kind.subresources) {
      if (!entries.empty()) entries += ", ";
      entries += fmt::format("{{{}, {}, {}, {}, {}}}", literal(sub.name), literal(sub.group),
                             literal(sub.version), literal(sub.kind), stringArray(sub.verbs));
    }
    constants_ += fmt::format("constexpr ResourceInfo::Subresource k{}Subresources[] = {{{}}};\n",
                              kind.kind, entries);
    add("subresources", fmt::format("k{}Subresources", kind.kind));
  }
  return out + "}";
}

std::string PackageWriter::typeTable(const Type& type) {
  const Flat flat = flatten(type);
  std::string out = "namespace {\n";
  if (!flat.members.empty()) {
    out += fmt::format("using {}::{};\n", space_, typeName(type.name));
    out += fmt::format("constexpr FieldInfo k{}Fields[] = {{\n", type.name);
    for (const Member& member : flat.members) {
      out += fmt::format("    KUBE_FIELD({}, {}, {}, {}, {}, {}),\n", typeName(type.name),
                         memberOf(*member.field), literal(member.field->name), member.field->tag,
                         flags(member), mergeInfo(*member.field));
    }
    out += "};\n";
  }
  if (!flat.wire.empty()) out += wireTable("k" + type.name + "Wire", flat.wire);
  const Kind* kind = kindOf(type);
  const bool isKind = kind != nullptr && !kind->bare;
  if (isKind) {
    out += fmt::format("constexpr ResourceInfo k{}Resource{};\n", type.name, resourceInfo(*kind));
  }
  out += "}  // namespace\n";

  std::string form;
  if (type.name == "JSONSchemaPropsOrBool") form = "JsonForm::SchemaOrBool";
  if (type.name == "JSONSchemaPropsOrArray") form = "JsonForm::SchemaOrArray";
  if (type.name == "JSONSchemaPropsOrStringArray") form = "JsonForm::SchemaOrStringArray";
  if (form.empty()) form = "JsonForm::Object";
  out += fmt::format(
      "constinit const TypeInfo TypeOf<{0}::{1}>::info = detail::makeType<{0}::{1}>({2}, {3}, {4}, "
      "{5}, {6}, {7});\n\n",
      space_, typeName(type.name), literal(type.name),
      flat.members.empty() ? "{}" : fmt::format("k{}Fields", type.name),
      flat.wire.empty() ? "{}" : fmt::format("k{}Wire", type.name),
      isKind ? fmt::format("&k{}Resource", type.name) : "nullptr", form,
      type.atomic ? "true" : "false");
  return out;
}

std::string PackageWriter::source() {
  std::string tables;
  for (const Type& type : package_.types) tables += typeTable(type);
  std::string out(kBanner);
  out += fmt::format("#include \"{}.h\"\n\n#include \"kube/meta/table.h\"\n\nnamespace kube {{\n\n",
                     pathOf(package_.name));
  if (!constants_.empty()) out += "namespace {\n" + constants_ + "}  // namespace\n\n";
  return out + tables + "}  // namespace kube\n";
}

}  // namespace

std::vector<GeneratedFile> generatePackage(const Schema& schema, const Package& package) {
  PackageWriter writer(schema, package);
  const std::string path = pathOf(package.name);
  return {{path + ".h", writer.header()}, {path + ".cc", writer.source()}};
}

std::vector<GeneratedFile> generateRegistry(const Schema& schema) {
  std::string header(kBanner);
  header +=
      "//\n// Every built-in kind, for what finds a type by its name. Using this links all of "
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
// Every built-in type, kinds and their parts, by upstream's package; for what names types as
// upstream does. Using this links all of them.
#pragma once

#include <span>
#include <string_view>

#include "kube/meta/type_info.h"

namespace kube {

/// The types of a package, as in "core/v1". The core group's is "core", and meta.k8s.io's "meta".
struct ApiPackage {
  std::string_view name;
  std::span<const TypeInfo* const> types;
};

std::span<const ApiPackage> builtInPackages() noexcept;

/// The release of Kubernetes that the built-in types are those of, as in "1.36.4".
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
    if (release.empty()) release = package.release;
    if (package.release != release) {
      throw Error(fmt::format("{}: of release {}, others of {}", name, package.release, release));
    }
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
