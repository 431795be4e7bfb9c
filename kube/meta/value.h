// Any JSON value, 16 bytes: null, bool, int64, double, string, array or object.
//
// Integers that fit are kept exactly as int64, other numbers as double. Arrays and objects share
// memory (see kube::List and kube::Map); object keys are sorted. Reading never fails: the wrong
// type or a missing key reads as null, false, 0 or empty; test with `is...` first.
//
//   Value v = Value::Object{{"a", 1}, {"b", Value::Array{true, nullptr}}};
//   v["b"][0].asBool();   v["spec"]["replicas"] = 3;   // the non-const [] creates
//
// A value that the non-const [] made, and that nothing was assigned to, counts as missing: it reads
// as null, and encoders, comparisons and iterations omit it. So reading through [] changes nothing;
// assigning null does. A copy of a missing value is missing, too.
//
// Thread safety: as any C++ value; shared parts may be used on any thread.
#pragma once

#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <string_view>

#include "kube/base/list.h"
#include "kube/base/map.h"
#include "kube/base/string.h"

namespace kube {

class Value {
 public:
  enum class Type : std::uint8_t { Null, Bool, Int, Double, String, Array, Object };
  using Array = List<Value>;
  using Object = Map<Value>;

  Value() noexcept : int_(0) {}
  Value(std::nullptr_t) noexcept : int_(0) {}  // NOLINT: all conversions in are implicit
  Value(std::same_as<bool> auto value) noexcept : type_(Type::Bool), int_(value) {}
  template <std::integral I>
  requires(!std::same_as<I, bool>) Value(I value)
  noexcept : type_(Type::Int), int_(static_cast<std::int64_t>(value)) {
    if constexpr (std::unsigned_integral<I> && sizeof(I) == sizeof(int_)) {
      if (int_ < 0) {  // past int64
        type_ = Type::Double;
        double_ = static_cast<double>(value);
      }
    }
  }
  Value(double value) noexcept : type_(Type::Double), double_(value) {}
  Value(String value) noexcept : type_(Type::String), string_(std::move(value)) {}
  Value(std::string_view value) : Value(String(value)) {}
  Value(const char* value) : Value(String(value)) {}
  Value(const std::string& value) : Value(String(value)) {}
  Value(Array value) noexcept : type_(Type::Array), array_(std::move(value)) {}
  Value(Object value) noexcept : type_(Type::Object), object_(std::move(value)) {}
  Value(const Value& other) noexcept;
  Value(Value&& other) noexcept;
  Value& operator=(Value other) noexcept;
  ~Value();

  Type type() const noexcept { return made_ != kNothing && isEmptyShell() ? Type::Null : type_; }
  bool isNull() const noexcept { return type() == Type::Null; }
  bool isBool() const noexcept { return type_ == Type::Bool; }
  bool isInt() const noexcept { return type_ == Type::Int; }
  bool isDouble() const noexcept { return type_ == Type::Double; }
  bool isNumber() const noexcept { return isInt() || isDouble(); }
  bool isString() const noexcept { return type_ == Type::String; }
  bool isArray() const noexcept { return type() == Type::Array; }
  bool isObject() const noexcept { return type() == Type::Object; }

  bool asBool() const noexcept { return isBool() && int_ != 0; }
  std::int64_t asInt() const noexcept;
  double asDouble() const noexcept;
  const String& asString() const noexcept;
  const Array& asArray() const noexcept;
  const Object& asObject() const noexcept;

  /// For writing: a value of another type first becomes an empty one of this type.
  Array& array();
  Object& object();

  /// A member or element; null if there is none. The non-const forms make it, and throw
  /// std::out_of_range for a negative index. They turn a value of another type into an object or
  /// array.
  const Value& operator[](std::string_view key) const noexcept { return asObject()[key]; }
  const Value& operator[](std::size_t i) const noexcept { return asArray()[i]; }
  Value& operator[](std::string_view key);
  Value& operator[](std::size_t i);
  // Without these, literals and other integers would be ambiguous between the two.
  const Value& operator[](const char* key) const noexcept { return asObject()[key]; }
  Value& operator[](const char* key) { return (*this)[std::string_view(key)]; }
  template <std::integral I>
  requires(!std::same_as<I, bool>) const Value& operator[](I i) const noexcept {
    return asArray()[static_cast<std::size_t>(i)];
  }
  template <std::integral I>
  requires(!std::same_as<I, bool>) Value& operator[](I i) {
    return (*this)[static_cast<std::size_t>(i)];
  }

  /// An integer and a double differ even if numerically equal, as they do in JSON text.
  friend bool operator==(const Value& a, const Value& b) noexcept;

  /// For maps: an entry that [] made and that nothing was assigned to.
  static Value placeholder() noexcept;
  bool isPlaceholder() const noexcept { return (made_ & kPlace) != 0 && isNull(); }

 private:
  // Marks for values that [] made and no assignment has replaced: a member of an object, an element
  // at the end of an array, and an object or array that was null.
  enum Made : std::uint8_t { kNothing = 0, kPlace = 1, kElement = 2, kShell = 4 };
  friend std::size_t sentCount(const Value::Array& array) noexcept;

  bool isEmptyShell() const noexcept;

  Type type_ = Type::Null;
  std::uint8_t made_ = kNothing;
  union {
    std::int64_t int_;
    double double_;
    String string_;
    Array array_;
    Object object_;
  };
};

/// The number of elements, without those at the end that [] made and nothing was assigned to.
std::size_t sentCount(const Value::Array& array) noexcept;

std::string_view toString(Value::Type type) noexcept;
std::ostream& operator<<(std::ostream& out, Value::Type type);

}  // namespace kube
