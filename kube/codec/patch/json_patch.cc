#include "kube/codec/patch/json_patch.h"

#include <fmt/core.h>

#include <array>
#include <optional>

#include "kube/base/error.h"
#include "kube/codec/json.h"
#include "kube/codec/patch/patch_error.h"

namespace kube {

namespace {

using Op = JsonPatch::Op;
using Operation = JsonPatch::Operation;
using Reason = PatchError::Reason;

constexpr std::array<std::string_view, 6> kOperations = {"add",  "remove", "replace",
                                                         "move", "copy",   "test"};

void checkCount(std::size_t count, const JsonPatchLimits& limits) {
  if (count <= limits.maxOperations) return;
  throw PatchError(Reason::TooLarge,
                   fmt::format("The allowed maximum operations in a JSON patch is {}, got {}",
                               limits.maxOperations, count));
}

// --- Reading.

[[noreturn]] void malformed(std::size_t index, std::string_view member, std::string reason) {
  std::string path = fmt::format("[{}]", index);
  if (!member.empty()) path.append(".").append(member);
  throw DecodeError({.format = "json patch", .path = std::move(path)}, std::move(reason));
}

std::string found(const Value& value) { return fmt::format(", found {}", toString(value.type())); }

const String& stringMember(const Value& operation, std::size_t index, std::string_view name) {
  const auto& members = operation.asObject();
  const auto at = members.find(name);
  if (at == members.end()) malformed(index, name, "missing: expected a string");
  if (!at->value.isString()) malformed(index, name, "expected a string" + found(at->value));
  return at->value.asString();
}

JsonPointer pointerMember(const Value& operation, std::size_t index, std::string_view name) {
  try {
    return JsonPointer::parse(stringMember(operation, index, name));
  } catch (const DecodeError& error) {
    if (error.format() != "json pointer") throw;
    malformed(index, name, error.reason());
  }
}

Op opMember(const Value& operation, std::size_t index) {
  const String& name = stringMember(operation, index, "op");
  for (std::size_t i = 0; i < kOperations.size(); ++i) {
    if (name == kOperations[i]) return static_cast<Op>(i);
  }
  malformed(index, "op",
            fmt::format("expected add, remove, replace, move, copy or test, found \"{}\"", name));
}

Operation readOperation(const Value& operation, std::size_t index) {
  if (!operation.isObject()) malformed(index, "", "expected an operation" + found(operation));
  const Op op = opMember(operation, index);
  Operation result{.op = op, .path = pointerMember(operation, index, "path")};
  if (op == Op::Move || op == Op::Copy) result.from = pointerMember(operation, index, "from");
  if (op == Op::Add || op == Op::Replace) {
    if (!operation.asObject().contains("value")) malformed(index, "value", "missing");
  }
  if (op == Op::Add || op == Op::Replace || op == Op::Test) result.value = operation["value"];
  return result;
}

// --- Applying.

// The length of the JSON text, or a number above `limit` if the text is longer. Visits no more than
// about `limit` values, since copies may make a document far larger than its memory.
std::size_t textSize(const Value& value, std::size_t limit) {
  std::size_t size = 2;
  if (size > limit) return size;
  if (value.isArray()) {
    for (const Value& item : value.asArray()) {
      size += 1 + textSize(item, limit - size);
      if (size > limit) return size;
    }
  } else if (value.isObject()) {
    for (const auto& [key, member] : value.asObject()) {
      size += key.size() + 4;
      if (size > limit) return size;
      size += textSize(member, limit - size);
      if (size > limit) return size;
    }
  } else if (value.isString()) {
    size += value.asString().size();
  } else {
    size = toJson(value).size();
  }
  return size;
}

std::size_t depthOf(const Value& value) {
  std::size_t deepest = 0;
  for (const Value& item : value.asArray()) deepest = std::max(deepest, depthOf(item));
  for (const auto& [key, member] : value.asObject()) deepest = std::max(deepest, depthOf(member));
  return value.isArray() || value.isObject() ? deepest + 1 : 0;
}

class Application {
 public:
  Application(const Value& document, const JsonPatchLimits& limits)
      : document_(document), limits_(limits), depth_(depthOf(document)) {}

  Value run(const std::vector<Operation>& operations) {
    for (index_ = 0; index_ < operations.size(); ++index_) {
      operation_ = &operations[index_];
      apply(*operation_);
    }
    return std::move(document_);
  }

 private:
  void apply(const Operation& operation) {
    switch (operation.op) {
      case Op::Add:
        add(operation.path, operation.value, depthOf(operation.value));
        return;
      case Op::Remove:
        take(operation.path);
        return;
      case Op::Replace:
        replace(operation.path, operation.value);
        return;
      case Op::Move: {
        Value moved = take(operation.from);
        add(operation.path, std::move(moved), depthBelow(operation.from));
        return;
      }
      case Op::Copy:
        copy(operation.from, operation.path);
        return;
      case Op::Test:
        test(operation.path, operation.value);
        return;
    }
  }

  void add(const JsonPointer& path, Value value, std::size_t valueDepth) {
    Value& container = containerOf(path);
    const String& token = path.tokens().back();
    if (container.isObject()) {
      container.object()[token] = std::move(value);
    } else {
      Value::Array& items = container.array();
      const std::size_t at = token == "-" ? items.size() : indexIn(items.size() + 1, token);
      items.insert(at, std::move(value));
    }
    grown(path, valueDepth);
  }

  Value take(const JsonPointer& path) {
    Value& container = containerOf(path);
    const String& token = path.tokens().back();
    if (container.isObject()) {
      Value::Object& members = container.object();
      const auto at = std::as_const(members).find(token);
      if (at == std::as_const(members).end()) missingMember(token);
      Value taken = at->value;
      members.erase(token);
      return taken;
    }
    Value::Array& items = container.array();
    const std::size_t at = indexIn(items.size(), token);
    Value taken = std::as_const(items)[at];
    items.erase(at);
    return taken;
  }

  void replace(const JsonPointer& path, const Value& value) {
    if (path.empty()) {
      document_ = value;
    } else {
      Value& container = containerOf(path);
      const String& token = path.tokens().back();
      if (container.isObject()) {
        container.object()[token] = value;
      } else {
        Value::Array& items = container.array();
        items[indexIn(items.size(), token)] = value;
      }
    }
    grown(path, depthOf(value));
  }

  void copy(const JsonPointer& from, const JsonPointer& path) {
    if (from.empty()) fail(Reason::Missing, "the whole document cannot be copied into itself");
    const Value* source = find(from);
    Value value = source != nullptr ? *source : Value();
    containerOf(path);  // before the size is counted, since a missing container is cheaper to find
    copied_ += textSize(value, limits_.maxCopyBytes);
    if (copied_ > limits_.maxCopyBytes) {
      fail(Reason::TooLarge,
           fmt::format("the copies of this patch exceed {} bytes", limits_.maxCopyBytes));
    }
    const std::size_t depth = depthOf(value);
    add(path, std::move(value), depth);
  }

  void test(const JsonPointer& path, const Value& expected) {
    const Value* actual = path.empty() ? &document_ : find(path);
    if (actual != nullptr ? *actual == expected : expected.isNull()) return;
    fail(Reason::TestFailed, "test failed: the value differs");
  }

  // The object or array that contains the target of `path`.
  Value& containerOf(const JsonPointer& path) {
    if (path.empty()) {
      fail(Reason::Missing,
           "the whole document can only be replaced or tested: expected a path like /spec");
    }
    Value* at = &document_;
    const auto tokens = path.tokens();
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      if (at->isObject()) {
        if (!at->asObject().contains(tokens[i])) missingMember(tokens[i]);
        at = &at->object()[tokens[i]];
      } else if (at->isArray()) {
        Value::Array& items = at->array();
        at = &items[indexIn(items.size(), tokens[i])];
      } else {
        noContainer(*at, tokens[i]);
      }
    }
    if (!at->isObject() && !at->isArray()) noContainer(*at, tokens.back());
    return *at;
  }

  // The target of `path`; null if the last object lacks that member.
  const Value* find(const JsonPointer& path) const {
    const Value* at = &document_;
    const auto tokens = path.tokens();
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (at->isObject()) {
        const auto& members = at->asObject();
        const auto member = members.find(tokens[i]);
        if (member == members.end()) {
          if (i + 1 < tokens.size()) missingMember(tokens[i]);
          return nullptr;
        }
        at = &member->value;
      } else if (at->isArray()) {
        at = &at->asArray()[indexIn(at->asArray().size(), tokens[i])];
      } else {
        noContainer(*at, tokens[i]);
      }
    }
    return at;
  }

  std::size_t indexIn(std::size_t size, const String& token) const {
    const std::string_view text = token;
    const bool negative = text.starts_with('-');
    const std::string_view digits = text.substr(negative || text.starts_with('+') ? 1 : 0);
    std::size_t index = 0;
    bool good = !digits.empty();
    for (const char c : digits) {
      good = good && c >= '0' && c <= '9';
      // Far beyond any array, and far from an overflow.
      index = std::min<std::size_t>(index * 10 + static_cast<std::size_t>(c - '0'), 1UL << 40);
    }
    if (!good) {
      fail(Reason::Missing, fmt::format("expected an array index, found \"{}\"", text));
    }
    if (negative) index = index <= size ? size - index : size;
    if (index >= size) {
      fail(Reason::Missing,
           fmt::format("index {} is outside of an array that takes {} here", text, size));
    }
    return index;
  }

  // Moving and copying could nest a document without end. The exact depth is counted only now and
  // then, since counting visits the whole document.
  std::size_t depthBelow(const JsonPointer& path) const {
    return depth_ > path.size() ? depth_ - path.size() : 0;
  }
  void grown(const JsonPointer& path, std::size_t valueDepth) {
    depth_ = std::max(depth_, path.size() + valueDepth);
    if (depth_ <= limits_.maxDepth) return;
    depth_ = depthOf(document_);
    if (depth_ <= limits_.maxDepth) return;
    fail(Reason::TooLarge, fmt::format("nests deeper than {} levels", limits_.maxDepth));
  }

  [[noreturn]] void missingMember(const String& token) const {
    fail(Reason::Missing, fmt::format("the member \"{}\" does not exist", token));
  }
  [[noreturn]] void noContainer(const Value& value, const String& token) const {
    fail(Reason::Missing, fmt::format("expected an object or array that has \"{}\", found {}",
                                      token, toString(value.type())));
  }
  [[noreturn]] void fail(Reason reason, const std::string& what) const {
    const bool hasFrom = operation_->op == Op::Move || operation_->op == Op::Copy;
    throw PatchError(reason,
                     fmt::format("json patch: operation {} ({}{}{} \"{}\"): {}", index_,
                                 toString(operation_->op),
                                 hasFrom ? " from \"" + operation_->from.toString() + '"' : "",
                                 hasFrom ? " to" : "", operation_->path.toString(), what));
  }

  Value document_;
  const JsonPatchLimits& limits_;
  std::size_t depth_;  // of the document; an upper limit
  std::size_t copied_ = 0;
  std::size_t index_ = 0;
  const Operation* operation_ = nullptr;
};

// --- Comparing.

class Difference {
 public:
  void compare(const Value& from, const Value& to, const JsonPointer& at) {
    if (from.isObject() && to.isObject()) return objects(from.asObject(), to.asObject(), at);
    if (from.isArray() && to.isArray()) return arrays(from.asArray(), to.asArray(), at);
    if (from == to) return;
    patch_.operations.push_back({.op = Op::Replace, .path = at, .value = to});
  }
  JsonPatch done() { return std::move(patch_); }

 private:
  void objects(const Value::Object& from, const Value::Object& to, const JsonPointer& at) {
    for (const auto& [key, value] : from) {
      if (!to.contains(key)) patch_.operations.push_back({.op = Op::Remove, .path = at / key});
    }
    for (const auto& [key, value] : to) {
      const auto before = from.find(key);
      if (before == from.end()) {
        patch_.operations.push_back({.op = Op::Add, .path = at / key, .value = value});
      } else {
        compare(before->value, value, at / key);
      }
    }
  }

  void arrays(const Value::Array& from, const Value::Array& to, const JsonPointer& at) {
    std::size_t head = 0;
    const std::size_t shorter = std::min(from.size(), to.size());
    while (head < shorter && from[head] == to[head]) ++head;
    std::size_t tail = 0;
    while (head + tail < shorter && from[from.size() - 1 - tail] == to[to.size() - 1 - tail]) {
      ++tail;
    }
    const std::size_t fromEnd = from.size() - tail;
    const std::size_t toEnd = to.size() - tail;
    std::size_t i = head;
    for (; i < std::min(fromEnd, toEnd); ++i) compare(from[i], to[i], at / i);
    for (std::size_t k = i; k < fromEnd; ++k) {  // the rest moves up, so the index stays the same
      patch_.operations.push_back({.op = Op::Remove, .path = at / i});
    }
    for (; i < toEnd; ++i) {
      patch_.operations.push_back({.op = Op::Add, .path = at / i, .value = to[i]});
    }
  }

  JsonPatch patch_;
};

}  // namespace

std::string_view toString(JsonPatch::Op op) noexcept {
  return kOperations[static_cast<std::size_t>(op)];
}

JsonPatch JsonPatch::parse(std::string_view json, const JsonPatchLimits& limits) {
  return fromValue(parseJson(json), limits);
}

JsonPatch JsonPatch::fromValue(const Value& patch, const JsonPatchLimits& limits) {
  if (!patch.isArray()) {
    throw DecodeError({.format = "json patch"}, "expected an array of operations" + found(patch));
  }
  checkCount(patch.asArray().size(), limits);
  JsonPatch result;
  result.operations.reserve(patch.asArray().size());
  for (const Value& operation : patch.asArray()) {
    result.operations.push_back(readOperation(operation, result.operations.size()));
  }
  return result;
}

Value JsonPatch::toValue() const {
  Value::Array list;
  for (const Operation& operation : operations) {
    Value::Object members{{"op", kube::toString(operation.op)},
                          {"path", operation.path.toString()}};
    switch (operation.op) {
      case Op::Add:
      case Op::Replace:
      case Op::Test:
        members["value"] = operation.value;
        break;
      case Op::Move:
      case Op::Copy:
        members["from"] = operation.from.toString();
        break;
      case Op::Remove:
        break;
    }
    list.push_back(std::move(members));
  }
  return list;
}

std::string JsonPatch::toJson() const { return kube::toJson(toValue()); }

Value JsonPatch::apply(const Value& document, const JsonPatchLimits& limits) const {
  checkCount(operations.size(), limits);
  return Application(document, limits).run(operations);
}

JsonPatch& JsonPatch::add(std::string_view path, Value value) {
  operations.push_back(
      {.op = Op::Add, .path = JsonPointer::parse(path), .value = std::move(value)});
  return *this;
}
JsonPatch& JsonPatch::remove(std::string_view path) {
  operations.push_back({.op = Op::Remove, .path = JsonPointer::parse(path)});
  return *this;
}
JsonPatch& JsonPatch::replace(std::string_view path, Value value) {
  operations.push_back(
      {.op = Op::Replace, .path = JsonPointer::parse(path), .value = std::move(value)});
  return *this;
}
JsonPatch& JsonPatch::move(std::string_view from, std::string_view path) {
  operations.push_back(
      {.op = Op::Move, .path = JsonPointer::parse(path), .from = JsonPointer::parse(from)});
  return *this;
}
JsonPatch& JsonPatch::copy(std::string_view from, std::string_view path) {
  operations.push_back(
      {.op = Op::Copy, .path = JsonPointer::parse(path), .from = JsonPointer::parse(from)});
  return *this;
}
JsonPatch& JsonPatch::test(std::string_view path, Value value) {
  operations.push_back(
      {.op = Op::Test, .path = JsonPointer::parse(path), .value = std::move(value)});
  return *this;
}

JsonPatch createJsonPatch(const Value& from, const Value& to) {
  Difference difference;
  difference.compare(from, to, JsonPointer());
  return difference.done();
}

}  // namespace kube
