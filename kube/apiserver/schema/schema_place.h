// A position in a schema or an object. Its path is spelled only when an error is reported there.
//
//   void walk(const Value& value, const SchemaPlace& place) {
//     for (const auto& [key, member] : value.asObject()) walk(member, place.child(key));
//   }
//
// A place points to its parent and to its name, so both must outlive it, as they do on a stack.
//
// For source files of this folder.
#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "kube/meta/validation/field_error.h"

namespace kube::apiserver {

class SchemaPlace {
 public:
  SchemaPlace() = default;
  explicit SchemaPlace(std::string_view root) : name_(root), step_(Step::Child) {}

  SchemaPlace child(std::string_view name) const { return {*this, Step::Child, name, 0}; }
  SchemaPlace key(std::string_view name) const { return {*this, Step::Key, name, 0}; }
  SchemaPlace index(std::size_t i) const { return {*this, Step::Index, {}, i}; }
  /// A member of a map: like a child, but with a dot before the name even at the root.
  SchemaPlace entry(std::string_view name) const { return {*this, Step::Entry, name, 0}; }

  bool isRoot() const noexcept { return step_ == Step::Root; }

  /// "spec.peers[0]"
  std::string text() const {
    std::string out;
    append(out);
    return out;
  }
  ErrorPath path() const { return ErrorPath(text()); }

 private:
  enum class Step : unsigned char { Root, Child, Key, Index, Entry };

  SchemaPlace(const SchemaPlace& above, Step step, std::string_view name, std::size_t index)
      : above_(&above), name_(name), index_(index), step_(step) {}

  void append(std::string& out) const {
    if (above_ != nullptr) above_->append(out);
    switch (step_) {
      case Step::Root:
        return;
      case Step::Child:
        if (!out.empty()) out += '.';
        out += name_;
        return;
      case Step::Entry:
        out += '.';
        out += name_;
        return;
      case Step::Key:
        out.append("[").append(name_).append("]");
        return;
      case Step::Index:
        fmt::format_to(std::back_inserter(out), "[{}]", index_);
        return;
    }
  }

  const SchemaPlace* above_ = nullptr;
  std::string_view name_;
  std::size_t index_ = 0;
  Step step_ = Step::Root;
};

/// Collects errors, up to a limit.
class FoundErrors {
 public:
  bool full() const noexcept { return errors_.size() >= kMax || bytes_ >= kMaxBytes; }
  void add(FieldError error) {
    if (full()) return;
    bytes_ += sizeOf(error);
    errors_.push_back(std::move(error));
  }
  std::size_t size() const noexcept { return errors_.size(); }
  /// Drops the errors from the n-th on, which makes room for others.
  void forgetFrom(std::size_t n) {
    while (errors_.size() > n) {
      bytes_ -= sizeOf(errors_.back());
      errors_.pop_back();
    }
  }
  FieldErrors& list() noexcept { return errors_; }

 private:
  static constexpr std::size_t kMax = 1000;
  static constexpr std::size_t kMaxBytes = 4 << 20;

  static std::size_t sizeOf(const FieldError& error) noexcept {
    return error.field.size() + error.detail.size();
  }

  FieldErrors errors_;
  std::size_t bytes_ = 0;
};

}  // namespace kube::apiserver
