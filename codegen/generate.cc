#include "codegen/generate.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <set>

#include "codegen/names.h"
#include "kube/base/error.h"
#include "kube/base/internal/text.h"

namespace kube::codegen {

namespace {

// Types that the library implements by hand, with their C++ names.
const std::map<std::string, std::string> kBuiltIns = {
    {"bool", "bool"},         {"int32", "std::int32_t"},      {"int64", "std::int64_t"},
    {"double", "double"},     {"string", "String"},           {"bytes", "Bytes"},
    {"Time", "Time"},         {"MicroTime", "MicroTime"},     {"Duration", "Duration"},
    {"Quantity", "Quantity"}, {"IntOrString", "IntOrString"}, {"RawExtension", "RawExtension"},
    {"FieldsV1", "FieldsV1"}, {"JSON", "RawExtension"},       {"Strings", "Strings"},
    {"Value", "Value"},
};

// A field's C++ name: its JSON name, with an underscore if that is reserved.
std::string memberOf(const Field& field) {
  if (!field.member.empty()) return field.member;
  std::string name = field.name;
  if (!std::ranges::all_of(name, isIdentifierCharacter)) {
    name = field.protoName;
    if (name.empty()) throw Error("field " + field.name + " has no name usable in C++");
    name[0] = detail::lower(name[0]);
  }
  return isReserved(name) ? name + "_" : name;
}

class PackageWriter {
 public:
  PackageWriter(const Schema& schema, const Package& package)
      : schema_(schema),
        package_(package),
        space_(package.custom ? fullNamespaceOf(package) : namespaceOf(package.name)),
        lib_(package.custom ? "kube::" : "") {}

  std::string header() const;
  std::string source();

 private:
  std::string customSource();

  // A type with embedded types flattened, and the structure of its protobuf.
  struct Member {
    const Field* field;
    const Package* home;  // the package in which the name of the field's type is resolved
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
  std::string destructions(std::string_view before) const;
  std::set<std::string> dependencies() const;
  const Kind* kindOf(const Type& type) const;

  std::string flags(const Member& member) const;
  std::string mergeInfo(const Field& field);
  std::string stringArray(const std::vector<std::string>& strings);
  std::string wireTable(const std::string& name, const std::vector<WireEntry>& wire);
  std::string resourceInfo(const Kind& kind);
  // A type's constants, and its TypeInfo.
  struct Table {
    std::string constants, definition;
  };
  Table typeTable(const Type& type);
  std::string notes(const Type& type, std::string& constants) const;
  std::string structure(const Type& type) const;
  std::string nameOf(const Type& type) const {
    return package_.custom ? type.name : typeName(type.name);
  }

  const Schema& schema_;
  const Package& package_;
  std::string space_;                         // the package's namespace, as generated code names it
  std::string lib_;                           // the prefix of the library's names
  std::string constants_;                     // shared by the tables of this file
  std::map<std::string, std::string> known_;  // a constant's text -> its name
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
    const std::string& name = kBuiltIns.at(field.type);
    type = name[0] >= 'A' && name[0] <= 'Z' ? lib_ + name : name;
  } else {
    const auto [package, message] = resolve(field.type, *member.home);
    type = package == &package_
               ? nameOf(*message)
               : lib_ + namespaceOf(package->name) + "::" + typeName(message->name);
  }
  if (field.shape == "list") return lib_ + "List<" + type + ">";
  if (field.shape == "map") return lib_ + "Map<" + type + ">";
  if (!isBuiltIn(member)) return byValue(member) ? type : lib_ + "Shared<" + type + ">";
  if (field.shape != "pointer") return type;
  // These types have an empty state, so they need no std::optional.
  static const std::set<std::string> kNullable = {"Time",     "MicroTime", "RawExtension",
                                                  "FieldsV1", "JSON",      "Value"};
  const bool nullable = kNullable.contains(field.type);
  return nullable ? type : "std::optional<" + type + ">";
}

// The types in the schema's order, except that a type comes before types that hold it by value.
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

// Instantiations of the functions that destroy messages and lists of this package's types: declared
// in the header, compiled in the source file.
std::string PackageWriter::destructions(std::string_view before) const {
  std::set<std::string> holders;
  for (const Type& type : package_.types) {
    for (const Member& member : flatten(type).members) {
      if (isBuiltIn(member) || byValue(member) || member.field->shape == "map") continue;
      const auto [package, held] = resolve(member.field->type, *member.home);
      if (package != &package_) continue;
      holders.insert(fmt::format("{}{}<{}::{}>", lib_,
                                 member.field->shape == "list" ? "List" : "Shared", space_,
                                 nameOf(*held)));
    }
  }
  std::string out;
  for (const std::string& holder : holders) {
    out +=
        fmt::format("{}template void {}::drop({}detail::Block*) noexcept;\n", before, holder, lib_);
  }
  return out;
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
    if (typeOf(kind) == type.name && kind.type.empty()) return &kind;
  }
  return nullptr;
}

std::string PackageWriter::structure(const Type& type) const {
  std::string out = comment(type.comment, "");
  out += fmt::format("struct {} {{\n", nameOf(type));
  const Flat flat = flatten(type);
  bool hasConstants = false;
  for (const Member& member : flat.members) {
    for (const auto& [name, value] : member.field->constants) {
      out += fmt::format("  static constexpr std::string_view {} = {};\n", name, literal(value));
      hasConstants = true;
    }
  }
  if (hasConstants) out += "\n";
  for (const Member& member : flat.members) {
    const std::string cpp = cppType(member);
    const bool number = cpp == "bool" || cpp == "double" || cpp.starts_with("std::int");
    out += comment(member.field->comment, "  ");
    out += fmt::format("  {} {}{};\n", cpp, memberOf(*member.field),
                       !number         ? " = {}"
                       : cpp == "bool" ? " = false"
                                       : " = 0");
  }
  if (!flat.members.empty()) out += "\n";
  return out + fmt::format("  bool operator==(const {}&) const = default;\n}};\n", nameOf(type));
}

std::string PackageWriter::header() const {
  const bool custom = package_.custom;
  std::string out(custom ? kCustomBanner : kBanner);
  out += fmt::format("//\n// The types of {}{}{}, as a server of that version has them.\n",
                     package_.group, package_.group.empty() ? "" : "/", package_.version);
  out += "#pragma once\n\n#include <cstdint>\n#include <optional>\n";
  if (custom) out += "#include <string_view>\n";
  out += "\n";
  std::set<std::string> includes = {"kube/meta/type_info.h"};
  if (custom) includes.insert("kube/meta/value.h");
  for (const std::string& package : dependencies()) includes.insert(pathOf(package) + ".h");
  for (const std::string& include : includes) out += fmt::format("#include \"{}\"\n", include);
  if (custom) out += "\nnamespace kube {\nclass Scheme;\n}\n";
  out += fmt::format("\nnamespace {}{} {{\n\n", custom ? "" : "kube::", space_);
  for (const Type& type : package_.types) out += fmt::format("struct {};\n", nameOf(type));
  for (const Type* type : inOrder()) out += "\n" + structure(*type);
  if (custom) {
    out +=
        "\n/// Registers the kinds (include kube/meta/scheme.h).\nvoid addToScheme(kube::Scheme& "
        "scheme);\n";
    out += fmt::format("\n}}  // namespace {}\n\n// clang-format off\n", space_);
  } else {
    out += fmt::format("\n}}  // namespace kube::{}\n\nnamespace kube {{\n\n// clang-format off\n",
                       space_);
  }
  for (const Type& type : package_.types) {
    out += fmt::format(
        "template <> struct {0}TypeOf<{1}::{2}> {{ static const {0}TypeInfo info; }};\n", lib_,
        space_, nameOf(type));
  }
  out += destructions("extern ");
  return out + (custom ? "// clang-format on\n" : "// clang-format on\n\n}  // namespace kube\n");
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
    result.append(lib_).append(flag);
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
  if (field.listType == "atomic") add("listType", lib_ + "MergeInfo::ListType::Atomic");
  if (field.listType == "set") add("listType", lib_ + "MergeInfo::ListType::Set");
  if (field.listType == "map") add("listType", lib_ + "MergeInfo::ListType::Map");
  if (field.mapType == "atomic") add("atomicMap", "true");
  if (field.mapType == "granular") add("granular", "true");
  if (!field.listMapKeys.empty()) add("listMapKeys", stringArray(field.listMapKeys));
  if (!field.patchStrategy.empty()) add("patchStrategy", literal(field.patchStrategy));
  if (!field.patchMergeKey.empty()) add("patchMergeKey", literal(field.patchMergeKey));
  if (content.empty()) return "nullptr";
  auto& name = known_[content];
  if (name.empty()) {
    name = fmt::format("kMerge{}", known_.size());
    constants_ += fmt::format("constexpr {}MergeInfo {}{{{}}};\n", lib_, name, content);
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
  return before + fmt::format("constexpr {}WireField {}[] = {{{}}};\n", lib_, name, entries);
}

std::string PackageWriter::resourceInfo(const Kind& kind) {
  // The kinds of meta have the version "v1" in every group.
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
    constants_ += fmt::format("constexpr {}ResourceInfo::Subresource k{}Subresources[] = {{{}}};\n",
                              lib_, typeOf(kind), entries);
    add("subresources", fmt::format("k{}Subresources", typeOf(kind)));
  }
  return out + "}";
}

// The last argument of makeType for a custom resource: the parts of its schema that types lack.
std::string PackageWriter::notes(const Type& type, std::string& constants) const {
  std::string texts;
  const auto add = [&](std::string_view field, const std::string& json) {
    if (!json.empty()) texts += fmt::format("    {{{}, {}}},\n", literal(field), literal(json));
  };
  add("", type.text);
  for (const Field& field : type.fields) add(field.name, field.text);
  const Kind* kind = kindOf(type);
  if (texts.empty() && (kind == nullptr || kind->versionText.empty())) return "";
  std::string body;
  if (!texts.empty()) {
    constants +=
        fmt::format("constexpr {}SchemaText k{}Notes[] = {{\n{}}};\n", lib_, type.name, texts);
    body += fmt::format(" notes.texts = {}::k{}Notes;", space_, type.name);
  }
  if (kind != nullptr && !kind->versionText.empty()) {
    body += fmt::format(" notes.version = {};", literal(kind->versionText));
  }
  return fmt::format(", []({}TypeNotes& notes) {{{} }}", lib_, body);
}

PackageWriter::Table PackageWriter::typeTable(const Type& type) {
  const Flat flat = flatten(type);
  const std::string name = nameOf(type);
  Table out;
  if (!flat.members.empty()) {
    out.constants += fmt::format("constexpr {}FieldInfo k{}Fields[] = {{\n", lib_, type.name);
    for (const Member& member : flat.members) {
      out.constants += fmt::format("    KUBE_FIELD({}, {}, {}, {}, {}, {}),\n", name,
                                   memberOf(*member.field), literal(member.field->name),
                                   member.field->tag, flags(member), mergeInfo(*member.field));
    }
    out.constants += "};\n";
  }
  if (!flat.wire.empty()) out.constants += wireTable("k" + type.name + "Wire", flat.wire);
  const Kind* kind = kindOf(type);
  const bool isKind = kind != nullptr && !kind->bare;
  if (isKind) {
    out.constants += fmt::format("constexpr {}ResourceInfo k{}Resource{};\n", lib_, type.name,
                                 resourceInfo(*kind));
  }
  const std::string annotate = package_.custom ? notes(type, out.constants) : "";

  std::string form;
  if (!package_.custom) {
    if (type.name == "JSONSchemaPropsOrBool") form = "JsonForm::SchemaOrBool";
    if (type.name == "JSONSchemaPropsOrArray") form = "JsonForm::SchemaOrArray";
    if (type.name == "JSONSchemaPropsOrStringArray") form = "JsonForm::SchemaOrStringArray";
  }
  if (form.empty()) form = lib_ + "JsonForm::Object";
  const auto constant = [&](bool there, std::string_view suffix, std::string_view otherwise) {
    return there ? fmt::format("{}::k{}{}", space_, type.name, suffix) : std::string(otherwise);
  };
  out.definition = fmt::format(
      "constinit const {8}TypeInfo {8}TypeOf<{0}::{1}>::info = {8}detail::makeType<{0}::{1}>({2}, "
      "{3}, {4}, {5}, {6}, {7}{9});\n",
      space_, name, literal(type.name), constant(!flat.members.empty(), "Fields", "{}"),
      constant(!flat.wire.empty(), "Wire", "{}"),
      isKind ? "&" + constant(true, "Resource", "") : "nullptr", form,
      type.atomic ? "true" : "false", lib_, annotate);
  return out;
}

std::string PackageWriter::source() {
  if (package_.custom) return customSource();
  std::string tables, definitions;
  for (const Type& type : package_.types) {
    const Table table = typeTable(type);
    tables += table.constants;
    definitions += table.definition;
  }
  // Constants are in the package's namespace, so that several sources can be compiled as one.
  return fmt::format(R"({0}#include "{1}.h"

#include "kube/meta/table.h"

namespace kube {{

namespace {2} {{
namespace {{
{3}{4}}}  // namespace
}}  // namespace {2}

{5}{6}
}}  // namespace kube
)",
                     kBanner, pathOf(package_.name), space_, constants_, tables, definitions,
                     destructions(""));
}

std::string PackageWriter::customSource() {
  std::string tables, definitions, kinds;
  for (const Type& type : package_.types) {
    const Table table = typeTable(type);
    tables += table.constants;
    definitions += table.definition;
    if (kindOf(type) != nullptr) kinds += (kinds.empty() ? "" : ", ") + type.name;
  }
  return fmt::format(R"({0}#include "{1}.h"

#include "kube/meta/schema_notes.h"
#include "kube/meta/scheme.h"
#include "kube/meta/table.h"

namespace {2} {{

namespace {{
{3}{4}}}  // namespace

void addToScheme(kube::Scheme& scheme) {{
  const kube::GroupVersion version{{{5}, {6}}};
  scheme.addKnownTypes<{7}>(version);
  kube::addToGroupVersion(scheme, version);
}}

}}  // namespace {2}

{8})",
                     kCustomBanner, pathOf(package_), space_, constants_, tables,
                     literal(package_.group), literal(package_.version), kinds,
                     definitions + destructions(""));
}

}  // namespace

std::vector<GeneratedFile> generatePackage(const Schema& schema, const Package& package) {
  PackageWriter writer(schema, package);
  const std::string path = pathOf(package);
  return {{path + ".h", writer.header()}, {path + ".cc", writer.source()}};
}

}  // namespace kube::codegen
