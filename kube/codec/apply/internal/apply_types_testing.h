// A described kind with every case that server-side apply distinguishes, for tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "kube/meta/table.h"
#include "kube/meta/type_info.h"
#include "kube/meta/v1.h"
#include "kube/meta/value.h"

namespace applytypes {

struct Part {
  kube::String name;
  kube::String value;
  kube::List<std::int32_t> numbers;
  kube::Map<kube::String> options;
};

struct Ref {
  kube::String name;
  kube::String uid;
};

struct Port {
  std::int32_t containerPort = 0;
  kube::String protocol;
  kube::String name;
};

struct Spec {
  std::optional<std::int32_t> replicas;
  kube::Map<kube::String> labels;
  kube::Map<kube::String> selector;
  kube::List<kube::String> finalizers;
  kube::List<Part> parts;
  kube::List<Port> ports;
  kube::List<kube::String> args;
  kube::List<Part> unmarked;
  kube::Shared<Part> part;
  kube::Shared<Part> pointer;
  kube::Shared<Ref> ref;
  kube::Shared<Ref> granularRef;
  kube::RawExtension raw;
  kube::Value any;
  kube::Quantity amount;
  std::optional<kube::IntOrString> port;
  kube::Map<Part> named;
};

struct Thing {
  kube::metav1::ObjectMeta metadata;
  kube::Shared<Spec> spec;
  kube::Shared<Spec> status;
};

}  // namespace applytypes

// clang-format off
namespace kube {
template <> struct TypeOf<applytypes::Part> { static const TypeInfo info; };
template <> struct TypeOf<applytypes::Ref> { static const TypeInfo info; };
template <> struct TypeOf<applytypes::Port> { static const TypeInfo info; };
template <> struct TypeOf<applytypes::Spec> { static const TypeInfo info; };
template <> struct TypeOf<applytypes::Thing> { static const TypeInfo info; };
}  // namespace kube
// clang-format on

namespace applytypes {

using kube::kByValue;
using kube::kKeep;
using kube::MergeInfo;
using ListType = kube::MergeInfo::ListType;

inline constexpr std::string_view kName[] = {"name"};
inline constexpr std::string_view kPortKeys[] = {"containerPort", "protocol"};
inline constexpr MergeInfo kSet{.listType = ListType::Set};
inline constexpr MergeInfo kAtomicList{.listType = ListType::Atomic};
inline constexpr MergeInfo kByName{.listType = ListType::Map, .listMapKeys = kName};
inline constexpr MergeInfo kByPort{.listType = ListType::Map, .listMapKeys = kPortKeys};
inline constexpr MergeInfo kAtomicMap{.atomicMap = true};
inline constexpr MergeInfo kGranular{.granular = true};

inline constexpr kube::FieldInfo kPartFields[] = {
    KUBE_FIELD(Part, name, "name", 1, 0, nullptr),
    KUBE_FIELD(Part, value, "value", 2, 0, nullptr),
    KUBE_FIELD(Part, numbers, "numbers", 3, 0, &kSet),
    KUBE_FIELD(Part, options, "options", 4, 0, nullptr),
};
inline constexpr kube::FieldInfo kRefFields[] = {
    KUBE_FIELD(Ref, name, "name", 1, 0, nullptr),
    KUBE_FIELD(Ref, uid, "uid", 2, 0, nullptr),
};
inline constexpr kube::FieldInfo kPortFields[] = {
    KUBE_FIELD(Port, containerPort, "containerPort", 1, kKeep, nullptr),
    KUBE_FIELD(Port, protocol, "protocol", 2, 0, nullptr),
    KUBE_FIELD(Port, name, "name", 3, 0, nullptr),
};
inline constexpr kube::FieldInfo kSpecFields[] = {
    KUBE_FIELD(Spec, replicas, "replicas", 1, 0, nullptr),
    KUBE_FIELD(Spec, labels, "labels", 2, 0, nullptr),
    KUBE_FIELD(Spec, selector, "selector", 3, 0, &kAtomicMap),
    KUBE_FIELD(Spec, finalizers, "finalizers", 4, 0, &kSet),
    KUBE_FIELD(Spec, parts, "parts", 5, 0, &kByName),
    KUBE_FIELD(Spec, ports, "ports", 6, 0, &kByPort),
    KUBE_FIELD(Spec, args, "args", 7, 0, &kAtomicList),
    KUBE_FIELD(Spec, unmarked, "unmarked", 8, 0, nullptr),
    KUBE_FIELD(Spec, part, "part", 9, kByValue, nullptr),
    KUBE_FIELD(Spec, pointer, "pointer", 10, 0, nullptr),
    KUBE_FIELD(Spec, ref, "ref", 11, 0, nullptr),
    KUBE_FIELD(Spec, granularRef, "granularRef", 12, 0, &kGranular),
    KUBE_FIELD(Spec, raw, "raw", 13, 0, nullptr),
    KUBE_FIELD(Spec, any, "any", 14, 0, nullptr),
    KUBE_FIELD(Spec, amount, "amount", 15, 0, nullptr),
    KUBE_FIELD(Spec, port, "port", 16, 0, nullptr),
    KUBE_FIELD(Spec, named, "named", 17, 0, nullptr),
};
inline constexpr kube::FieldInfo kThingFields[] = {
    KUBE_FIELD(Thing, metadata, "metadata", 1, 0, nullptr),
    KUBE_FIELD(Thing, spec, "spec", 2, kByValue, nullptr),
    KUBE_FIELD(Thing, status, "status", 3, kByValue, nullptr),
};
// A type with a protobuf form counts as built-in. It need not be complete here.
inline constexpr kube::WireField kWire[] = {{1, 0}};
inline constexpr kube::ResourceInfo kResource{
    .group = "example.com", .version = "v1", .kind = "Thing", .plural = "things"};

}  // namespace applytypes

namespace kube {
inline constinit const TypeInfo TypeOf<applytypes::Part>::info =
    detail::makeType<applytypes::Part>("Part", applytypes::kPartFields, applytypes::kWire);
inline constinit const TypeInfo TypeOf<applytypes::Ref>::info = detail::makeType<applytypes::Ref>(
    "Ref", applytypes::kRefFields, applytypes::kWire, nullptr, JsonForm::Object, /*atomic=*/true);
// The name gives the protocol a default.
inline constinit const TypeInfo TypeOf<applytypes::Port>::info =
    detail::makeType<applytypes::Port>("ContainerPort", applytypes::kPortFields, applytypes::kWire);
inline constinit const TypeInfo TypeOf<applytypes::Spec>::info =
    detail::makeType<applytypes::Spec>("Spec", applytypes::kSpecFields, applytypes::kWire);
inline constinit const TypeInfo TypeOf<applytypes::Thing>::info =
    detail::makeType<applytypes::Thing>("Thing", applytypes::kThingFields, applytypes::kWire,
                                        &applytypes::kResource);
}  // namespace kube
