#include "kube/meta/value.h"

#include <algorithm>
#include <memory>
#include <new>
#include <ostream>
#include <stdexcept>

namespace kube {

Value::Value(const Value& other) noexcept : type_(other.type_), made_(other.made_), int_(0) {
  switch (type_) {
    case Type::String:
      new (&string_) String(other.string_);
      break;
    case Type::Array:
      new (&array_) Array(other.array_);
      break;
    case Type::Object:
      new (&object_) Object(other.object_);
      break;
    case Type::Double:
      double_ = other.double_;
      break;
    default:
      int_ = other.int_;
  }
}

Value::Value(Value&& other) noexcept : type_(other.type_), made_(other.made_), int_(0) {
  switch (type_) {
    case Type::String:
      new (&string_) String(std::move(other.string_));
      break;
    case Type::Array:
      new (&array_) Array(std::move(other.array_));
      break;
    case Type::Object:
      new (&object_) Object(std::move(other.object_));
      break;
    case Type::Double:
      double_ = other.double_;
      break;
    default:
      int_ = other.int_;
  }
}

Value& Value::operator=(Value other) noexcept {
  std::destroy_at(this);
  return *new (this) Value(std::move(other));
}

Value::~Value() {
  switch (type_) {
    case Type::String:
      string_.~String();
      break;
    case Type::Array:
      array_.~Array();
      break;
    case Type::Object:
      object_.~Object();
      break;
    default:
      break;
  }
}

std::int64_t Value::asInt() const noexcept {
  if (isInt()) return int_;
  // Only doubles in range convert; the upper bound is the first double past int64.
  if (isDouble() && double_ > -9.3e18 && double_ >= -9223372036854775808.0 &&
      double_ < 9223372036854775808.0) {
    return static_cast<std::int64_t>(double_);
  }
  return 0;
}

double Value::asDouble() const noexcept {
  if (isDouble()) return double_;
  return isInt() ? static_cast<double>(int_) : 0;
}

const String& Value::asString() const noexcept {
  static const String none;
  return isString() ? string_ : none;
}

const Value::Array& Value::asArray() const noexcept {
  static const Array none;
  return isArray() ? array_ : none;
}

const Value::Object& Value::asObject() const noexcept {
  static const Object none;
  return isObject() ? object_ : none;
}

Value::Array& Value::array() {
  if (type_ != Type::Array) *this = Array();
  made_ = kNothing;
  return array_;
}

Value::Object& Value::object() {
  if (type_ != Type::Object) *this = Object();
  made_ = kNothing;
  return object_;
}

Value Value::placeholder() noexcept {
  Value value;
  value.made_ = kPlace;
  return value;
}

bool Value::isEmptyShell() const noexcept {
  if ((made_ & kShell) == 0) return false;
  if (type_ == Type::Object) return object_.empty();
  return type_ == Type::Array && sentCount(array_) == 0;
}

Value& Value::operator[](std::string_view key) {
  if (type_ != Type::Object) {
    const auto made = static_cast<std::uint8_t>(isNull() ? made_ | kShell : kNothing);
    *this = Object();
    made_ = made;
  }
  return object_[key];
}

Value& Value::operator[](std::size_t i) {
  if (i >= detail::kCountMask) throw std::out_of_range("kube::Value: no such index");
  if (type_ != Type::Array) {
    const auto made = static_cast<std::uint8_t>(isNull() ? made_ | kShell : kNothing);
    *this = Array();
    made_ = made;
  }
  while (array_.size() <= i) {
    Value element;
    element.made_ = kElement;
    array_.push_back(std::move(element));
  }
  return array_[i];
}

std::size_t sentCount(const Value::Array& array) noexcept {
  std::size_t count = array.size();
  while (count > 0 && (array[count - 1].made_ & Value::kElement) != 0 &&
         array[count - 1].isNull()) {
    --count;
  }
  return count;
}

bool operator==(const Value& a, const Value& b) noexcept {
  if (a.type() != b.type()) return false;
  switch (a.type()) {
    case Value::Type::Null:
      return true;
    case Value::Type::Double:
      return a.double_ == b.double_;
    case Value::Type::String:
      return a.string_ == b.string_;
    case Value::Type::Array: {
      if (a.array_.sharesWith(b.array_)) return true;
      const auto end = [](const Value::Array& array) {
        return array.begin() + static_cast<std::ptrdiff_t>(sentCount(array));
      };
      return std::equal(a.array_.begin(), end(a.array_), b.array_.begin(), end(b.array_));
    }
    case Value::Type::Object:
      return a.object_ == b.object_;
    default:
      return a.int_ == b.int_;
  }
}

std::string_view toString(Value::Type type) noexcept {
  static constexpr std::string_view kNames[] = {"null",   "boolean", "integer", "number",
                                                "string", "array",   "object"};
  return kNames[static_cast<std::size_t>(type)];
}

std::ostream& operator<<(std::ostream& out, Value::Type type) { return out << toString(type); }

}  // namespace kube
