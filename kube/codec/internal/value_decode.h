// Decodes dynamic values into described objects: the only walker of that direction.
//
// The rules and the errors are those of JsonDecoder, as if the value were JSON text. Strings are
// shared with the value. For source files of this folder; the public face is
// kube/codec/unstructured.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/pool.h"
#include "kube/meta/internal/path.h"
#include "kube/meta/type_info.h"
#include "kube/meta/value.h"

namespace kube::detail {

class ValueDecoder {
 public:
  /// `problems`, if given, collects unknown fields. Without `checkKinds`, objects may name another
  /// kind than that of their type. A pool makes equal strings share memory.
  ValueDecoder(Pool* pool, std::vector<std::string>* problems, bool checkKinds)
      : pool_(pool), problems_(problems), checkKinds_(checkKinds) {}

  /// Decodes into a default-constructed struct of that type. Throws DecodeError with the path only;
  /// the object is then half-filled.
  void object(const TypeInfo& type, std::byte* object, const Value& value);

 private:
  void specialForm(const TypeInfo& type, std::byte* object, const Value& value);
  void field(const FieldInfo& field, std::byte* at, const Value& value);
  void scalar(FieldKind kind, const TypeInfo* type, void* at, const Value& value);
  Block* container(const FieldInfo& field, const Value& value);
  Block* list(const FieldInfo& field, const Value::Array& items);
  Block* map(const FieldInfo& field, const Value::Object& members);
  Block* message(const TypeInfo& type, void (*drop)(Block*) noexcept, const Value& value);

  void checkKind(const TypeInfo& type, std::string_view key, const Value& value);
  String string(const Value& value);
  std::int64_t integer(const Value& value, std::int64_t low, std::int64_t high) const;
  std::string number(const Value& value) const;

  [[noreturn]] void fail(std::string_view reason) const;
  [[noreturn]] void expected(std::string_view what, const Value& found) const;

  Pool* pool_;
  std::vector<std::string>* problems_;
  bool checkKinds_;
  const PathFrame* path_ = nullptr;
  std::uint32_t depth_ = 0;
};

}  // namespace kube::detail
