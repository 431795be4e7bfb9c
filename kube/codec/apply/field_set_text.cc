// Reads and writes FieldsV1.
#include <utility>

#include "kube/base/error.h"
#include "kube/codec/apply/field_set.h"
#include "kube/codec/internal/json_encode.h"
#include "kube/codec/internal/json_index.h"

namespace kube {

namespace {

using Node = FieldSet::Node;

[[noreturn]] void notAnObject(std::string_view where, std::string_view found) {
  throw DecodeError({.format = "managed fields", .path = std::string(where)},
                    std::string("expected an object, found ").append(found));
}

// Returns whether the set itself is among the paths of its parent. `set` gets the paths below.
bool read(const Value& fields, FieldSet& set, std::string_view where) {
  if (!fields.isObject() && !fields.isNull()) notAnObject(where, toString(fields.type()));
  bool member = false;
  std::vector<Node> nodes;
  for (const auto& [key, value] : fields.asObject()) {
    if (key == ".") {
      member = true;
      continue;
    }
    auto element = PathElement::parse(key);
    if (!element) continue;
    FieldSet below;
    const bool isMember = read(value, below, key);
    nodes.push_back({std::move(*element), isMember, std::move(below)});
  }
  set = FieldSet::fromNodes(std::move(nodes));
  return member || set.empty();
}

// Does the same for text, without making a value of it.
class Reader {
 public:
  using Token = detail::JsonIndex::Token;

  explicit Reader(std::string_view json) {
    index_.build(json);
    const Token end = index_.check(0);
    if (end != index_.count()) index_.fail(end, "unexpected text after the value");
  }

  FieldSet whole() {
    FieldSet set;
    read(0, set, "");
    return set;
  }
  bool canonical() const noexcept { return canonical_; }

 private:
  bool read(Token token, FieldSet& set, std::string_view where) {
    if (index_.at(token) != '{') {
      if (index_.scalar(token) != "null") notAnObject(where, nameOf(index_.at(token)));
      canonical_ = false;
      return true;
    }
    bool member = false;
    std::vector<Node> nodes;
    std::string keyScratch;
    for (Token at = token + 1; at < index_.close(token); at = index_.after(at + 2) + 1) {
      const std::string_view key = index_.string(at, keyScratch);
      if (key == ".") {
        canonical_ &= !member && nodes.empty() && index_.rawValue(at + 2) == "{}";
        member = true;
        continue;
      }
      auto element = detail::parsePathElement(key, content_);
      if (!element) {
        canonical_ = false;
        continue;
      }
      checkForm(*element, index_.rawString(at));
      FieldSet below;
      const bool isMember = read(at + 2, below, key);
      canonical_ &= nodes.empty() || nodes.back().element < *element;
      nodes.push_back({std::move(*element), isMember, std::move(below)});
    }
    canonical_ &= !member || !nodes.empty();
    set = FieldSet::fromNodes(std::move(nodes));
    return member || set.empty();
  }

  void checkForm(const PathElement& element, std::string_view raw) {
    if (!canonical_) return;
    if (element.kind() == PathElement::Kind::Field) {
      canonical_ = raw.find('\\') == std::string_view::npos;
      return;
    }
    element_.clear();
    element.appendTo(element_);
    written_.clear();
    detail::JsonEncoder(written_, 0).string(element_);
    canonical_ = std::string_view(written_).substr(1, written_.size() - 2) == raw;
  }

  static std::string_view nameOf(char first) {
    switch (first) {
      case '[':
        return toString(Value::Type::Array);
      case '"':
        return toString(Value::Type::String);
      case 't':
      case 'f':
        return toString(Value::Type::Bool);
      default:
        return "number";
    }
  }

  detail::JsonIndex index_;
  detail::JsonIndex content_;
  std::string element_, written_;
  bool canonical_ = true;
};

void write(const FieldSet& set, bool member, std::string& out, detail::JsonEncoder& encoder,
           std::string& element) {
  out += '{';
  bool first = true;
  if (member && !set.empty()) {
    out += R"(".":{})";
    first = false;
  }
  for (const Node& node : set.nodes()) {
    if (!std::exchange(first, false)) out += ',';
    element.clear();
    node.element.appendTo(element);
    encoder.string(element);
    out += ':';
    write(node.below, node.member, out, encoder, element);
  }
  out += '}';
}

}  // namespace

FieldSet FieldSet::parse(std::string_view json, bool* canonical) {
  Reader reader(json);
  FieldSet set = reader.whole();
  if (canonical != nullptr) *canonical = reader.canonical();
  return set;
}

FieldSet FieldSet::fromValue(const Value& fields) {
  FieldSet set;
  read(fields, set, "");
  return set;
}

std::string FieldSet::toJson() const {
  std::string out;
  std::string element;
  detail::JsonEncoder encoder(out, 0);
  write(*this, false, out, encoder, element);
  return out;
}

}  // namespace kube
