#include "kube/codec/internal/json_decode.h"

#include <charconv>
#include <limits>
#include <unordered_set>

#include "kube/base/error.h"
#include "kube/base/internal/base64.h"
#include "kube/base/internal/hash.h"
#include "kube/base/internal/text.h"
#include "kube/codec/internal/decode_sites.h"
#include "kube/codec/internal/float_text.h"
#include "kube/meta/internal/optional_field.h"

namespace kube::detail {

void JsonDecoder::fail(Token token, std::string_view reason) const {
  index_.fail(token, reason, pathOf(path_));
}

void JsonDecoder::expected(Token token, std::string_view what) const {
  std::string_view found;
  switch (index_.at(token)) {
    case '{':
      found = "an object";
      break;
    case '[':
      found = "an array";
      break;
    case '"':
      found = "a string";
      break;
    case 't':
    case 'f':
      found = "a boolean";
      break;
    case 'n':
      found = "null";
      break;
    case '-':
      found = "a number";
      break;
    case '\0':
      found = "the end";
      break;
    default:
      found = isDigit(index_.at(token)) ? "a number" : "something else";
  }
  fail(token, std::string("expected ").append(what).append(", found ").append(found));
}

void JsonDecoder::problem(std::string_view what) {
  problems_->push_back(std::string(what).append(" \"").append(pathOf(path_)).append("\""));
}

bool JsonDecoder::isNull(Token token) const {
  return index_.at(token) == 'n' && index_.scalar(token) == "null";
}

std::string_view JsonDecoder::text(Token token) {
  if (index_.at(token) != '"') expected(token, "a string");
  return index_.string(token, scratch_);
}

String JsonDecoder::string(Token token, Site* site) {
  const std::string_view content = text(token);
  return site != nullptr ? pool_->string(content, *site) : String(content);
}

std::int64_t JsonDecoder::integer(Token token, std::int64_t low, std::int64_t high) const {
  const char first = index_.at(token);
  if (first != '-' && (first < '0' || first > '9')) expected(token, "a number");
  const std::string_view digits = index_.scalar(token);
  bool isInteger = false;
  if (!isJsonNumber(digits, isInteger)) fail(token, "malformed number");
  if (!isInteger) fail(token, "expected a whole number, found " + std::string(digits));
  std::int64_t result = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result);
  if (error != std::errc() || result < low || result > high) {
    fail(token, "number out of range: " + std::string(digits.substr(0, 40)));
  }
  return result;
}

double JsonDecoder::number(Token token) const {
  const char first = index_.at(token);
  if (first != '-' && (first < '0' || first > '9')) expected(token, "a number");
  const std::string_view digits = index_.scalar(token);
  bool isInteger = false;
  if (!isJsonNumber(digits, isInteger)) fail(token, "malformed number");
  double result = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result);
  // from_chars also fails for numbers that are too small; they become 0.
  if (error != std::errc() && !isBelowOne(digits)) {
    fail(token, "number out of range: " + std::string(digits.substr(0, 40)));
  }
  return result;
}

bool JsonDecoder::boolean(Token token) const {
  const char first = index_.at(token);
  if (first == 't' && index_.scalar(token) == "true") return true;
  if (first == 'f' && index_.scalar(token) == "false") return false;
  expected(token, "a boolean");
}

std::string JsonDecoder::decodeBase64(Token token) {
  std::string bytes;
  if (!base64Decode(text(token), bytes)) fail(token, "expected base64 text");
  return bytes;
}

std::size_t JsonDecoder::countItems(Token token) const {
  const Token end = index_.close(token);
  std::size_t count = 0;
  const bool members = index_.at(token) == '{';
  for (Token next = token + 1; next < end;) {
    next = index_.after(members ? next + 2 : next) + 1;
    ++count;
  }
  return count;
}

JsonDecoder::Site* JsonDecoder::inside(const FieldInfo& info, Site* site) {
  return sitesInside(pool_, info, site);
}

// Returns the pool's block for the text of the value at `token`, or the block that `make` makes.
// `salt` stands for the C++ type of the block. A decoder that notes problems uses only blocks
// without problems. They are stored under a hash of their own, since other decoders ignore
// problems.
template <class Make>
Block* JsonDecoder::pooled(Token token, Site* site, const void* salt, Pool::Drop drop, Make make) {
  if (site == nullptr) return make();
  const bool strict = problems_ != nullptr;
  const std::string_view bytes = index_.rawValue(token);
  if (!strict) {
    if (Block* last = pool_->again(bytes, *site)) return last;
  }
  if (!site->open()) return make();
  Pool::Hash hash = hash128(bytes, salt);
  if (strict) hash[1] = ~hash[1];
  Block* block = strict ? pool_->find(hash, bytes) : pool_->find(hash, bytes, *site);
  if (block != nullptr) return block;
  const std::size_t before = strict ? problems_->size() : 0;
  block = make();
  const bool sound = !strict || problems_->size() == before;
  if (block != nullptr && sound) pool_->insert(hash, block, drop);
  return block;
}

JsonDecoder::Token JsonDecoder::message(const TypeInfo& type, void* target, Token token) {
  // JSON has sites of its own: in protobuf, the same bytes mean something else.
  Site* sites = pool_ != nullptr ? pool_->sites(&type.form, type.fields.size()) : nullptr;
  return object(type, static_cast<std::byte*>(target), token, sites);
}

// kind and apiVersion are not stored, since the C++ type implies them. The text must agree with it.
void JsonDecoder::checkKind(const TypeInfo& type, std::string_view key, Token token) {
  if (isNull(token)) return;
  const std::string_view found = text(token);
  if (found.empty() || !checkKinds_) return;
  const ResourceInfo& resource = *type.resource;
  const std::string wanted = key == "kind" ? std::string(resource.kind) : resource.apiVersion();
  // Options and Status are served under every group-version.
  if (found == wanted || (key == "apiVersion" && resource.unversioned)) return;
  fail(token, "expected " + std::string(key) + " \"" + wanted + "\", found \"" +
                  std::string(found.substr(0, 80)) + "\"");
}

JsonDecoder::Token JsonDecoder::object(const TypeInfo& type, std::byte* target, Token token,
                                       Site* sites) {
  if (type.form != JsonForm::Object) return specialForm(type, target, token, sites);
  if (index_.at(token) != '{') expected(token, "an object");
  const Token end = index_.close(token);
  const auto fields = type.fields;
  std::vector<bool> seen;
  std::string keyScratch;
  std::string_view key;
  // At the root, a type without a kind may still have one: a Scheme may have registered it as a
  // kind.
  const bool isKind = type.resource != nullptr || (path_ == nullptr && !checkKinds_);
  PathStep step(path_);

  std::size_t guess = 0;  // upstream writes fields in the table's order, so the next one is near
  Token next = token + 1;
  if (next == end) return end + 1;
  for (;;) {
    step.noName();
    if (index_.at(next) != '"') fail(next, "expected a field name in quotes");
    key = index_.rawString(next);
    if (index_.at(next + 1) != ':') fail(next + 1, "expected ':' after a field name");
    const Token value = next + 2;

    std::size_t found = fields.size();
    for (std::size_t i = 0, at = guess; i < fields.size(); ++i, ++at) {
      if (at == fields.size()) at = 0;
      if (fields[at].name == key) {
        found = at;
        break;
      }
    }
    if (found == fields.size() && key.find('\\') != std::string_view::npos) {
      key = index_.string(next, keyScratch);
      for (found = 0; found < fields.size() && fields[found].name != key;) ++found;
    }

    if (found < fields.size()) {
      guess = found + 1 == fields.size() ? 0 : found + 1;
      const FieldInfo& info = fields[found];
      step.name(info.name);
      if (problems_ != nullptr) {
        seen.resize(fields.size() + 2);
        if (seen[found]) problem("duplicate field");
        seen[found] = true;
      }
      next = field(info, target + info.offset, value, sites != nullptr ? sites + found : nullptr);
    } else if (isKind && (key == "kind" || key == "apiVersion")) {
      step.name(key);
      if (problems_ != nullptr) {
        seen.resize(fields.size() + 2);
        auto known = seen[fields.size() + (key == "kind" ? 1 : 0)];
        if (known) problem("duplicate field");
        known = true;
      }
      checkKind(type, key, value);
      next = index_.check(value);
    } else {
      step.name(key);
      if (problems_ != nullptr) problem("unknown field");
      next = index_.check(value);
    }
    if (next == end) return end + 1;
    if (index_.at(next) != ',') {
      step.noName();
      fail(next, "expected ',' or '}'");
    }
    ++next;
  }
}

// Decodes a dynamic object, or one of the three schema types of CustomResourceDefinitions whose
// JSON has one of two shapes. Their tables hold the schema in one field and the alternative in the
// other.
JsonDecoder::Token JsonDecoder::specialForm(const TypeInfo& type, std::byte* target, Token token,
                                            Site* sites) {
  if (type.form == JsonForm::Dynamic) {
    if (index_.at(token) != '{') expected(token, "an object");
    return dynamic(*reinterpret_cast<Value*>(target), token, nullptr);
  }
  const bool isSchema = index_.at(token) == '{';
  for (std::size_t i = 0; i < type.fields.size(); ++i) {
    const FieldInfo& info = type.fields[i];
    const bool schemaField = info.kind == FieldKind::Message && info.shape == Shape::Optional;
    if (type.form == JsonForm::SchemaOrBool && !schemaField && isSchema) {
      *reinterpret_cast<bool*>(target + info.offset) = true;  // as upstream's decoder does
    }
    if (schemaField != isSchema) continue;
    return field(info, target + info.offset, token, sites != nullptr ? sites + i : nullptr);
  }
  expected(token, "a schema");
}

JsonDecoder::Token JsonDecoder::field(const FieldInfo& info, std::byte* at, Token token,
                                      Site* site) {
  if (isNull(token)) return token + 1;
  const bool handle = info.shape == Shape::List || info.shape == Shape::Map ||
                      (info.shape == Shape::Optional && info.kind == FieldKind::Message);
  if (handle) {
    auto** block = reinterpret_cast<Block**>(at);
    Block* fresh = container(info, token, site);
    if (*block != nullptr) info.ops->drop(*block);  // a duplicate field: the last one counts
    *block = fresh;
    return index_.after(token);
  }
  if (info.shape == Shape::Optional) {
    return scalar(info.kind, nullptr, emplaceOptional(info.kind, at), token, site);
  }
  if (info.kind == FieldKind::Message) {
    return object(*info.type, at, token, inside(info, site));
  }
  return scalar(info.kind, info.type, at, token, site);
}

JsonDecoder::Token JsonDecoder::scalar(FieldKind kind, const TypeInfo* type, void* at, Token token,
                                       Site* site) {
  switch (kind) {
    case FieldKind::Bool:
      *static_cast<bool*>(at) = boolean(token);
      break;
    case FieldKind::Int32:
      *static_cast<std::int32_t*>(at) =
          static_cast<std::int32_t>(integer(token, std::numeric_limits<std::int32_t>::min(),
                                            std::numeric_limits<std::int32_t>::max()));
      break;
    case FieldKind::Int64:
      *static_cast<std::int64_t*>(at) = integer(token, std::numeric_limits<std::int64_t>::min(),
                                                std::numeric_limits<std::int64_t>::max());
      break;
    case FieldKind::Double:
      *static_cast<double*>(at) = number(token);
      break;
    case FieldKind::String:
      *static_cast<String*>(at) = string(token, site);
      break;
    case FieldKind::Bytes:
      *static_cast<Bytes*>(at) = Bytes(decodeBase64(token));
      break;
    case FieldKind::Time:
      if (!Time::tryParse(text(token), *static_cast<Time*>(at))) {
        fail(token, "expected a time such as 2006-01-02T15:04:05Z");
      }
      break;
    case FieldKind::MicroTime:
      if (!MicroTime::tryParse(text(token), *static_cast<MicroTime*>(at))) {
        fail(token, "expected a time such as 2006-01-02T15:04:05.000000Z");
      }
      break;
    case FieldKind::Duration:
      if (!Duration::tryParse(text(token), *static_cast<Duration*>(at))) {
        fail(token, "expected a duration such as 1h30m");
      }
      break;
    case FieldKind::Quantity: {
      std::string_view why;
      const bool quoted = index_.at(token) == '"';
      const std::string_view content = quoted ? text(token) : index_.scalar(token);
      bool isInteger = false;
      if (!quoted && !isJsonNumber(content, isInteger)) expected(token, "a quantity");
      String held = site != nullptr ? pool_->string(content, *site) : String(content);
      if (!Quantity::tryAdopt(std::move(held), *static_cast<Quantity*>(at), &why)) fail(token, why);
      break;
    }
    case FieldKind::IntOrString:
      if (index_.at(token) == '"') {
        *static_cast<IntOrString*>(at) = IntOrString(string(token, site));
      } else {
        *static_cast<IntOrString*>(at) = IntOrString(
            static_cast<std::int32_t>(integer(token, std::numeric_limits<std::int32_t>::min(),
                                              std::numeric_limits<std::int32_t>::max())));
      }
      break;
    case FieldKind::Raw: {
      // Keeps the text and checks it once: blocks that the pool holds under this salt are checked.
      static constexpr char kSalt = 0;
      String& raw = static_cast<RawExtension*>(at)->raw;
      if (site != nullptr) site->judgeAlone();
      Block* block = site != nullptr ? pool_->again(index_.rawValue(token), *site) : nullptr;
      if (block == nullptr) {
        block = pooled(token, site, &kSalt, &String::drop, [&] {
          index_.check(token);
          return makeString(index_.compactValue(token, scratch_));
        });
      }
      raw = adopt<String>(block);
      return index_.after(token);
    }
    case FieldKind::Strings: {
      static constexpr FieldInfo kItems = makeField<List<String>>("", 0, 1);
      auto& target = *static_cast<Strings*>(at);
      target = Strings(adopt<List<String>>(container(kItems, token, site)));
      return index_.after(token);
    }
    case FieldKind::Value:
      return dynamic(*static_cast<Value*>(at), token, site);
    case FieldKind::Message:
      return object(*type, static_cast<std::byte*>(at), token, site);
  }
  return token + 1;
}

Block* JsonDecoder::container(const FieldInfo& info, Token token, Site* site) {
  const bool isList = info.shape == Shape::List;
  if (index_.at(token) != (isList ? '[' : '{') &&
      !(info.shape == Shape::Optional && info.type->form != JsonForm::Object)) {
    expected(token, isList ? "an array" : "an object");
  }
  return pooled(token, index_.opens(token) ? site : nullptr, info.ops, info.ops->drop, [&] {
    Site* inner = inside(info, site);
    switch (info.shape) {
      case Shape::List:
        return list(info, token, inner);
      case Shape::Map:
        return map(info, token, inner);
      default:
        return shared(info, token, inner);
    }
  });
}

Block* JsonDecoder::shared(const FieldInfo& info, Token token, Site* inner) {
  BlockGuard block(makeMessage(*info.type), info.ops->drop);
  object(*info.type, static_cast<std::byte*>(block.get()->payload()), token, inner);
  return block.release();
}

Block* JsonDecoder::list(const FieldInfo& info, Token token, Site* inner) {
  const std::size_t count = countItems(token);
  if (count == 0) return nullptr;
  BlockGuard block(makeElements(info, count), info.ops->drop);
  const Token end = index_.close(token);
  Token next = token + 1;
  PathStep step(path_);
  const PositionSites sites(info, inner);
  for (std::size_t i = 0; i < count; ++i) {
    step.item(i);
    std::byte* slot = slotOf(block.get(), *info.ops, i);
    Site* site = sites[i];
    if (info.ops->boxed) {
      boxOf(slot) = box(info, next, site);
      next = index_.after(next);
    } else if (isNull(next)) {
      ++next;
    } else {
      next = scalar(info.kind, info.type, slot, next, site);
    }
    if (i + 1 == count ? next != end : index_.at(next) != ',') fail(next, "expected ',' or ']'");
    ++next;
  }
  return block.release();
}

// Decodes a boxed element. Null becomes an empty message.
Block* JsonDecoder::box(const FieldInfo& info, Token token, Site* site) {
  if (isNull(token)) return makeMessage(*info.type);
  return pooled(token, index_.opens(token) ? site : nullptr, info.type, info.ops->dropBox, [&] {
    BlockGuard guard(makeMessage(*info.type), info.ops->dropBox);
    object(*info.type, static_cast<std::byte*>(guard.get()->payload()), token,
           site != nullptr ? site + 1 : nullptr);
    return guard.release();
  });
}

Block* JsonDecoder::map(const FieldInfo& info, Token token, Site* inner) {
  const std::size_t count = countItems(token);
  if (count == 0) return nullptr;
  BlockGuard block(makeElements(info, count), info.ops->drop);
  std::unordered_set<std::string_view> seen;
  std::string_view name;
  PathStep step(path_);
  const PositionSites sites(info, inner);
  const Token end = index_.close(token);
  Token next = token + 1;
  for (std::size_t i = 0; i < count; ++i) {
    std::byte* entry = elementOf(block.get(), *info.ops, i);
    if (index_.at(next) != '"') fail(next, "expected a field name in quotes");
    String& key = keyOf(entry);
    Site* site = sites[i];
    key = site != nullptr    ? string(next, site)
          : pool_ != nullptr ? pool_->string(text(next))
                             : String(text(next));
    name = key.view();
    step.name(name);
    if (problems_ != nullptr && !seen.insert(name).second) problem("duplicate field");
    if (index_.at(next + 1) != ':') fail(next + 1, "expected ':' after a field name");
    if (info.kind == FieldKind::Value) {
      site = siteOfKey(key);
    } else if (site != nullptr) {
      ++site;
    }
    if (isNull(next + 2)) {
      next += 3;
    } else {
      next = scalar(info.kind, info.type, valueOf(entry), next + 2, site);
    }
    if (i + 1 == count ? next != end : index_.at(next) != ',') fail(next, "expected ',' or '}'");
    ++next;
  }
  return sortEntries(info, block.release());
}

JsonDecoder::Token JsonDecoder::value(Value& target, Token token) {
  return dynamic(target, token, nullptr);
}

JsonDecoder::Site* JsonDecoder::siteOfKey(const String& key) {
  return pool_ != nullptr ? pool_->sites(key.data(), 1) : nullptr;
}

JsonDecoder::Token JsonDecoder::dynamic(Value& target, Token token, Site* site) {
  static constexpr FieldInfo kArray = makeField<List<Value>>("", 0, 0);
  static constexpr FieldInfo kObject = makeField<Map<Value>>("", 0, 0);
  switch (index_.at(token)) {
    case '{':
    case '[': {
      const bool isObject = index_.at(token) == '{';
      const FieldInfo& info = isObject ? kObject : kArray;
      // A site remembers strings or nodes, not both. Either may occur here.
      Site* node = site != nullptr ? pool_->inside(*site, 1, 1) : nullptr;
      Block* block = pooled(token, node, info.ops, info.ops->drop, [&] {
        return isObject ? map(info, token, nullptr) : list(info, token, inside(info, node));
      });
      if (isObject) {
        target = adopt<Value::Object>(block);
      } else {
        target = adopt<Value::Array>(block);
      }
      return index_.after(token);
    }
    case '"':
      target = string(token, site);
      return token + 1;
    case 't':
    case 'f':
      target = boolean(token);
      return token + 1;
    case 'n':
      if (!isNull(token)) expected(token, "a value");
      target = Value();
      return token + 1;
    default: {
      if (const char first = index_.at(token); first != '-' && !isDigit(first)) {
        expected(token, "a value");
      }
      const std::string_view digits = index_.scalar(token);
      bool isInteger = false;
      if (!isJsonNumber(digits, isInteger)) fail(token, "malformed number");
      std::int64_t whole = 0;
      if (isInteger &&
          std::from_chars(digits.data(), digits.data() + digits.size(), whole).ec == std::errc()) {
        target = whole;
      } else {
        target = number(token);
      }
      return token + 1;
    }
  }
}

}  // namespace kube::detail
