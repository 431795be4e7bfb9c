// Errors of an object, field by field, in the form in which an API server reports them.
//
//   FieldErrors errors;
//   const ErrorPath spec("spec");
//   if (network.spec->cidr.empty()) errors.push_back(FieldError::required(spec.child("cidr")));
//   if (network.spec->mtu < 68) {
//     errors.push_back(FieldError::invalid(spec.child("mtu"), network.spec->mtu,
//                                          "must be 68 or more"));
//   }
//   throwIfAny(errors);   // spec.cidr: Required value
//
// The printed forms are those of apimachinery's field package. kube/meta/validation/validation.h
// and object_validation.h have checks that all objects share.
//
// Thread safety: as any C++ value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/error.h"
#include "kube/meta/v1.h"
#include "kube/meta/value.h"

namespace kube {

/// A position in an object: "spec.containers[0].env[HOME]". Built from the outside in; every step
/// returns a new path. A path without steps prints as "<nil>", as upstream's does.
class ErrorPath {
 public:
  ErrorPath() = default;
  explicit ErrorPath(std::string_view root) : text_(root) {}

  ErrorPath child(std::string_view name) const;
  ErrorPath index(std::size_t i) const;
  /// Adds an entry of a map.
  ErrorPath key(std::string_view key) const;

  bool empty() const noexcept { return text_.empty(); }
  std::string str() const { return empty() ? "<nil>" : text_; }

  bool operator==(const ErrorPath&) const = default;

 private:
  std::string text_;
};

struct FieldError {
  enum class Type : std::uint8_t {
    Invalid,
    Required,
    Duplicate,
    NotFound,
    NotSupported,
    Forbidden,
    TooLong,
    TooShort,
    TooMany,
    TooFew,
    TypeInvalid,
    Internal,
  };

  Type type = Type::Invalid;
  std::string field = {};
  Value badValue = {};  // null if none was given
  std::string detail = {};

  static FieldError invalid(const ErrorPath& path, Value value, std::string_view detail);
  /// The value is not of the field's type.
  static FieldError typeInvalid(const ErrorPath& path, Value value, std::string_view detail);
  static FieldError required(const ErrorPath& path, std::string_view detail = {});
  static FieldError duplicate(const ErrorPath& path, Value value);
  static FieldError notFound(const ErrorPath& path, Value value);
  static FieldError notSupported(const ErrorPath& path, Value value,
                                 std::span<const std::string_view> supported);
  static FieldError notSupported(const ErrorPath& path, Value value,
                                 std::initializer_list<std::string_view> supported);
  static FieldError forbidden(const ErrorPath& path, std::string_view detail);
  /// A limit below 0 is left out of the message.
  static FieldError tooLong(const ErrorPath& path, std::int64_t maxBytes);
  static FieldError tooLongCharacters(const ErrorPath& path, std::int64_t maxCharacters);
  static FieldError tooShort(const ErrorPath& path, Value value, std::int64_t minCharacters);
  /// The same holds for a count below 0.
  static FieldError tooMany(const ErrorPath& path, std::int64_t count, std::int64_t max);
  static FieldError tooFew(const ErrorPath& path, std::int64_t count, std::int64_t min);
  /// An error that is not the sender's fault.
  static FieldError internal(const ErrorPath& path, std::string_view detail);

  /// `metadata.name: Invalid value: "A": must be lower case`
  std::string str() const;
  /// The same without the field.
  std::string body() const;
  /// The error as an entry of a Status.
  metav1::StatusCause cause() const;

  bool operator==(const FieldError&) const = default;
};

/// "Invalid value", "Required value", ...
std::string_view toString(FieldError::Type type) noexcept;
/// "FieldValueInvalid", "FieldValueRequired", ...: the reason of a StatusCause.
std::string_view causeReason(FieldError::Type type) noexcept;

using FieldErrors = std::vector<FieldError>;

/// A single error as it is; several as "[a, b]", without repeats; "" for none.
std::string toString(const FieldErrors& errors);

/// An object, or a part of it, is invalid.
class ValidationError : public Error {
 public:
  explicit ValidationError(FieldErrors errors);
  ~ValidationError() override;

  const FieldErrors& errors() const noexcept { return *errors_; }

 private:
  std::shared_ptr<const FieldErrors> errors_;  // shared, so that copying cannot throw
};

/// Throws ValidationError if there are errors.
void throwIfAny(const FieldErrors& errors);

/// Appends `more` to `errors`.
void append(FieldErrors& errors, FieldErrors more);

std::ostream& operator<<(std::ostream& out, const ErrorPath& path);
std::ostream& operator<<(std::ostream& out, const FieldError& error);

}  // namespace kube
