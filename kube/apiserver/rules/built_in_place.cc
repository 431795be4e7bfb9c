#include "kube/apiserver/rules/built_in_place.h"

#include <fmt/core.h>

#include <algorithm>

namespace kube::apiserver::rules {

ErrorPath Place::path() const {
  if (parent_ == nullptr) return ErrorPath(name_);
  switch (step_) {
    case Step::Child:
      return parent_->path().child(name_);
    case Step::Index:
      return parent_->path().index(index_);
    case Step::Key:
      break;
  }
  return parent_->path().key(name_);
}

bool Place::require(std::string_view value) const {
  if (!value.empty()) return true;
  required();
  return false;
}

bool Place::oneOf(std::string_view value, std::initializer_list<std::string_view> supported) const {
  return require(value) && oneOfSupported(value, supported);
}

bool Place::oneOfSupported(std::string_view value,
                           std::span<const std::string_view> supported) const {
  if (std::find(supported.begin(), supported.end(), value) != supported.end()) return true;
  errors_.push_back(FieldError::notSupported(path(), value, supported));
  return false;
}

bool Place::nonNegative(std::int64_t value) const {
  if (value >= 0) return true;
  invalid(value, "must be greater than or equal to 0");
  return false;
}

bool Place::nonNegative(const Quantity& value) const {
  if (value.sign() >= 0) return true;
  invalid(value.text(), "must be greater than or equal to 0");
  return false;
}

bool Place::positive(std::int64_t value) const {
  if (value > 0) return true;
  invalid(value, "must be greater than zero");
  return false;
}

bool Place::inRange(std::int64_t value, std::int64_t min, std::int64_t max) const {
  if (value >= min && value <= max) return true;
  invalid(value, fmt::format("must be between {} and {}, inclusive", min, max));
  return false;
}

bool Place::reasons(Value value, const validation::Reasons& reasons) const {
  for (const std::string& reason : reasons) invalid(value, reason);
  return reasons.empty();
}

}  // namespace kube::apiserver::rules
