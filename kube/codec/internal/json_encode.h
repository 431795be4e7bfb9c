// Encodes described objects and dynamic values as JSON: the only walker of that direction.
//
// For source files of this folder; the public face is kube/codec/json.h.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "kube/codec/apply/field_set.h"
#include "kube/codec/internal/copy_bytes.h"
#include "kube/codec/internal/encoded_parts.h"
#include "kube/meta/type_info.h"
#include "kube/meta/value.h"

namespace kube::detail {

class JsonEncoder {
 public:
  /// Appends to `out`; at the end of each call, everything is in there. `indent` spaces a level, 0
  /// for one line. With `known`, all encoded objects must stay alive and unchanged, and shared
  /// parts are walked once. `known` is used on one line only, where a part looks the same at every
  /// place.
  JsonEncoder(std::string& out, int indent, EncodedParts* known = nullptr)
      : out_(out), indent_(indent), known_(indent == 0 ? known : nullptr) {}

  /// Writes an object. A kind includes its kind and apiVersion; parts of it do not.
  void object(const TypeInfo& type, const void* object);
  /// Writes only fields that differ from a new object, and the zeros of `zeros` that the object can
  /// show: the form that server-side apply sends.
  void sparse(const TypeInfo& type, const void* object, const FieldSet& zeros);
  void value(const Value& value);
  void string(std::string_view text);

  /// True if an object's JSON has this field, whose value is at `at`.
  static bool shown(const FieldInfo& field, const std::byte* at);
  /// The one field that is the whole JSON of a struct with one of the Schema forms.
  static const FieldInfo& alternative(const TypeInfo& type, const std::byte* object);

 private:
  void whole(const TypeInfo& type, const std::byte* object);
  void fields(const TypeInfo& type, const std::byte* object);
  void sparseField(const FieldInfo& field, const std::byte* at);
  void sparseElement(const FieldInfo& list, std::size_t i, const std::byte* at);
  void specialForm(const TypeInfo& type, const std::byte* object);
  void field(const FieldInfo& field, const std::byte* at);
  // Writes a list, a map, a message or raw text, which may be shared. Null: an empty list or map.
  void part(const FieldInfo& field, const Block* block);
  void contents(const FieldInfo& field, const Block* block);
  void element(const FieldInfo& field, const std::byte* at);
  void any(const Value& value);
  void text(std::string_view text);
  void escaped(std::string_view text);
  void raw(std::string_view json);
  void rawTokens(const class JsonIndex& index, std::uint32_t token);
  template <class T>
  void time(const T& time);
  void number(double value);
  void integer(std::int64_t value);

  void open(char bracket);
  void close(char bracket);
  void item();
  void key(std::string_view name);
  void fieldKey(std::string_view name);
  void newline();

  // Most pieces of output are short, and cheaper to collect in a buffer of this object.
  void put(char c) {
    if (used_ == buffer_.size()) flush();
    buffer_[used_++] = c;
  }
  void put(std::string_view bytes) {
    if (bytes.size() > buffer_.size() - used_) return putMore(bytes);
    copyBytes(buffer_.data() + used_, bytes.data(), bytes.size());
    used_ += bytes.size();
  }
  void putMore(std::string_view bytes);
  void flush() {
    out_.append(buffer_.data(), used_);
    used_ = 0;
  }

  std::string& out_;
  std::array<char, 2048> buffer_;
  std::size_t used_ = 0;
  int indent_;
  EncodedParts* known_;
  int depth_ = 0;
  bool first_ = true;
  bool sparse_ = false;
  const FieldSet* zeros_ = nullptr;  // when sparse: the zeros below the current place, or null
};

/// The step by which server-side apply identifies a list's element: its keys or, if it has none,
/// its index.
PathElement elementStep(const FieldInfo& list, std::size_t i, const std::byte* element);

}  // namespace kube::detail
