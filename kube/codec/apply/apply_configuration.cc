#include "kube/codec/apply/apply_configuration.h"

#include <fmt/core.h>

#include <optional>

#include "kube/base/error.h"
#include "kube/codec/apply/internal/apply_walk.h"
#include "kube/codec/internal/json_encode.h"
#include "kube/codec/json.h"
#include "kube/meta/internal/elements.h"
#include "kube/meta/internal/presence.h"

namespace kube {

void encodeApply(const TypeInfo& type, const void* object, const FieldSet& zeros,
                 std::string& out) {
  detail::JsonEncoder(out, 0).sparse(type, object, zeros);
}

namespace detail {

namespace {

/// Searches for a field by its address.
class FieldSearch {
 public:
  FieldSearch(const FieldInfo& form, const void* field)
      : form_(form), field_(static_cast<const std::byte*>(field)) {}

  bool in(const TypeInfo& type, const std::byte* object) {
    for (const FieldInfo& info : type.fields) {
      path_.emplace_back(info.name);
      if (at(info, object + info.offset)) return true;
      path_.pop_back();
    }
    return false;
  }
  FieldSet::Path path() && { return std::move(path_); }

 private:
  bool at(const FieldInfo& info, const std::byte* place) {
    // The first member of a struct has the struct's address too.
    if (place == field_ && info.shape == form_.shape && info.kind == form_.kind &&
        info.type == form_.type) {
      return true;
    }
    if (info.kind != FieldKind::Message) return false;
    if (info.shape == Shape::Plain) return in(*info.type, place);
    const Block* block = heldAt(place);
    if (block == nullptr) return false;
    if (info.shape == Shape::Optional) {
      return in(*info.type, static_cast<const std::byte*>(block->payload()));
    }
    for (std::size_t i = 0; i < countOf(block); ++i) {
      std::byte* element = elementOf(block, *info.ops, i);
      const bool map = info.shape == Shape::Map;
      path_.push_back(map ? PathElement(keyOf(element)) : elementStep(info, i, element));
      if (in(*info.type, map ? valueOf(element) : element)) return true;
      path_.pop_back();
    }
    return false;
  }

  const FieldInfo& form_;
  const std::byte* const field_;
  FieldSet::Path path_;
};

}  // namespace

PathElement elementStep(const FieldInfo& list, std::size_t i, const std::byte* element) {
  const ApplyPlace place = ApplyPlace::ofField(list);
  if (!place.isAtomic(ApplyPlace::Form::List)) {
    std::string json;
    encodeApply(*list.type, element, {}, json);
    std::string why;
    if (auto known = place.identify(parseJson(json), why)) return *std::move(known);
  }
  return PathElement::index(static_cast<std::int64_t>(i));
}

FieldSet::Path pathOf(const TypeInfo& type, const void* object, const FieldInfo& form,
                      const void* field) {
  FieldSearch search(form, field);
  if (search.in(type, static_cast<const std::byte*>(object))) return std::move(search).path();
  throw Error(fmt::format(
      "apply {}: the field to set is not part of this object: name it through the Apply itself, as "
      "in wanted.set(wanted->spec->replicas, 0)",
      type.name));
}

namespace {

/// Adds required fields with zeros to parts that are owned as a whole: no set of fields tells
/// whether they were applied, and a server may refuse the whole part without them.
class RequiredZeros {
 public:
  explicit RequiredZeros(FieldSet& zeros) : zeros_(zeros) {}

  void in(const TypeInfo& type, const std::byte* object, bool whole) {
    for (const FieldInfo& info : type.fields) {
      const std::byte* at = object + info.offset;
      path_.emplace_back(info.name);
      if (!isUnset(info, at)) {
        below(info, at, whole);
      } else if (whole && info.required() && info.kind != FieldKind::Message) {
        zeros_.insert(path_);
      }
      path_.pop_back();
    }
  }

 private:
  void below(const FieldInfo& info, const std::byte* at, bool whole) {
    if (info.kind != FieldKind::Message) return;
    using Form = ApplyPlace::Form;
    const ApplyPlace place = ApplyPlace::ofField(info);
    if (info.shape == Shape::Plain || info.shape == Shape::Optional) {
      const auto* inside =
          info.shape == Shape::Plain ? at : static_cast<const std::byte*>(heldAt(at)->payload());
      return in(*info.type, inside, whole || place.isAtomic(Form::Map));
    }
    const bool map = info.shape == Shape::Map;
    whole = whole || place.isAtomic(map ? Form::Map : Form::List) ||
            (!map && place.element().isAtomic(Form::Map));
    const Block* block = heldAt(at);
    for (std::size_t i = 0; i < countOf(block); ++i) {
      std::byte* element = elementOf(block, *info.ops, i);
      path_.push_back(map ? PathElement(keyOf(element)) : elementStep(info, i, element));
      in(*info.type, map ? valueOf(element) : element, whole);
      path_.pop_back();
    }
  }

  FieldSet& zeros_;
  FieldSet::Path path_;
};

}  // namespace

FieldSet zerosOf(const TypeInfo& type, const void* object, const FieldSet& fields) {
  std::string json;
  encodeApply(type, object, {}, json);
  FieldSet zeros = fields.difference(fieldsIn(parseJson(json), ApplyPlace::root(&type)));
  RequiredZeros(zeros).in(type, static_cast<const std::byte*>(object), /*whole=*/false);
  return zeros;
}

}  // namespace detail

}  // namespace kube
