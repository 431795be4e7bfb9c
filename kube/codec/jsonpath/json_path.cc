#include "kube/codec/jsonpath/json_path.h"

#include <fmt/core.h>

#include <compare>
#include <optional>
#include <utility>

#include "kube/base/error.h"
#include "kube/codec/go_json.h"
#include "kube/codec/internal/float_text.h"
#include "kube/codec/internal/json_node.h"
#include "kube/codec/jsonpath/internal/json_path_template.h"

namespace kube {
namespace {

using detail::JsonNode;
using detail::JsonPathOperator;
using detail::JsonPathPart;
using detail::JsonPathSlice;
using detail::JsonPathStep;
using detail::JsonPathSteps;
using detail::NodeReader;
using Nodes = std::vector<JsonNode>;

/// One evaluation of a template. The results of each part are passed to `take`.
class JsonPathEvaluation {
 public:
  explicit JsonPathEvaluation(const JsonPathOptions& options)
      : options_(options), left_(options.maxVisited) {}

  NodeReader& reader() noexcept { return reader_; }

  template <class Take>
  void run(const std::vector<JsonPathPart>& parts, const JsonNode& from, const Take& take);

  /// Counts values that are visited, written or kept.
  void spend(std::size_t count = 1) {
    if (count > left_) {
      throw Error(fmt::format(
          "jsonpath: the path visits more than {} values (maxVisited): use a narrower path "
          "than ..",
          options_.maxVisited));
    }
    left_ -= count;
  }
  Value value(const JsonNode& node) {
    return reader_.value(node, [this] { spend(); });
  }

 private:
  [[noreturn]] static void fail(const JsonPathStep& step, const std::string& reason) {
    throw Error(fmt::format("jsonpath: at offset {}: {}", step.offset, reason));
  }
  void keep(Nodes& nodes, const JsonNode& node) {
    spend();
    nodes.push_back(node);
  }

  Nodes walk(Nodes from, const JsonPathSteps& steps);
  Nodes member(const Nodes& from, const JsonPathStep& step);
  Nodes memberAnywhere(const Nodes& from, const JsonPathStep& step);
  Nodes all(const Nodes& from);
  Nodes slice(const Nodes& from, const JsonPathStep& step);
  Nodes filter(const Nodes& from, const JsonPathStep& step);
  bool holds(const JsonNode& element, const JsonPathStep& step);
  std::optional<JsonNode> operand(const JsonNode& element, const JsonPathStep& step,
                                  const JsonPathSteps& steps);
  Value scalar(const JsonNode& node, const JsonPathStep& step);
  /// Throws if no node has the member. It is not an error if there were no nodes.
  void checkFound(bool anyAsked, const Nodes& found, const JsonPathStep& step) const {
    if (anyAsked && found.empty() && !options_.allowMissingKeys && !lenient_) {
      fail(step, step.name + " is not found");
    }
  }
  /// Calls `visit` for the node and everything inside, outer nodes before inner ones. Numbers and
  /// other nodes that contain nothing are not visited.
  template <class Visit>
  void descend(const JsonNode& node, int depth, const Visit& visit);

  const JsonPathOptions& options_;
  NodeReader reader_;
  std::size_t left_;
  bool lenient_ = false;  // only existence is tested: a missing value is not an error
};

template <class Take>
void JsonPathEvaluation::run(const std::vector<JsonPathPart>& parts, const JsonNode& from,
                             const Take& take) {
  for (const JsonPathPart& part : parts) {
    const Nodes found = walk({from}, part.steps);
    if (!part.isRange) {
      take(found);
      continue;
    }
    for (const JsonNode& node : found) {
      spend();
      run(part.body, node, take);
    }
  }
}

Nodes JsonPathEvaluation::walk(Nodes from, const JsonPathSteps& steps) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const JsonPathStep& step = steps[i];
    Nodes found;
    switch (step.kind) {
      case JsonPathStep::Kind::Member:
        found = member(from, step);
        break;
      case JsonPathStep::Kind::All:
        found = all(from);
        break;
      case JsonPathStep::Kind::Descend:
        // Most uses of .. are ..name, which need not keep all other nodes.
        if (i + 1 < steps.size() && steps[i + 1].kind == JsonPathStep::Kind::Member) {
          found = memberAnywhere(from, steps[++i]);
          break;
        }
        for (const JsonNode& node : from) {
          descend(node, 0, [&](const JsonNode& inner) { keep(found, inner); });
        }
        break;
      case JsonPathStep::Kind::Slice:
        found = slice(from, step);
        break;
      case JsonPathStep::Kind::Union:
        for (const JsonPathSteps& path : step.paths) {
          for (const JsonNode& node : walk(from, path)) keep(found, node);
        }
        break;
      case JsonPathStep::Kind::Filter:
        found = filter(from, step);
        break;
      case JsonPathStep::Kind::Literal:
        // Text is one result; a number is one result for each node of the previous step.
        if (step.literal.isString()) {
          keep(found, JsonNode::of(step.literal));
        } else {
          for (std::size_t n = 0; n < from.size(); ++n) keep(found, JsonNode::of(step.literal));
        }
        break;
    }
    from = std::move(found);
  }
  return from;
}

Nodes JsonPathEvaluation::member(const Nodes& from, const JsonPathStep& step) {
  Nodes found;
  for (const JsonNode& node : from) {
    spend();
    if (const auto child = reader_.member(node, step.name)) found.push_back(*child);
  }
  checkFound(!from.empty(), found, step);
  return found;
}

Nodes JsonPathEvaluation::memberAnywhere(const Nodes& from, const JsonPathStep& step) {
  Nodes found;
  bool anyAsked = false;
  for (const JsonNode& node : from) {
    descend(node, 0, [&](const JsonNode& inner) {
      anyAsked = true;
      if (const auto child = reader_.member(inner, step.name)) keep(found, *child);
    });
  }
  checkFound(anyAsked, found, step);
  return found;
}

Nodes JsonPathEvaluation::all(const Nodes& from) {
  Nodes found;
  for (const JsonNode& node : from) {
    for (const JsonNode& child : reader_.children(node)) keep(found, child);
  }
  return found;
}

template <class Visit>
void JsonPathEvaluation::descend(const JsonNode& node, int depth, const Visit& visit) {
  spend();
  NodeReader::checkDepth(depth);
  if (!reader_.holdsAnything(node)) return;
  visit(node);
  for (const JsonNode& child : reader_.children(node)) descend(child, depth + 1, visit);
}

Nodes JsonPathEvaluation::slice(const Nodes& from, const JsonPathStep& step) {
  Nodes found;
  for (const JsonNode& node : from) {
    spend();
    const Value::Type type = reader_.type(node);
    if (type == Value::Type::Null) continue;
    if (type != Value::Type::Array) {
      if (lenient_) continue;
      fail(step, fmt::format("{} is not array or slice", toString(type)));
    }
    const JsonPathSlice& asked = step.slice;
    const auto length = static_cast<std::int64_t>(reader_.size(node));
    std::int64_t first = asked.from.value_or(0);
    if (first < 0) first += length;
    std::int64_t last = asked.to.value_or(length);
    if (last < 0 || (last == 0 && asked.single)) last += length;
    if (first == last) continue;  // the slice is empty, even past the end

    std::string problem;
    if (first < 0 || first >= length) {
      problem = fmt::format("array index out of bounds: index {}, length {}", first, length);
    } else if (last < 0 || last > length) {
      problem = fmt::format("array index out of bounds: index {}, length {}", last - 1, length);
    } else if (first > last) {
      problem = fmt::format("starting index {} is greater than ending index {}", first, last);
    } else if (asked.step.value_or(1) <= 0) {
      problem = "step must be > 0";
    }
    if (!problem.empty()) {
      if (lenient_) continue;
      fail(step, problem);
    }
    const std::int64_t stride = asked.step.value_or(1);
    for (std::int64_t i = first; i < last; i += stride) {
      keep(found, reader_.element(node, static_cast<std::size_t>(i)));
    }
  }
  return found;
}

Nodes JsonPathEvaluation::filter(const Nodes& from, const JsonPathStep& step) {
  Nodes found;
  for (const JsonNode& node : from) {
    const Value::Type type = reader_.type(node);
    if (type != Value::Type::Array) {
      if (lenient_) continue;
      fail(step, fmt::format("{} is not array or slice and cannot be filtered", toString(type)));
    }
    for (std::size_t i = 0; i < reader_.size(node); ++i) {
      spend();
      const JsonNode element = reader_.element(node, i);
      if (holds(element, step)) keep(found, element);
    }
  }
  return found;
}

/// Orders numbers among numbers and strings among strings; compares booleans for equality only.
std::partial_ordering compare(const Value& a, const Value& b) {
  if (a.isInt() && b.isInt()) return a.asInt() <=> b.asInt();
  if (a.isNumber() && b.isNumber()) return a.asDouble() <=> b.asDouble();
  return a.asString() <=> b.asString();
}

bool JsonPathEvaluation::holds(const JsonNode& element, const JsonPathStep& step) {
  if (step.compare == JsonPathOperator::Exists) {
    const bool before = std::exchange(lenient_, true);
    const bool exists = !walk({element}, step.paths[0]).empty();
    lenient_ = before;
    return exists;
  }
  const std::optional<JsonNode> leftNode = operand(element, step, step.paths[0]);
  if (!leftNode) return false;
  const std::optional<JsonNode> rightNode = operand(element, step, step.paths[1]);
  if (!rightNode) return false;
  const Value left = scalar(*leftNode, step);
  const Value right = scalar(*rightNode, step);

  const bool equality =
      step.compare == JsonPathOperator::Equal || step.compare == JsonPathOperator::NotEqual;
  for (const Value* side : {&left, &right}) {
    const bool comparable = side->isNumber() || side->isString() || (side->isBool() && equality);
    if (!comparable) {
      fail(step, fmt::format("invalid type for comparison: {}", toString(side->type())));
    }
  }
  if (left.isNumber() != right.isNumber() || left.isString() != right.isString()) {
    fail(step, fmt::format("incompatible types for comparison: {} and {}", toString(left.type()),
                           toString(right.type())));
  }
  const bool equal = left.isBool() ? left.asBool() == right.asBool() : compare(left, right) == 0;
  switch (step.compare) {
    case JsonPathOperator::Equal:
      return equal;
    case JsonPathOperator::NotEqual:
      return !equal;
    case JsonPathOperator::Less:
      return compare(left, right) < 0;
    case JsonPathOperator::LessEqual:
      return compare(left, right) <= 0;
    case JsonPathOperator::Greater:
      return compare(left, right) > 0;
    default:
      return compare(left, right) >= 0;
  }
}

std::optional<JsonNode> JsonPathEvaluation::operand(const JsonNode& element,
                                                    const JsonPathStep& step,
                                                    const JsonPathSteps& steps) {
  Nodes found = walk({element}, steps);
  if (found.empty()) return std::nullopt;
  if (found.size() > 1) fail(step, "can only compare one element at a time");
  return std::move(found.front());
}

Value JsonPathEvaluation::scalar(const JsonNode& node, const JsonPathStep& step) {
  const Value::Type type = reader_.type(node);
  if (type == Value::Type::Array || type == Value::Type::Object) {
    fail(step, fmt::format("invalid type for comparison: {}", toString(type)));
  }
  return reader_.scalar(node);
}

std::string textOf(const Value& value) {
  switch (value.type()) {
    case Value::Type::Null:
      return "null";
    case Value::Type::Bool:
      return value.asBool() ? "true" : "false";
    case Value::Type::Int:
      return std::to_string(value.asInt());
    case Value::Type::Double:
      return detail::formatYamlFloat(value.asDouble());
    case Value::Type::String:
      return value.asString().str();
    default:
      return toGoJson(value);
  }
}

// Text counts too: about a line for each visit.
constexpr std::size_t kBytesPerVisit = 16;

template <class Root>
std::vector<Value> findAll(const detail::JsonPathTemplate& parsed, const JsonPathOptions& options,
                           Root root) {
  JsonPathEvaluation evaluation(options);
  std::vector<Value> values;
  evaluation.run(parsed.parts, root(evaluation.reader()), [&](const Nodes& found) {
    for (const JsonNode& node : found) values.push_back(evaluation.value(node));
  });
  return values;
}

template <class Root>
std::string printAll(const detail::JsonPathTemplate& parsed, const JsonPathOptions& options,
                     Root root) {
  JsonPathEvaluation evaluation(options);
  std::string out;
  evaluation.run(parsed.parts, root(evaluation.reader()), [&](const Nodes& found) {
    bool first = true;
    for (const JsonNode& node : found) {
      if (!std::exchange(first, false)) out += ' ';
      const std::string text = textOf(evaluation.value(node));
      evaluation.spend(text.size() / kBytesPerVisit);
      out += text;
    }
  });
  return out;
}

template <class Root>
std::string printAllJson(const detail::JsonPathTemplate& parsed, const JsonPathOptions& options,
                         Root root) {
  JsonPathEvaluation evaluation(options);
  std::string out;
  evaluation.run(parsed.parts, root(evaluation.reader()), [&](const Nodes& found) {
    Value::Array values;
    for (const JsonNode& node : found) values.push_back(evaluation.value(node));
    const std::string text = toGoJson(Value(std::move(values)), 4);
    evaluation.spend(text.size() / kBytesPerVisit);
    out.append(text).append("\n");
  });
  return out;
}

auto rootOf(const Value& object) {
  return [&](NodeReader&) { return JsonNode::of(object); };
}
auto rootOf(const TypeInfo& type, const void* object) {
  return [&type, object](NodeReader& reader) { return reader.root(type, object); };
}

}  // namespace

JsonPath::JsonPath(std::shared_ptr<const detail::JsonPathTemplate> parsed)
    : template_(std::move(parsed)) {}

JsonPath JsonPath::parse(std::string_view text) {
  return JsonPath(std::make_shared<const detail::JsonPathTemplate>(detail::parseJsonPath(text)));
}

JsonPath JsonPath::parseRelaxed(std::string_view text) { return parse(relaxedJsonPath(text)); }

std::vector<Value> JsonPath::find(const Value& object, const JsonPathOptions& options) const {
  return findAll(*template_, options, rootOf(object));
}

std::vector<Value> JsonPath::find(const TypeInfo& type, const void* object,
                                  const JsonPathOptions& options) const {
  return findAll(*template_, options, rootOf(type, object));
}

std::string JsonPath::print(const Value& object, const JsonPathOptions& options) const {
  return printAll(*template_, options, rootOf(object));
}

std::string JsonPath::print(const TypeInfo& type, const void* object,
                            const JsonPathOptions& options) const {
  return printAll(*template_, options, rootOf(type, object));
}

std::string JsonPath::printJson(const Value& object, const JsonPathOptions& options) const {
  return printAllJson(*template_, options, rootOf(object));
}

std::string JsonPath::printJson(const TypeInfo& type, const void* object,
                                const JsonPathOptions& options) const {
  return printAllJson(*template_, options, rootOf(type, object));
}

}  // namespace kube
