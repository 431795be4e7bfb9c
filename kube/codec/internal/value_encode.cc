#include "kube/codec/internal/value_encode.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <memory>
#include <string>

#include "kube/base/error.h"
#include "kube/base/internal/base64.h"
#include "kube/codec/internal/decode_sites.h"
#include "kube/codec/internal/json_encode.h"
#include "kube/codec/internal/limits.h"
#include "kube/codec/json.h"
#include "kube/meta/internal/optional_field.h"

namespace kube::detail {

namespace {

constexpr FieldInfo kArray = makeField<List<Value>>("", 0, 0);
constexpr FieldInfo kObject = makeField<Map<Value>>("", 0, 0);

// The members of a struct, sorted by name as an object holds them.
struct MemberOrder {
  struct Member {
    String name;
    const FieldInfo* field;  // null: kind or apiVersion
  };
  MemberOrder(std::span<const FieldInfo> fields, bool named) : table(fields.data()), named(named) {
    for (const FieldInfo& field : fields) members.push_back({field.name, &field});
    if (named) {
      members.push_back({"apiVersion", nullptr});
      members.push_back({"kind", nullptr});
    }
    std::ranges::sort(members, {}, [](const Member& member) { return member.name.view(); });
  }

  const FieldInfo* table;
  bool named;
  std::vector<Member> members;
};

// Found by the address of the table, made on first use, and kept for good: there are as many as
// types. A slot is written once, so no thread waits for another.
const MemberOrder& orderOf(const TypeInfo& type, bool named,
                           std::unique_ptr<const MemberOrder>& scratch) {
  constexpr std::size_t kSlots = 1 << 13;
  constexpr std::size_t kProbes = 64;
  static std::array<std::atomic<const MemberOrder*>, kSlots> slots{};
  const FieldInfo* table = type.fields.data();
  const std::size_t hash =
      (reinterpret_cast<std::uintptr_t>(table) >> 4) * 0x9e3779b97f4a7c15 >> 32;
  std::unique_ptr<const MemberOrder> made;
  for (std::size_t i = 0; i < kProbes; ++i) {
    auto& slot = slots[(hash + i) % kSlots];
    const MemberOrder* known = slot.load(std::memory_order_acquire);
    if (known == nullptr) {
      if (!made) made = std::make_unique<const MemberOrder>(type.fields, named);
      if (slot.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) {
        return *made.release();
      }
    }
    if (known->table == table && known->named == named) return *known;
  }
  scratch = made ? std::move(made) : std::make_unique<const MemberOrder>(type.fields, named);
  return *scratch;
}

Value& slotValue(std::byte* at) { return *reinterpret_cast<Value*>(at); }

template <class T>
const T& as(const std::byte* at) {
  return *reinterpret_cast<const T*>(at);
}

template <class T>
Value timeValue(const T& time) {
  if (!time) return nullptr;
  std::string text;
  time.appendTo(text);
  return text;
}

// JSON does not tell 1.0 from 1, so whole numbers become integers.
Value doubleValue(double value) {
  if (!std::isfinite(value)) throw Error("json: infinity and NaN have no JSON form");
  constexpr double kPastInt64 = 9223372036854775808.0;
  const bool whole = value == std::trunc(value) && std::abs(value) < kPastInt64;
  if (whole && !(value == 0 && std::signbit(value))) return static_cast<std::int64_t>(value);
  return value;
}

Value rawValue(const RawExtension& raw) {
  if (raw.raw.empty()) return nullptr;
  try {
    return parseJson(raw.raw);
  } catch (const DecodeError&) {
    throw Error("json: an embedded raw value is not valid JSON");
  }
}

class Depth {
 public:
  explicit Depth(int& depth) : depth_(++depth) {
    // A raw value may be as deep as a whole text, and objects around it add to that.
    if (depth > 2 * static_cast<int>(kMaxDepth)) {
      --depth_;
      throw Error("json: nested too deeply");
    }
  }
  ~Depth() { --depth_; }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;

 private:
  int& depth_;
};

}  // namespace

Value ValueEncoder::object(const TypeInfo& type, const void* object) {
  const auto* at = static_cast<const std::byte*>(object);
  if (type.form == JsonForm::Object) return members(type, at, type.resource != nullptr);
  return message(type, at);
}

Value ValueEncoder::message(const TypeInfo& type, const std::byte* object) {
  if (type.form == JsonForm::Object) return members(type, object, false);
  if (type.form == JsonForm::Dynamic) return as<Value>(object);
  const FieldInfo& chosen = JsonEncoder::alternative(type, object);
  return field(chosen, object + chosen.offset);
}

Value ValueEncoder::members(const TypeInfo& type, const std::byte* object, bool named) {
  if (count_) count_();
  const Depth depth(depth_);
  std::unique_ptr<const MemberOrder> scratch;
  const MemberOrder& order = orderOf(type, named, scratch);
  const std::size_t first = shown_.size();
  for (std::size_t i = 0; i < order.members.size(); ++i) {
    const FieldInfo* info = order.members[i].field;
    if (info != nullptr && !JsonEncoder::shown(*info, object + info->offset)) continue;
    shown_.push_back(static_cast<std::uint16_t>(i));
  }
  const std::size_t count = shown_.size() - first;
  BlockGuard block(makeElements(kObject, count), kObject.ops->drop);
  for (std::size_t i = 0; i < count; ++i) {
    const MemberOrder::Member& member = order.members[shown_[first + i]];
    std::byte* entry = elementOf(block.get(), *kObject.ops, i);
    keyOf(entry) = member.name;
    Value& value = slotValue(valueOf(entry));
    if (member.field != nullptr) {
      value = field(*member.field, object + member.field->offset);
    } else if (member.name == "kind") {
      value = type.resource->kind;
    } else {
      value = type.resource->apiVersion();
    }
  }
  shown_.resize(first);
  return adopt<Value::Object>(block.release());
}

Value ValueEncoder::field(const FieldInfo& info, const std::byte* at) {
  switch (info.shape) {
    case Shape::Plain:
      break;
    case Shape::Optional:
      if (info.kind == FieldKind::Message) {
        const Block* block = as<Block*>(at);
        return element(info, static_cast<const std::byte*>(block->payload()));
      }
      return element(info, static_cast<const std::byte*>(optionalValue(info.kind, at)));
    case Shape::List:
      return list(info, as<Block*>(at));
    case Shape::Map:
      return map(info, as<Block*>(at));
  }
  return element(info, at);
}

Value ValueEncoder::list(const FieldInfo& info, const Block* from) {
  if (count_) count_();
  const std::size_t count = countOf(from);
  BlockGuard block(makeElements(kArray, count), kArray.ops->drop);
  for (std::size_t i = 0; i < count; ++i) {
    slotValue(elementOf(block.get(), *kArray.ops, i)) =
        element(info, elementOf(from, *info.ops, i));
  }
  return adopt<Value::Array>(block.release());
}

Value ValueEncoder::map(const FieldInfo& info, const Block* from) {
  if (count_) count_();
  if (info.kind == FieldKind::Value) return *reinterpret_cast<const Value::Object*>(&from);
  const std::size_t count = countOf(from);
  BlockGuard block(makeElements(kObject, count), kObject.ops->drop);
  for (std::size_t i = 0; i < count; ++i) {
    std::byte* source = elementOf(from, *info.ops, i);
    std::byte* entry = elementOf(block.get(), *kObject.ops, i);
    keyOf(entry) = keyOf(source);
    slotValue(valueOf(entry)) = element(info, valueOf(source));
  }
  return adopt<Value::Object>(block.release());
}

Value ValueEncoder::element(const FieldInfo& info, const std::byte* at) {
  switch (info.kind) {
    case FieldKind::Message:
      return message(*info.type, at);
    case FieldKind::Value:
      return as<Value>(at);
    case FieldKind::Raw:
      return rawValue(as<RawExtension>(at));
    case FieldKind::Strings: {
      Value::Array array;
      for (const String& text : as<Strings>(at)) array.push_back(text);
      return array;
    }
    default:
      if (count_) count_();
      return scalar(info, at);
  }
}

Value ValueEncoder::scalar(const FieldInfo& info, const std::byte* at) {
  switch (info.kind) {
    case FieldKind::Bool:
      return as<bool>(at);
    case FieldKind::Int32:
      return as<std::int32_t>(at);
    case FieldKind::Int64:
      return as<std::int64_t>(at);
    case FieldKind::Double:
      return doubleValue(as<double>(at));
    case FieldKind::String:
      return as<String>(at);
    case FieldKind::Bytes: {
      std::string text;
      base64Encode(as<Bytes>(at).view(), text);
      return text;
    }
    case FieldKind::Time:
      return timeValue(as<Time>(at));
    case FieldKind::MicroTime:
      return timeValue(as<MicroTime>(at));
    case FieldKind::Duration: {
      std::string text;
      as<Duration>(at).appendTo(text);
      return text;
    }
    case FieldKind::Quantity:
      return as<Quantity>(at).text();
    case FieldKind::IntOrString: {
      const auto& either = as<IntOrString>(at);
      if (either.isString()) return either.stringValue();
      return either.intValue();
    }
    default:
      return nullptr;
  }
}

}  // namespace kube::detail
