#include "kube/codec/internal/yaml/yaml_json.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/internal/base64.h"
#include "kube/base/internal/utf8.h"
#include "kube/codec/internal/float_text.h"
#include "kube/codec/internal/json_encode.h"
#include "kube/codec/internal/limits.h"

namespace kube::detail {

namespace {

using NodeKind = YamlNode::Kind;
using Type = YamlScalar::Type;

// Raises a counter by one during its lifetime.
class Inside {
 public:
  explicit Inside(std::size_t& counter, bool counts = true) : counter_(counter), by_(counts) {
    counter_ += by_;
  }
  ~Inside() { counter_ -= by_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  std::size_t& counter_;
  std::size_t by_;
};

std::string_view nameOf(YamlTag tag) {
  switch (tag) {
    case YamlTag::Bool:
      return "!!bool";
    case YamlTag::Int:
      return "!!int";
    case YamlTag::Float:
      return "!!float";
    case YamlTag::Null:
      return "!!null";
    case YamlTag::Timestamp:
      return "!!timestamp";
    default:
      return "!!str";
  }
}

bool fits(YamlTag tag, Type type) {
  switch (tag) {
    case YamlTag::Bool:
      return type == Type::Bool;
    case YamlTag::Int:
      return type == Type::Int;
    case YamlTag::Float:
      return type == Type::Float || type == Type::Int;
    case YamlTag::Null:
      return type == Type::Null;
    default:
      return type == Type::Timestamp;
  }
}

std::string integerText(const YamlScalar& scalar) {
  return (scalar.negative ? "-" : "") + std::to_string(scalar.magnitude);
}

double realOf(const YamlScalar& scalar) {
  if (scalar.type == Type::Float) return scalar.real;
  const auto magnitude = static_cast<double>(scalar.magnitude);
  return scalar.negative ? -magnitude : magnitude;
}

}  // namespace

void YamlToJson::documents(bool expandLists, std::vector<YamlDocument>& out) {
  if (expandLists) {
    expand(0, out);
  } else if (!isNull(0)) {
    out.push_back(write(0));
  }
}

bool YamlToJson::isNull(std::uint32_t node) const {
  const YamlNode& found = tree_.nodes[follow(node)];
  return found.kind == NodeKind::Scalar && resolve(found).type == Type::Null;
}

YamlDocument YamlToJson::write(std::uint32_t node) {
  YamlDocument result;
  const YamlPlace& place = tree_.nodes[node].place;
  result.offset = place.offset;
  result.line = place.line;
  result.column = place.column;
  out_ = &result;
  value(node);
  out_ = nullptr;
  result.duplicates = std::exchange(duplicates_, {});
  return result;
}

void YamlToJson::expand(std::uint32_t node, std::vector<YamlDocument>& out) {
  if (isNull(node)) return;
  const std::uint32_t root = follow(node);
  std::optional<std::uint32_t> items;
  if (tree_.nodes[root].kind == NodeKind::Mapping) {
    bool isList = false;
    bool isV1 = false;
    for (const Entry& entry : entries(root)) {
      const std::uint32_t at = follow(entry.valueNode);
      const YamlNode& found = tree_.nodes[at];
      if (entry.key == "items" && found.kind == NodeKind::Sequence) items = at;
      if (found.kind != NodeKind::Scalar) continue;
      if (entry.key == "kind") isList = tree_.textOf(found) == "List";
      if (entry.key == "apiVersion") isV1 = tree_.textOf(found) == "v1";
    }
    if (!isList || !isV1) items.reset();
  }
  if (!items) {
    duplicates_.clear();  // writing finds them again
    out.push_back(write(node));
    return;
  }
  if (depth_ == kMaxDepth) fail(tree_.nodes[node], "nested too deeply");
  const Inside level(depth_);
  const std::vector<std::string> own = std::exchange(duplicates_, {});
  const std::size_t first = out.size();
  for (std::uint32_t i = *items + 1; i < tree_.nodes[*items].end; i = tree_.nodes[i].end) {
    spend(1, tree_.nodes[i]);
    expand(i, out);
  }
  // Problems of the list itself are reported with its first item.
  if (out.size() > first) {
    auto& duplicates = out[first].duplicates;
    duplicates.insert(duplicates.begin(), own.begin(), own.end());
  }
}

void YamlToJson::value(std::uint32_t node) {
  const Inside alias(aliases_, tree_.nodes[node].kind == NodeKind::Alias);
  const std::uint32_t at = follow(node);
  const YamlNode& found = tree_.nodes[at];
  mark(found);
  const std::size_t before = out_->json.size();
  switch (found.kind) {
    case NodeKind::Sequence:
      sequence(at);
      break;
    case NodeKind::Mapping:
      mapping(at);
      break;
    default:
      scalar(found);
      spend(out_->json.size() - before, found);
  }
}

void YamlToJson::scalar(const YamlNode& node) {
  const YamlScalar resolved = resolve(node);
  std::string& json = out_->json;
  switch (resolved.type) {
    case Type::Null:
      json += "null";
      break;
    case Type::Bool:
      json += resolved.boolean ? "true" : "false";
      break;
    case Type::Int:
      json += integerText(resolved);
      break;
    case Type::Float:
      if (!std::isfinite(resolved.real)) fail(node, "infinity and NaN have no JSON form");
      json += formatJsonFloat(resolved.real);
      break;
    default:
      JsonEncoder(json, 0).string(stringOf(node));
  }
}

void YamlToJson::sequence(std::uint32_t node) {
  if (depth_ == kMaxDepth) fail(tree_.nodes[node], "nested too deeply");
  const Inside level(depth_);
  spend(2, tree_.nodes[node]);
  out_->json += '[';
  path_.emplace_back();
  std::size_t item = 0;
  for (std::uint32_t i = node + 1; i < tree_.nodes[node].end; i = tree_.nodes[i].end) {
    if (item > 0) out_->json += ',';
    path_.back().item = item++;
    value(i);
  }
  path_.pop_back();
  out_->json += ']';
}

void YamlToJson::mapping(std::uint32_t node) {
  if (depth_ == kMaxDepth) fail(tree_.nodes[node], "nested too deeply");
  const Inside level(depth_);
  spend(2, tree_.nodes[node]);
  const std::vector<Entry> members = entries(node);
  out_->json += '{';
  path_.emplace_back();
  for (const Entry& member : members) {
    if (&member != &members.front()) out_->json += ',';
    path_.back().name = member.key;
    mark(tree_.nodes[member.keyNode]);
    const std::size_t before = out_->json.size();
    JsonEncoder(out_->json, 0).string(member.key);
    spend(out_->json.size() - before, tree_.nodes[member.keyNode]);
    out_->json += ':';
    value(member.valueNode);
  }
  path_.pop_back();
  out_->json += '}';
}

// The members of a mapping, its own and merged ones, each key once.
std::vector<YamlToJson::Entry> YamlToJson::entries(std::uint32_t mapping) {
  std::vector<Entry> found;
  std::vector<std::uint32_t> merges;
  for (std::uint32_t i = mapping + 1; i < tree_.nodes[mapping].end;) {
    const std::uint32_t key = i;
    const std::uint32_t value = tree_.nodes[key].end;
    i = tree_.nodes[value].end;
    if (isMergeKey(tree_.nodes[key])) {
      merges.push_back(value);
    } else {
      found.push_back({keyText(key), key, value});
    }
  }
  const std::size_t own = found.size();
  // A later merge key wins over an earlier one, as in go-yaml.
  for (auto at = merges.rbegin(); at != merges.rend(); ++at) merge(*at, found);
  return settle(std::move(found), own);
}

void YamlToJson::merge(std::uint32_t node, std::vector<Entry>& to) {
  constexpr const char* kExpected = "a merge key needs a mapping or a sequence of mappings";
  const YamlNode& outer = tree_.nodes[node];
  const auto one = [&](std::uint32_t from) {
    if (depth_ == kMaxDepth) fail(outer, "nested too deeply");
    const Inside level(depth_);
    const Inside alias(aliases_, tree_.nodes[from].kind == NodeKind::Alias);
    const std::uint32_t at = follow(from);
    if (tree_.nodes[at].kind != NodeKind::Mapping) fail(tree_.nodes[from], kExpected);
    std::vector<Entry> members = entries(at);
    // Merging costs time and memory even if nothing of it is written.
    spend(sizeof(Entry) * (members.size() + 1), tree_.nodes[from]);
    std::move(members.begin(), members.end(), std::back_inserter(to));
  };
  if (outer.kind != NodeKind::Sequence) {
    one(node);
    return;
  }
  for (std::uint32_t i = node + 1; i < outer.end; i = tree_.nodes[i].end) one(i);
}

// Among entries with the same key, the last of the mapping's own wins, or else the first merged
// one. Sorted rather than hashed, so that no choice of keys makes it slow.
std::vector<YamlToJson::Entry> YamlToJson::settle(std::vector<Entry> found, std::size_t own) {
  std::vector<std::uint32_t> order(found.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return found[a].key < found[b].key; });
  std::vector<bool> wins(found.size(), true);
  std::vector<std::uint32_t> repeated;
  for (std::size_t i = 1; i < order.size(); ++i) {
    const std::uint32_t before = order[i - 1];
    const std::uint32_t here = order[i];
    if (found[before].key != found[here].key) continue;
    if (here < own) {
      wins[before] = false;
      repeated.push_back(here);
    } else {
      wins[here] = false;
    }
  }
  if (aliases_ == 0) {  // an anchor's mapping is reported at its own place
    std::sort(repeated.begin(), repeated.end());
    for (const std::uint32_t i : repeated) {
      duplicates_.push_back("line " + std::to_string(tree_.nodes[found[i].keyNode].place.line) +
                            ": key \"" + found[i].key + "\" already set in map");
    }
  }
  if (std::find(wins.begin(), wins.end(), false) == wins.end()) return found;
  std::vector<Entry> result;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (wins[i]) result.push_back(std::move(found[i]));
  }
  return result;
}

bool YamlToJson::isMergeKey(const YamlNode& node) const {
  return node.kind == NodeKind::Scalar &&
         (node.tag == YamlTag::Plain || node.tag == YamlTag::Merge) && tree_.textOf(node) == "<<";
}

std::string YamlToJson::keyText(std::uint32_t node) {
  const YamlNode& found = tree_.nodes[follow(node)];
  if (found.kind != NodeKind::Scalar) fail(tree_.nodes[node], "a key must be a scalar");
  const YamlScalar resolved = resolve(found);
  switch (resolved.type) {
    case Type::Null:
      fail(tree_.nodes[node], "a key must not be null");
    case Type::Bool:
      return resolved.boolean ? "true" : "false";
    case Type::Int:
      return integerText(resolved);
    case Type::Float:
      return formatYamlFloat32(resolved.real);  // upstream uses 32 bits
    default:
      return stringOf(found);
  }
}

// The text of a scalar that is a string.
std::string YamlToJson::stringOf(const YamlNode& node) const {
  if (node.tag != YamlTag::Binary) return std::string(tree_.textOf(node));
  std::string bytes;
  if (!base64Decode(tree_.textOf(node), bytes)) fail(node, "not valid base64 in a !!binary value");
  return replaceInvalidUtf8(bytes);
}

YamlScalar YamlToJson::resolve(const YamlNode& node) const {
  switch (node.tag) {
    case YamlTag::Quoted:
    case YamlTag::Str:
    case YamlTag::Binary:
    case YamlTag::Merge:
    case YamlTag::Other:
      return {};
    case YamlTag::Plain:
      return resolveYamlScalar(tree_.textOf(node));
    default:
      break;
  }
  YamlScalar resolved = resolveYamlScalar(tree_.textOf(node));
  if (!fits(node.tag, resolved.type)) {
    fail(node, "cannot decode `" + std::string(tree_.textOf(node)) + "` as a " +
                   std::string(nameOf(node.tag)));
  }
  if (node.tag == YamlTag::Float) resolved = {.type = Type::Float, .real = realOf(resolved)};
  return resolved;
}

std::uint32_t YamlToJson::follow(std::uint32_t node) const {
  while (tree_.nodes[node].kind == NodeKind::Alias) node = tree_.nodes[node].target;
  return node;
}

void YamlToJson::mark(const YamlNode& node) {
  out_->marks.push_back({static_cast<std::uint32_t>(out_->json.size()), node.place.offset,
                         node.place.line, node.place.column});
}

void YamlToJson::spend(std::size_t bytes, const YamlNode& node) {
  if (bytes > budget_) fail(node, "aliases expand to too much");
  budget_ -= bytes;
}

void YamlToJson::fail(const YamlNode& node, std::string reason) const {
  std::string path;
  for (const Step& step : path_) {
    if (step.name.empty()) {
      path += '[' + std::to_string(step.item) + ']';
    } else {
      if (!path.empty()) path += '.';
      path += step.name;
    }
  }
  failYaml(node.place, std::move(reason), std::move(path));
}

}  // namespace kube::detail
