#include "kube/meta/equality.h"

#include <algorithm>

#include "kube/meta/internal/elements.h"
#include "kube/meta/internal/optional_field.h"
#include "kube/meta/internal/presence.h"
#include "kube/meta/value.h"

namespace kube {
namespace detail {
namespace {

// True if a derivative does not compare this wanted value. Numbers and booleans are always
// compared.
template <class T>
bool asksNothing(const T&) {
  return false;
}
bool asksNothing(const String& text) { return text.empty(); }
bool asksNothing(const Bytes& bytes) { return bytes.empty(); }
bool asksNothing(const Time& time) { return !time; }
bool asksNothing(const MicroTime& time) { return !time; }
bool asksNothing(const Quantity& quantity) { return quantity.isUnset(); }
bool asksNothing(const RawExtension& raw) { return !raw; }

/// Compares a wanted value, on the left, with an actual one.
class Comparison {
 public:
  explicit Comparison(bool derivative) : derivative_(derivative) {}

  bool field(const FieldInfo& info, const std::byte* a, const std::byte* b) const {
    switch (info.shape) {
      case Shape::Plain:
        return element(info, a, b);
      case Shape::Optional:
        return info.kind == FieldKind::Message ? message(info, a, b) : optional(info, a, b);
      case Shape::List:
        return list(info, heldAt(a), heldAt(b));
      case Shape::Map:
        return map(info, heldAt(a), heldAt(b));
    }
    return false;
  }

  bool object(const TypeInfo& type, const std::byte* a, const std::byte* b) const {
    if (a == b) return true;
    if (type.form == JsonForm::Dynamic) {
      return value(*reinterpret_cast<const Value*>(a), *reinterpret_cast<const Value*>(b));
    }
    return std::ranges::all_of(type.fields, [&](const FieldInfo& info) {
      return field(info, a + info.offset, b + info.offset);
    });
  }

 private:
  bool message(const FieldInfo& info, const std::byte* left, const std::byte* right) const {
    const Block* a = messageAt(info, left);
    const Block* b = messageAt(info, right);
    if (a == b || (derivative_ && a == nullptr)) return true;
    if (a != nullptr && b != nullptr) return object(*info.type, payload(a), payload(b));
    if (!info.byValue()) return false;
    const AnyObject empty(*info.type);
    const auto orEmpty = [&](const Block* block) {
      return block != nullptr ? payload(block) : static_cast<const std::byte*>(empty.data());
    };
    return object(*info.type, orEmpty(a), orEmpty(b));
  }

  bool optional(const FieldInfo& info, const std::byte* left, const std::byte* right) const {
    const auto* a = static_cast<const std::byte*>(optionalValue(info.kind, left));
    const auto* b = static_cast<const std::byte*>(optionalValue(info.kind, right));
    if (a == nullptr) return derivative_ || b == nullptr;
    return b != nullptr && element(info, a, b);
  }

  /// True if lists of these sizes can match.
  bool sizesMatch(std::size_t a, std::size_t b) const { return derivative_ ? a <= b : a == b; }

  bool list(const FieldInfo& info, const Block* a, const Block* b) const {
    if (a == b) return true;
    const std::size_t count = countOf(a);
    if (!sizesMatch(count, countOf(b))) return false;
    for (std::size_t i = 0; i < count; ++i) {
      if (!element(info, elementOf(a, *info.ops, i), elementOf(b, *info.ops, i))) return false;
    }
    return true;
  }

  bool map(const FieldInfo& info, const Block* a, const Block* b) const {
    if (a == b) return true;
    if (info.kind == FieldKind::Value) {
      const auto objectOf = [](const Block* const& block) {
        return Value(*reinterpret_cast<const Value::Object*>(&block));
      };
      return value(objectOf(a), objectOf(b));
    }
    const std::size_t others = countOf(b);
    if (!sizesMatch(countOf(a), others)) return false;
    std::size_t k = 0;  // entries are in order of their keys
    for (std::size_t i = 0; i < countOf(a); ++i, ++k) {
      std::byte* entry = elementOf(a, *info.ops, i);
      while (k < others && keyOf(elementOf(b, *info.ops, k)) < keyOf(entry)) ++k;
      if (k == others) return false;
      std::byte* other = elementOf(b, *info.ops, k);
      if (keyOf(other) != keyOf(entry) || !element(info, valueOf(entry), valueOf(other))) {
        return false;
      }
    }
    return true;
  }

  bool element(const FieldInfo& info, const std::byte* a, const std::byte* b) const {
    switch (info.kind) {
      case FieldKind::Bool:
        return scalar<bool>(a, b);
      case FieldKind::Int32:
        return scalar<std::int32_t>(a, b);
      case FieldKind::Int64:
        return scalar<std::int64_t>(a, b);
      case FieldKind::Double:
        return scalar<double>(a, b);
      case FieldKind::String:
        return scalar<String>(a, b);
      case FieldKind::Bytes:
        return scalar<Bytes>(a, b);
      case FieldKind::Time:
        return scalar<Time>(a, b);
      case FieldKind::MicroTime:
        return scalar<MicroTime>(a, b);
      case FieldKind::Duration:
        return scalar<Duration>(a, b);
      case FieldKind::Quantity:
        return scalar<Quantity>(a, b);
      case FieldKind::IntOrString:
        return scalar<IntOrString>(a, b);
      case FieldKind::Raw:
        return scalar<RawExtension>(a, b);
      case FieldKind::Strings:
        return list(kAsField<List<String>>, heldAt(a), heldAt(b));
      case FieldKind::Value:
        return value(*reinterpret_cast<const Value*>(a), *reinterpret_cast<const Value*>(b));
      case FieldKind::Message:
        return object(*info.type, a, b);
    }
    return false;
  }

  template <class T>
  bool scalar(const std::byte* left, const std::byte* right) const {
    const T& a = *reinterpret_cast<const T*>(left);
    const T& b = *reinterpret_cast<const T*>(right);
    return (derivative_ && asksNothing(a)) || a == b;
  }

  bool value(const Value& a, const Value& b) const {
    if (!derivative_) return a == b;
    if (a.isNull()) return true;
    if (a.type() != b.type()) return false;
    switch (a.type()) {
      case Value::Type::String:
        return asksNothing(a.asString()) || a == b;
      case Value::Type::Array: {
        const Value::Array& wanted = a.asArray();
        const Value::Array& actual = b.asArray();
        if (wanted.sharesWith(actual)) return true;
        if (wanted.size() > actual.size()) return false;
        return std::equal(wanted.begin(), wanted.end(), actual.begin(),
                          [&](const Value& x, const Value& y) { return value(x, y); });
      }
      case Value::Type::Object: {
        const Value::Object& actual = b.asObject();
        if (a.asObject().sharesWith(actual)) return true;
        return std::ranges::all_of(a.asObject(), [&](const auto& entry) {
          const auto other = actual.find(entry.key);
          return other != actual.end() && value(entry.value, other->value);
        });
      }
      default:
        return a == b;
    }
  }

  static const std::byte* payload(const Block* block) {
    return static_cast<const std::byte*>(block->payload());
  }

  const bool derivative_;
};

bool compare(bool derivative, const FieldInfo& field, const void* a, const void* b) {
  return Comparison(derivative)
      .field(field, static_cast<const std::byte*>(a), static_cast<const std::byte*>(b));
}

bool compare(bool derivative, const AnyObject& a, const AnyObject& b) {
  return &a.type() == &b.type() && Comparison(derivative)
                                       .object(a.type(), static_cast<const std::byte*>(a.data()),
                                               static_cast<const std::byte*>(b.data()));
}

}  // namespace

bool semanticEqual(const FieldInfo& field, const void* a, const void* b) {
  return compare(false, field, a, b);
}
bool semanticDerivative(const FieldInfo& field, const void* wanted, const void* actual) {
  return compare(true, field, wanted, actual);
}

}  // namespace detail

bool semanticEqual(const AnyObject& a, const AnyObject& b) { return detail::compare(false, a, b); }
bool semanticDerivative(const AnyObject& wanted, const AnyObject& actual) {
  return detail::compare(true, wanted, actual);
}

}  // namespace kube
