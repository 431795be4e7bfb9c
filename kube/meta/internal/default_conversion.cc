#include "kube/meta/internal/default_conversion.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "kube/base/internal/block.h"
#include "kube/meta/internal/container_builder.h"
#include "kube/meta/internal/optional_field.h"
#include "kube/meta/internal/path.h"
#include "kube/meta/internal/presence.h"
#include "kube/meta/scheme.h"

namespace kube::detail {

namespace {

Block*& blockAt(std::byte* at) noexcept { return *reinterpret_cast<Block**>(at); }

bool holdsMany(const FieldInfo& field) noexcept {
  return field.shape == Shape::List || field.shape == Shape::Map;
}
// True if the field is one handle to a block.
bool holdsBlock(const FieldInfo& field) noexcept {
  return holdsMany(field) || (field.shape == Shape::Optional && field.kind == FieldKind::Message);
}

void replaceBlock(const FieldInfo& field, std::byte* at, Block* fresh) noexcept {
  Block* old = std::exchange(blockAt(at), fresh);
  if (old != nullptr) field.ops->drop(old);
}

// The value of a field that holds at most one, or null.
const std::byte* singleValue(const FieldInfo& field, const std::byte* at) {
  if (field.shape == Shape::Plain) return at;
  if (field.kind != FieldKind::Message) {
    return static_cast<const std::byte*>(optionalValue(field.kind, at));
  }
  const Block* block = messageAt(field, at);
  return block != nullptr ? static_cast<const std::byte*>(block->payload()) : nullptr;
}

// Resets a field that holds at most one value to its initial state.
void clear(const FieldInfo& field, std::byte* at) {
  if (holdsBlock(field)) return replaceBlock(field, at, nullptr);
  if (field.shape == Shape::Optional) {
    return withOptional(field.kind, at, [](auto& slot) { slot.reset(); });
  }
  if (field.kind == FieldKind::Message) {
    field.type->destroy(at);
    field.type->construct(at);
    return;
  }
  withScalarType(field.kind, [&]<class T>() { *reinterpret_cast<T*>(at) = T{}; });
}

// Copies between two fields of the same kind, type and shape.
void copyField(const FieldInfo& field, const std::byte* in, std::byte* out) {
  if (holdsBlock(field)) {
    auto* block = const_cast<Block*>(heldAt(in));
    addRef(block);
    return replaceBlock(field, out, block);
  }
  if (field.shape == Shape::Plain && field.kind == FieldKind::Message) {
    return assignMessage(*field.type, out, in);
  }
  withScalarType(field.kind, [&]<class T>() {
    if (field.shape == Shape::Optional) {
      *reinterpret_cast<std::optional<T>*>(out) = *reinterpret_cast<const std::optional<T>*>(in);
    } else {
      *reinterpret_cast<T*>(out) = *reinterpret_cast<const T*>(in);
    }
  });
}

bool isInteger(FieldKind kind) noexcept {
  return kind == FieldKind::Int32 || kind == FieldKind::Int64;
}

std::string_view nameOf(FieldKind kind) {
  constexpr std::string_view kNames[] = {"boolean",
                                         "32 bit integer",
                                         "64 bit integer",
                                         "number",
                                         "string",
                                         "bytes",
                                         "time",
                                         "time",
                                         "duration",
                                         "quantity",
                                         "integer or string",
                                         "raw value",
                                         "list of strings",
                                         "value",
                                         "message"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string describe(const FieldInfo& field) {
  const std::string_view kind =
      field.kind == FieldKind::Message ? field.type->name : nameOf(field.kind);
  switch (field.shape) {
    case Shape::List:
      return fmt::format("list of {}", kind);
    case Shape::Map:
      return fmt::format("map of {}", kind);
    case Shape::Plain:
    case Shape::Optional:
      break;
  }
  return std::string(kind);
}

// True if values of one field can be converted to the other, judging by these two fields alone.
bool isCompatible(const FieldInfo& from, const FieldInfo& to) noexcept {
  if ((holdsMany(from) || holdsMany(to)) && from.shape != to.shape) return false;
  if (from.kind == FieldKind::Message && to.kind == FieldKind::Message) {
    return from.type == to.type ||
           (from.type->form == to.type->form && from.type->form != JsonForm::Dynamic);
  }
  return from.kind == to.kind || (isInteger(from.kind) && isInteger(to.kind));
}

std::int64_t readInteger(FieldKind kind, const std::byte* at) noexcept {
  return kind == FieldKind::Int32 ? *reinterpret_cast<const std::int32_t*>(at)
                                  : *reinterpret_cast<const std::int64_t*>(at);
}

// The field of this name; most often the one at `guess`, because versions keep the order of fields.
const FieldInfo* findField(const TypeInfo& type, std::string_view name, std::size_t& guess) {
  for (std::size_t i = 0; i < type.fields.size(); ++i) {
    const std::size_t at = (guess + i) % type.fields.size();
    if (type.fields[at].name != name) continue;
    guess = at + 1;
    return &type.fields[at];
  }
  return nullptr;
}

// The paths that begin with `name`, without it.
std::vector<std::string_view> below(DefaultConversion::Names paths, std::string_view name) {
  std::vector<std::string_view> result;
  for (const std::string_view path : paths) {
    if (path.size() > name.size() && path[name.size()] == '.' && path.starts_with(name)) {
      result.push_back(path.substr(name.size() + 1));
    }
  }
  return result;
}

}  // namespace

void assignMessage(const TypeInfo& type, void* to, const void* from) {
  if (to == from) return;
  type.destroy(to);
  try {
    type.copy(to, from);
  } catch (...) {
    type.construct(to);
    throw;
  }
}

void DefaultConversion::message(const TypeInfo& from, const std::byte* in, const TypeInfo& to,
                                std::byte* out, Names handled) {
  std::size_t guess = 0;
  PathStep step(scope_.path_);
  for (const FieldInfo& source : from.fields) {
    if (std::ranges::find(handled, source.name) != handled.end()) continue;
    step.name(source.name);
    const std::byte* at = in + source.offset;
    if (const FieldInfo* target = findField(to, source.name, guess)) {
      field(source, at, *target, out + target->offset, below(handled, source.name));
    } else if (!lossy_ && !isUnset(source, at)) {
      scope_.fail(
          fmt::format("{} has no such field, and its value must not be lost: handle the field in a "
                      "conversion function, or register the pair as lossy",
                      to.name));
    }
  }
}

void DefaultConversion::field(const FieldInfo& from, const std::byte* in, const FieldInfo& to,
                              std::byte* out, Names handled) {
  if (from.shape == to.shape && from.kind == to.kind && from.type == to.type) {
    return copyField(from, in, out);
  }
  if (!isCompatible(from, to)) {
    if (lossy_ || isUnset(from, in)) return;
    scope_.fail(fmt::format("a {} does not convert to a {} without a conversion function",
                            describe(from), describe(to)));
  }
  if (holdsMany(from)) return elements(from, in, to, out, handled);
  single(from, in, to, out, handled);
}

void DefaultConversion::single(const FieldInfo& from, const std::byte* in, const FieldInfo& to,
                               std::byte* out, Names handled) {
  const std::byte* found = singleValue(from, in);
  // A plain zero is absent, except where JSON shows it.
  const bool absent = from.shape == Shape::Plain && to.shape == Shape::Optional && !from.keep() &&
                      isUnset(from, in);
  if (found == nullptr || absent) return clear(to, out);
  if (to.shape == Shape::Plain) return value(from, found, to, out, handled);
  if (to.kind != FieldKind::Message) {
    auto* slot = static_cast<std::byte*>(emplaceOptional(to.kind, out));
    return value(from, found, to, slot, handled);
  }
  BlockGuard fresh(makeMessage(*to.type), to.ops->drop);
  value(from, found, to, static_cast<std::byte*>(fresh.get()->payload()), handled);
  replaceBlock(to, out, fresh.release());
}

void DefaultConversion::elements(const FieldInfo& from, const std::byte* in, const FieldInfo& to,
                                 std::byte* out, Names handled) {
  const Block* source = heldAt(in);
  const std::size_t n = countOf(source);
  BlockGuard fresh(makeElements(to, n), to.ops->drop);
  PathStep step(scope_.path_);
  std::string_view key;
  for (std::size_t i = 0; i < n; ++i) {
    std::byte* element = elementOf(source, *from.ops, i);
    std::byte* slot = slotOf(fresh.get(), *to.ops, i);
    if (to.shape == Shape::List) {
      if (to.ops->boxed) boxOf(slot) = makeMessage(*to.type);
      step.item(i);
      value(from, element, to, elementOf(fresh.get(), *to.ops, i), handled);
    } else {
      key = keyOf(element);
      step.name(key);
      std::byte* entry = elementOf(fresh.get(), *to.ops, i);
      keyOf(entry) = keyOf(element);
      value(from, valueOf(element), to, valueOf(entry), handled);
    }
  }
  replaceBlock(to, out, fresh.release());
}

void DefaultConversion::value(const FieldInfo& from, const std::byte* in, const FieldInfo& to,
                              std::byte* out, Names handled) {
  if (from.kind == FieldKind::Message) {
    if (from.type == to.type) return assignMessage(*from.type, out, in);
    if (scope_.scheme_.convertPart(scope_, *from.type, in, *to.type, out)) return;
    const ConversionDepth deeper(scope_, scope_.depth_);
    return message(*from.type, in, *to.type, out, handled);
  }
  if (from.kind == to.kind) {
    withScalarType(from.kind, [&]<class T>() {
      *reinterpret_cast<T*>(out) = *reinterpret_cast<const T*>(in);
    });
    return;
  }
  const std::int64_t number = readInteger(from.kind, in);
  if (to.kind == FieldKind::Int64) {
    *reinterpret_cast<std::int64_t*>(out) = number;
    return;
  }
  if (number < std::numeric_limits<std::int32_t>::min() ||
      number > std::numeric_limits<std::int32_t>::max()) {
    scope_.fail(fmt::format("{} does not fit a 32 bit integer", number));
  }
  *reinterpret_cast<std::int32_t*>(out) = static_cast<std::int32_t>(number);
}

}  // namespace kube::detail
