// Decodes JSON into described objects and dynamic values: the only walker of that direction.
//
// For source files of this folder; the public face is kube/codec/json.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/base/pool.h"
#include "kube/codec/internal/json_index.h"
#include "kube/meta/internal/path.h"
#include "kube/meta/type_info.h"
#include "kube/meta/value.h"

namespace kube::detail {

class JsonDecoder {
 public:
  using Token = JsonIndex::Token;
  using Site = Pool::Site;

  /// `problems`, if given, collects unknown and duplicate fields. Without `checkKinds`, objects may
  /// name another kind than that of their type.
  JsonDecoder(const JsonIndex& index, Pool* pool, std::vector<std::string>* problems,
              bool checkKinds = true)
      : index_(index), pool_(pool), problems_(problems), checkKinds_(checkKinds) {}

  /// Decodes the object at `token` into `object`, a default-constructed struct of that type, and
  /// returns the token behind it. Throws DecodeError; the object is then half-filled.
  Token message(const TypeInfo& type, void* object, Token token);
  Token value(Value& value, Token token);

 private:
  Token object(const TypeInfo& type, std::byte* object, Token token, Site* sites);
  Token specialForm(const TypeInfo& type, std::byte* object, Token token, Site* sites);
  Token field(const FieldInfo& field, std::byte* at, Token token, Site* site);
  Token scalar(FieldKind kind, const TypeInfo* type, void* at, Token token, Site* site);
  Block* container(const FieldInfo& field, Token token, Site* site);
  Block* list(const FieldInfo& field, Token token, Site* inside);
  Block* box(const FieldInfo& field, Token token, Site* site);
  Block* map(const FieldInfo& field, Token token, Site* inside);
  Block* shared(const FieldInfo& field, Token token, Site* inside);
  Token dynamic(Value& value, Token token, Site* site);
  template <class Make>
  Block* pooled(Token token, Site* site, const void* salt, Pool::Drop drop, Make make);

  Site* inside(const FieldInfo& field, Site* site);
  Site* siteOfKey(const String& key);
  bool isNull(Token token) const;
  void checkKind(const TypeInfo& type, std::string_view key, Token token);
  std::string_view text(Token token);
  String string(Token token, Site* site);
  std::int64_t integer(Token token, std::int64_t low, std::int64_t high) const;
  double number(Token token) const;
  bool boolean(Token token) const;
  std::string decodeBase64(Token token);
  std::size_t countItems(Token token) const;
  void problem(std::string_view what);

  [[noreturn]] void fail(Token token, std::string_view reason) const;
  [[noreturn]] void expected(Token token, std::string_view what) const;

  const JsonIndex& index_;
  Pool* pool_;
  std::vector<std::string>* problems_;
  bool checkKinds_;
  const PathFrame* path_ = nullptr;
  std::string scratch_;
};

}  // namespace kube::detail
