// Described objects and dynamic values into JSON: the one walker of that direction.
//
// For source files of this folder; the public face is kube/codec/json.h.
#pragma once

#include <string>
#include <string_view>

#include "kube/meta/type_info.h"
#include "kube/meta/value.h"

namespace kube::detail {

class JsonEncoder {
 public:
  /// Appends to `out`. `indent` spaces a level, 0 for one line.
  JsonEncoder(std::string& out, int indent) : out_(out), indent_(indent) {}

  /// A kind shows its kind and apiVersion; parts of it do not.
  void object(const TypeInfo& type, const void* object);
  void value(const Value& value);
  void string(std::string_view text);

  /// Whether an object's JSON has this field, which is at `at`.
  static bool shown(const FieldInfo& field, const std::byte* at);
  /// The one field that is the whole JSON of a struct with one of the Schema forms.
  static const FieldInfo& alternative(const TypeInfo& type, const std::byte* object);

 private:
  void fields(const TypeInfo& type, const std::byte* object);
  void specialForm(const TypeInfo& type, const std::byte* object);
  void field(const FieldInfo& field, const std::byte* at);
  void element(const FieldInfo& field, const std::byte* at);
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
  void newline();

  std::string& out_;
  int indent_;
  int depth_ = 0;
  bool first_ = true;
};

}  // namespace kube::detail
