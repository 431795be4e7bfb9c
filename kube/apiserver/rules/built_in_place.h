// A position in an object that is checked, and the errors found there.
//
//   void checkPort(const corev1::ContainerPort& port, const Place& at) {
//     if (port.containerPort == 0) at("containerPort").required();
//     at("protocol").oneOf(port.protocol, {"SCTP", "TCP", "UDP"});
//   }
//
// A Place knows its parent and spells its path only when it reports an error, so checking a valid
// object costs next to nothing. It must not outlive its parent.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "kube/base/list.h"
#include "kube/base/string.h"
#include "kube/codec/unstructured.h"
#include "kube/meta/equality.h"
#include "kube/meta/quantity.h"
#include "kube/meta/validation/field_error.h"
#include "kube/meta/validation/object_validation.h"
#include "kube/meta/validation/validation.h"

namespace kube::apiserver::rules {

/// A value as messages show it. An empty value is shown as null, as it was most likely absent.
inline Value shown(const Quantity& value) { return Value(value.text()); }
inline Value shown(const IntOrString& value) {
  return value.isString() ? Value(value.stringValue()) : Value(value.intValue());
}
template <class T>
Value shown(const T& value) {
  if constexpr (Described<T>) {
    return toUnstructured(value).object;
  } else {
    return Value(value);
  }
}
template <class T>
Value shown(const Shared<T>& value) {
  return value ? shown(*value) : Value();
}
template <class T>
Value shown(const std::optional<T>& value) {
  return value ? shown(*value) : Value();
}
template <class T>
Value shown(const List<T>& values) {
  if (values.empty()) return {};
  Value::Array array;
  for (const T& value : values) array.push_back(shown(value));
  return array;
}
template <class V>
Value shown(const Map<V>& values) {
  if (values.empty()) return {};
  Value::Object object;
  for (const auto& [key, value] : values) object.insert_or_assign(key, shown(value));
  return object;
}

class Place {
 public:
  explicit Place(FieldErrors& errors, std::string_view name = {}) : errors_(errors), name_(name) {}
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  /// A field, or a nested one: "clientIP.timeoutSeconds".
  Place operator()(std::string_view name) const& { return Place(*this, name, Step::Child); }
  Place operator[](std::size_t index) const& { return Place(*this, index); }
  Place key(std::string_view key) const& { return Place(*this, key, Step::Key); }
  // Deleted for temporaries: the parent would be gone when the statement ends.
  Place operator()(std::string_view name) const&& = delete;
  Place operator[](std::size_t index) const&& = delete;
  Place key(std::string_view key) const&& = delete;

  ErrorPath path() const;

  void required(std::string_view detail = {}) const {
    errors_.push_back(FieldError::required(path(), detail));
  }
  void invalid(Value value, std::string_view detail) const {
    errors_.push_back(FieldError::invalid(path(), std::move(value), detail));
  }
  void forbidden(std::string_view detail) const {
    errors_.push_back(FieldError::forbidden(path(), detail));
  }
  void duplicate(Value value) const {
    errors_.push_back(FieldError::duplicate(path(), std::move(value)));
  }
  void notFound(Value value) const {
    errors_.push_back(FieldError::notFound(path(), std::move(value)));
  }
  void notSupported(std::string_view value,
                    std::initializer_list<std::string_view> supported) const {
    errors_.push_back(FieldError::notSupported(path(), value, supported));
  }
  void tooLong(std::int64_t maxBytes) const {
    errors_.push_back(FieldError::tooLong(path(), maxBytes));
  }
  void tooMany(std::size_t count, std::int64_t max) const {
    errors_.push_back(FieldError::tooMany(path(), static_cast<std::int64_t>(count), max));
  }
  void add(FieldErrors more) const { append(errors_, std::move(more)); }

  /// Checks of a value. Each reports its errors here and returns whether there were none.
  bool require(std::string_view value) const;
  /// The value must be one of these. An empty value is reported as missing.
  bool oneOf(std::string_view value, std::initializer_list<std::string_view> supported) const;
  /// The value must be one of these, or absent.
  bool oneOf(const std::optional<String>& value,
             std::initializer_list<std::string_view> supported) const {
    return !value || oneOfSupported(*value, supported);
  }
  bool oneOf(const String& value, std::initializer_list<std::string_view> supported) const {
    return oneOf(value.view(), supported);
  }
  /// The value must be one of these; an empty value is not.
  bool oneOfSupported(std::string_view value, std::span<const std::string_view> supported) const;
  bool oneOfSupported(std::string_view value,
                      std::initializer_list<std::string_view> supported) const {
    return oneOfSupported(value, std::span(supported.begin(), supported.size()));
  }
  bool nonNegative(std::int64_t value) const;
  bool nonNegative(const Quantity& value) const;
  bool positive(std::int64_t value) const;
  bool inRange(std::int64_t value, std::int64_t min, std::int64_t max) const;
  bool reasons(Value value, const validation::Reasons& reasons) const;
  /// Applies a rule of kube/meta/validation/validation.h.
  bool text(std::string_view value, validation::Reasons (*rule)(std::string_view)) const {
    const validation::Reasons why = rule(value);
    return why.empty() || reasons(value, why);
  }
  /// The same; an empty value is reported as missing.
  bool requiredText(std::string_view value, validation::Reasons (*rule)(std::string_view)) const {
    return require(value) && text(value, rule);
  }
  bool port(std::int64_t value) const { return reasons(value, validation::isValidPortNum(value)); }
  /// `field is immutable`
  template <class T>
  bool immutable(const T& next, const T& old) const {
    if (semanticEqual(next, old)) return true;
    invalid(shown(next), "field is immutable");
    return false;
  }

  FieldErrors& errors() const noexcept { return errors_; }

 private:
  enum class Step : std::uint8_t { Child, Index, Key };

  Place(const Place& parent, std::string_view name, Step step)
      : errors_(parent.errors_), parent_(&parent), name_(name), step_(step) {}
  Place(const Place& parent, std::size_t index)
      : errors_(parent.errors_), parent_(&parent), index_(index), step_(Step::Index) {}

  FieldErrors& errors_;
  const Place* parent_ = nullptr;
  std::string_view name_;
  std::size_t index_ = 0;
  Step step_ = Step::Child;
};

/// Calls `use(element, place)` for each element.
template <class T, class Use>
void forEach(const List<T>& list, const Place& at, Use use) {
  std::size_t i = 0;
  for (const T& element : list) use(element, at[i++]);
}

/// The values seen so far.
class Seen {
 public:
  /// Returns whether the value is new.
  bool insert(std::string_view value) { return values_.emplace(value).second; }
  bool has(std::string_view value) const { return values_.find(value) != values_.end(); }

 private:
  std::set<std::string, std::less<>> values_;
};

inline constexpr std::string_view kMustBeUnique = "must be unique";

}  // namespace kube::apiserver::rules
