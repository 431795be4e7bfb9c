// The part of a custom resource's schema that is not in its table: descriptions, defaults, limits,
// rules, columns. kube::crd<T>() (kube/client/crd.h) makes a CustomResourceDefinition from table
// and notes.
//
//   template <>
//   struct kube::SchemaOf<samplecrdv1::NetworkSpec> {
//     using Spec = samplecrdv1::NetworkSpec;
//     static void annotate(kube::SchemaNotes<Spec>& spec) {
//       spec.type() = {.description = "A network between pods."};
//       spec[&Spec::cidr] = {.description = "Its addresses", .pattern = "^[0-9./]+$"};
//       spec[&Spec::mtu] = {.default_ = 1500, .minimum = 68, .maximum = 9000};
//       spec[&Spec::mode] = {.enum_ = {"Bridge", "Overlay"}};
//       spec.items(&Spec::peers) = {.maxLength = 63};             // each element of a list or map
//       spec.rule({.rule = "self.mtu <= 1500 || self.mode == 'Bridge'", .message = "too big"});
//     }
//   };
//   template <>
//   struct kube::SchemaOf<samplecrdv1::Network> {
//     using Network = samplecrdv1::Network;
//     static void annotate(kube::SchemaNotes<Network>& network) {
//       network.kind() = {.shortNames = {"net"}, .status = true};
//       network.column("CIDR", &Network::spec, &samplecrdv1::NetworkSpec::cidr);
//     }
//   };
//
// The specialisation stands at global scope, after the struct and before its KUBE_DESCRIBE;
// compilers refuse it after that. It is called only when a definition is made. Decoding, encoding
// and comparing objects do not use it.
//
// Thread safety: notes are values, made anew in each call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/base/string.h"
#include "kube/meta/type_info.h"
#include "kube/meta/value.h"

namespace kube {

/// A rule in CEL, an entry of x-kubernetes-validations.
struct SchemaRule {
  String rule = {};
  String message = {};
  String messageExpression = {};
  String reason = {};     // FieldValueInvalid, FieldValueForbidden, ...
  String fieldPath = {};  // ".spec.mtu"
  std::optional<bool> optionalOldSelf = {};
};

/// Notes on a field, on the elements of a list or map, or on a struct wherever it is used. Null and
/// empty members specify nothing.
struct FieldNotes {
  String description = {};
  Value default_ = {};
  std::optional<double> minimum = {};
  std::optional<double> maximum = {};
  bool exclusiveMinimum = false;
  bool exclusiveMaximum = false;
  std::optional<double> multipleOf = {};
  std::optional<std::int64_t> minLength = {};
  std::optional<std::int64_t> maxLength = {};
  String pattern = {};
  String format = {};
  Value::Array enum_ = {};
  std::optional<std::int64_t> minItems = {};
  std::optional<std::int64_t> maxItems = {};
  std::optional<std::int64_t> minProperties = {};
  std::optional<std::int64_t> maxProperties = {};
  bool nullable = false;
  bool embeddedResource = false;       // has apiVersion, kind and metadata
  bool preserveUnknownFields = false;  // unknown fields are kept
  std::vector<SchemaRule> rules = {};
  Value::Object more = {};  // other keywords of a schema, as {"x-kubernetes-list-type": "set"}
};

/// A column that kubectl get shows.
struct PrinterColumn {
  String name = {};
  String type = {};      // string, integer, number, boolean, date
  String jsonPath = {};  // ".spec.cidr"
  String format = {};
  String description = {};
  std::int32_t priority = 0;  // above 0: with -o wide
};

/// The fields of the subresource scale.
struct ScalePlaces {
  String specReplicasPath = ".spec.replicas";
  String statusReplicasPath = ".status.replicas";
  String labelSelectorPath = {};
};

/// Notes on a kind, in addition to its ResourceInfo.
struct KindNotes {
  std::vector<String> shortNames = {};
  std::vector<String> categories = {};
  std::vector<PrinterColumn> columns = {};
  std::vector<String> selectableFields = {};  // ".spec.mode"
  bool status = false;                        // has the subresource status
  std::optional<ScalePlaces> scale = {};
  bool deprecated = false;
  String deprecationWarning = {};
};

/// The whole schema of a field as JSON, except the properties in its struct's table; generated code
/// carries it. Without a field: the schema of the struct itself.
struct SchemaText {
  std::string_view field;
  std::string_view json;
};

/// All notes on a struct.
struct TypeNotes {
  FieldNotes self = {};
  std::map<std::string, FieldNotes, std::less<>> fields = {};  // by name in JSON
  std::map<std::string, FieldNotes, std::less<>> items = {};
  KindNotes kind = {};
  std::span<const SchemaText> texts = {};
  std::string_view version = {};  // for a kind: its entry in spec.versions, without the schema

  /// The text of a field; empty if there is none.
  std::string_view text(std::string_view field) const noexcept;
};

/// The notes that a type's `annotate` writes; none if it has no such function.
TypeNotes notesOf(const TypeInfo& type);

namespace detail {

/// The description of the member at an offset. Throws Error if there is none.
const FieldInfo& fieldAtOffset(const TypeInfo& type, std::size_t offset);

template <class T, class M>
const FieldInfo& fieldOf(M T::*member) {
  static const T probe{};
  const auto* at = reinterpret_cast<const std::byte*>(&(probe.*member));
  return fieldAtOffset(TypeOf<T>::info,
                       static_cast<std::size_t>(at - reinterpret_cast<const std::byte*>(&probe)));
}

/// The type of a column for such a field, in a definition.
std::string_view columnType(const FieldInfo& field) noexcept;

}  // namespace detail

/// TypeNotes that are addressed by members instead of names.
template <class T>
class SchemaNotes {
 public:
  explicit SchemaNotes(TypeNotes& notes) : notes_(notes) {}

  /// The notes on the struct itself.
  FieldNotes& type() { return notes_.self; }
  template <class M>
  FieldNotes& operator[](M T::*member) {
    return notes_.fields[std::string(detail::fieldOf(member).name)];
  }
  /// The notes on each element of a list or map.
  template <class M>
  FieldNotes& items(M T::*member) {
    return notes_.items[std::string(detail::fieldOf(member).name)];
  }
  void rule(SchemaRule rule) { notes_.self.rules.push_back(std::move(rule)); }

  // ---- For kinds.

  KindNotes& kind() { return notes_.kind; }
  void column(PrinterColumn column) { notes_.kind.columns.push_back(std::move(column)); }
  /// Takes the path and the type from members: column("CIDR", &Network::spec, &Spec::cidr).
  template <class... Members>
  requires(sizeof...(Members) > 0 && (std::is_member_object_pointer_v<Members> &&
                                      ...)) void column(String name, Members... members) {
    std::string path;
    std::string_view type;
    const auto step = [&](const FieldInfo& field) {
      path.append(".").append(field.name);
      type = detail::columnType(field);
    };
    (step(detail::fieldOf(members)), ...);
    column({.name = std::move(name), .type = String(type), .jsonPath = String(path)});
  }

 private:
  TypeNotes& notes_;
};

}  // namespace kube
