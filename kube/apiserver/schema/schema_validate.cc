// Validates a value against a schema: kube-openapi's checks, in its order and with its messages,
// and the ratcheting of apiextensions-apiserver, which accepts unchanged values that were invalid
// before.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "kube/apiserver/schema/schema_node.h"
#include "kube/apiserver/schema/schema_place.h"
#include "kube/apiserver/schema/schema_ratchet.h"
#include "kube/base/internal/utf8.h"
#include "kube/codec/apply/path_element.h"
#include "kube/codec/internal/float_text.h"

namespace kube::apiserver {

namespace {

using kube::detail::decodeUtf8;
using kube::detail::formatYamlFloat;
using kube::detail::quoted;

struct ValueType {
  std::string_view name;
  std::uint8_t bit;
  std::string_view format;  // for numbers
};

ValueType typeOf(const Value& value) {
  switch (value.type()) {
    case Value::Type::Bool:
      return {"boolean", kBoolean, ""};
    case Value::Type::Int:
      return {"integer", kInteger, "int64"};
    case Value::Type::Double:
      return {"number", kNumber, "float64"};
    case Value::Type::String:
      return {"string", kString, ""};
    case Value::Type::Array:
      return {"array", kArray, ""};
    case Value::Type::Object:
      return {"object", kObject, ""};
    case Value::Type::Null:
      break;
  }
  return {"null", 0, ""};
}

// True if a double is an integer that differs from its neighbours. A small error is accepted: 0.3
// is three times 0.1, though not to the last bit.
bool isWhole(double value) {
  constexpr double kTwoTo53 = 9007199254740992;
  if (!std::isfinite(value) || value < -kTwoTo53 || value > kTwoTo53 - 1) return false;
  const double rounded = std::round(value);
  return value == rounded || std::abs(value - rounded) < 1e-9 * std::abs(rounded);
}

std::int64_t clamped(double value) {
  if (std::isnan(value)) return 0;
  if (value >= 9223372036854775808.0) return std::numeric_limits<std::int64_t>::max();
  if (value <= -9223372036854775808.0) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(value);
}

std::size_t codePoints(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) {
    char32_t code = 0;
    at += std::max<std::size_t>(decodeUtf8(text, at, code), 1);
  }
  return count;
}

bool valueFits(const Value& value, const SchemaNode& node) {
  if (node.types == kInteger) {
    if (value.isInt()) {
      return node.numberFormat != SchemaNode::NumberFormat::Int32 ||
             value.asInt() == static_cast<std::int32_t>(value.asInt());
    }
    return limitFits(value.asDouble(), node);
  }
  return value.isInt() || limitFits(value.asDouble(), node);
}

class Validation {
 public:
  explicit Validation(const ErrorPath& base) : base_(base.empty() ? std::string() : base.str()) {}

  void run(const Value& value, const Value* old, const SchemaNode& node) {
    validate(value, old, node, &node, SchemaPlace(), /*ratchet=*/true);
    if (visits_ > kMaxVisits) {
      found_.add(FieldError::internal(ErrorPath(base_), "too much to validate"));
    }
  }

  FieldErrors done() {
    FieldErrors distinct;
    for (FieldError& error : found_.list()) {
      if (std::find(distinct.begin(), distinct.end(), error) == distinct.end()) {
        distinct.push_back(std::move(error));
      }
    }
    return distinct;
  }

 private:
  // The number of checks that passed. If none of several alternatives fits, the one with the
  // highest score provides the error. The counts are upstream's.
  using Score = int;

  // Validates a place and everything below it. `structure` is the schema of the place outside of
  // any allOf, anyOf, oneOf and not; it tells which elements of lists correspond.
  Score validate(const Value& value, const Value* old, const SchemaNode& node,
                 const SchemaNode* structure, const SchemaPlace& place, bool ratchet) {
    const std::size_t before = count_;
    const std::size_t told = found_.size();
    const Score score = checks(value, old, node, structure, place);
    if (ratchet && old != nullptr && count_ > before &&
        isUnchanged(value, *old, structure, visits_)) {
      count_ = before;
      found_.forgetFrom(told);
    }
    return score;
  }

  Score checks(const Value& value, const Value* old, const SchemaNode& node,
               const SchemaNode* structure, const SchemaPlace& place) {
    if (++visits_ > kMaxVisits || (!quiet_ && found_.full())) return 0;
    if (value.isNull()) {
      const Score score = type(value, node, place) ? 1 : 0;
      if (node.rules != nullptr) enumeration(value, *node.rules, place);
      return score;
    }
    Score score = 4;  // for the junctors, the enumeration, and the value as a whole
    if (node.types != 0 || !node.formatName.empty()) score += type(value, node, place) ? 2 : 1;
    const ValueRules* rules = node.rules.get();
    if (rules != nullptr) score += junctors(value, old, *rules, structure, place);
    if (value.isString()) {
      if (rules != nullptr) string(value, *rules, place);
      ++score;
      if (node.stringFormat != nullptr) {
        format(value, node, place);
        ++score;
      }
    } else if (value.isNumber()) {
      number(value, node, place);
      score += 2;
    } else if (value.isArray()) {
      score += array(value, old, node, structure, place) + 2;
    }
    if (rules != nullptr) enumeration(value, *rules, place);
    if (value.isObject()) score += object(value, old, node, structure, place) + 1;
    return score;
  }

  // --- Errors.

  ErrorPath pathOf(const SchemaPlace& place) const { return pathOf(place.text()); }
  ErrorPath pathOf(std::string_view text) const {
    if (text.starts_with('.')) text.remove_prefix(1);
    const ErrorPath base(base_);
    return text.empty() ? base : base.child(text);
  }
  // Makes the error only if it will be reported.
  template <class Make>
  void report(Make make) {
    ++count_;
    if (!quiet_ && !found_.full()) found_.add(make());
  }
  template <class... Args>
  void invalid(const SchemaPlace& place, const Value& value, fmt::format_string<Args...> what,
               Args&&... args) {
    report([&] {
      return FieldError::invalid(pathOf(place), value,
                                 fmt::format("{} in body {}", place.text(),
                                             fmt::vformat(what, fmt::make_format_args(args...))));
    });
  }
  // Reports an error that upstream does not tie to a field, even though its text names one.
  template <class... Args>
  void overall(const SchemaPlace& place, fmt::format_string<Args...> what, Args&&... args) {
    report([&] {
      return FieldError::invalid(ErrorPath(base_), "",
                                 fmt::format("{} {}", quoted(place.text()),
                                             fmt::vformat(what, fmt::make_format_args(args...))));
    });
  }
  void mistyped(const SchemaPlace& place, std::string_view expected, std::string_view found) {
    report([&] {
      return FieldError::typeInvalid(
          pathOf(place), found,
          fmt::format("{} in body must be of type {}: {}", place.text(), expected, quoted(found)));
    });
  }

  // --- Types.

  bool type(const Value& value, const SchemaNode& node, const SchemaPlace& place) {
    if (value.isNull()) {
      if (node.types == 0 || node.nullable) return true;
      mistyped(place, node.typeName, "null");
      return false;
    }
    const ValueType found = typeOf(value);
    const bool allowed =
        (node.types & found.bit) != 0 ||
        (value.isDouble() && (node.types & kInteger) != 0 && isWhole(value.asDouble())) ||
        (value.isInt() && (node.types & kNumber) != 0);
    const bool stringOrArray = value.isString() || value.isArray();
    if (!stringOrArray && !node.formatName.empty() && !allowed && found.format != node.formatName) {
      mistyped(place, node.formatName, found.format);
      return false;
    }
    // As upstream: the format's own check decides here.
    if ((node.types & (kNumber | kInteger)) == 0 && !node.formatName.empty() && stringOrArray) {
      return true;
    }
    if (!allowed) mistyped(place, node.typeName, found.name);
    return allowed;
  }

  // --- allOf, anyOf, oneOf, not.

  Score junctors(const Value& value, const Value* old, const ValueRules& rules,
                 const SchemaNode* structure, const SchemaPlace& place) {
    Score score = 0;
    if (!rules.anyOf.empty()) score += anyOf(value, old, rules, structure, place);
    if (!rules.oneOf.empty()) score += oneOf(value, old, rules, structure, place);
    if (!rules.allOf.empty()) score += allOf(value, old, rules, structure, place);
    if (rules.not_ != nullptr && attempt(*rules.not_, value, old, structure, place).valid) {
      overall(place, "must not validate the schema (not)");
    }
    return score;
  }

  struct Attempt {
    Score score = 0;
    bool valid = false;
  };
  // Validates without reporting: the errors of most alternatives are never shown.
  Attempt attempt(const SchemaNode& node, const Value& value, const Value* old,
                  const SchemaNode* structure, const SchemaPlace& place) {
    const std::size_t before = count_;
    const bool quiet = std::exchange(quiet_, true);
    const Score score = validate(value, old, node, structure, place, /*ratchet=*/false);
    quiet_ = quiet;
    return {score, std::exchange(count_, before) == before};
  }
  Score tell(const SchemaNode& node, const Value& value, const Value* old,
             const SchemaNode* structure, const SchemaPlace& place) {
    return validate(value, old, node, structure, place, /*ratchet=*/false);
  }

  Score anyOf(const Value& value, const Value* old, const ValueRules& rules,
              const SchemaNode* structure, const SchemaPlace& place) {
    const SchemaNode* best = nullptr;
    Score bestScore = 0;
    for (const SchemaNode* node : rules.anyOf) {
      const auto [score, valid] = attempt(*node, value, old, structure, place);
      if (valid) return score;
      if (best == nullptr || score > bestScore) {
        best = node;
        bestScore = score;
      }
    }
    overall(place, "must validate at least one schema (anyOf)");
    if (!quiet_) tell(*best, value, old, structure, place);
    return bestScore;
  }

  Score oneOf(const Value& value, const Value* old, const ValueRules& rules,
              const SchemaNode* structure, const SchemaPlace& place) {
    const SchemaNode* best = nullptr;
    Score bestScore = 0;
    Score validScore = 0;
    int found = 0;
    for (const SchemaNode* node : rules.oneOf) {
      const auto [score, valid] = attempt(*node, value, old, structure, place);
      if (valid) {
        if (found++ == 0) validScore = score;
      } else if (best == nullptr || score > bestScore) {
        best = node;
        bestScore = score;
      }
    }
    if (found == 1) return validScore;
    if (found > 1) {
      overall(place, "must validate one and only one schema (oneOf). Found {} valid alternatives",
              found);
      return 0;
    }
    overall(place, "must validate one and only one schema (oneOf). Found none valid");
    if (!quiet_) tell(*best, value, old, structure, place);
    return bestScore;
  }

  Score allOf(const Value& value, const Value* old, const ValueRules& rules,
              const SchemaNode* structure, const SchemaPlace& place) {
    Score score = 0;
    std::size_t valid = 0;
    for (const SchemaNode* node : rules.allOf) {
      const std::size_t before = count_;
      score += tell(*node, value, old, structure, place);
      if (count_ == before) ++valid;
    }
    if (valid != rules.allOf.size()) {
      overall(place, "must validate all the schemas (allOf){}",
              valid == 0 ? ". None validated" : "");
    }
    return score;
  }

  // --- Scalars.

  void string(const Value& value, const ValueRules& rules, const SchemaPlace& place) {
    const std::string_view text = value.asString();
    if (rules.maxLength || rules.minLength) {
      const auto length = static_cast<std::int64_t>(codePoints(text));
      if (rules.maxLength && length > *rules.maxLength) {
        report([&] { return FieldError::tooLong(pathOf(place), *rules.maxLength); });
        return;
      }
      if (rules.minLength && length < *rules.minLength) {
        invalid(place, value, "should be at least {} chars long", *rules.minLength);
        return;
      }
    }
    if (rules.compiledPattern != nullptr && !rules.compiledPattern->matches(text)) {
      invalid(place, value, "should match '{}'", rules.pattern);
    }
  }

  void format(const Value& value, const SchemaNode& node, const SchemaPlace& place) {
    if (node.stringFormat->matches(value.asString())) return;
    mistyped(place, node.formatName, value.asString());
  }

  void number(const Value& value, const SchemaNode& node, const SchemaPlace& place) {
    if (!valueFits(value, node)) misfit("Checked", node, place);
    if (node.rules == nullptr) return;
    const ValueRules& rules = *node.rules;
    if (rules.multipleOf) multipleOf(value, *rules.multipleOf, node, place);
    if (rules.minimum) bound(value, *rules.minimum, "Minimum boundary", -1, node, place);
    if (rules.maximum) bound(value, *rules.maximum, "Maximum boundary", 1, node, place);
  }

  void misfit(std::string_view what, const SchemaNode& node, const SchemaPlace& place) {
    report([&] {
      return FieldError::invalid(
          ErrorPath(base_), "",
          fmt::format(
              "{} value must be of type {} {} in {}", what, node.typeName,
              node.formatName.empty() ? "(default format)" : "with format " + node.formatName,
              place.text()));
    });
  }

  // `direction` is 1 for a maximum, -1 for a minimum.
  void bound(const Value& value, const Limit& limit, std::string_view what, int direction,
             const SchemaNode& node, const SchemaPlace& place) {
    if (!limit.fitsType) misfit(what, node, place);
    const bool integers = limit.fitsType && value.isInt();
    const std::int64_t whole = clamped(limit.value);
    const auto order = integers ? compareValues(value, whole) : compareValues(value, limit.value);
    const bool beyond = (direction > 0 ? order > 0 : order < 0) || (limit.exclusive && order == 0);
    if (!beyond) return;
    invalid(place, integers ? value : Value(value.asDouble()), "should be {} than {}{}",
            direction > 0 ? "less" : "greater", limit.exclusive ? "" : "or equal to ",
            integers ? std::to_string(whole) : formatYamlFloat(limit.value));
  }

  void multipleOf(const Value& value, const Limit& factor, const SchemaNode& node,
                  const SchemaPlace& place) {
    if (!factor.fitsType) misfit("MultipleOf", node, place);
    const bool integers = factor.fitsType && value.isInt();
    const Value divisor = integers ? Value(clamped(factor.value)) : Value(factor.value);
    const auto shown = [&] {
      return integers ? std::to_string(divisor.asInt()) : formatYamlFloat(factor.value);
    };
    if (integers ? divisor.asInt() <= 0 : factor.value <= 0) {
      report([&] {
        return FieldError::invalid(
            pathOf(place), divisor,
            fmt::format("factor MultipleOf declared for {} must be positive: {}", place.text(),
                        shown()));
      });
      return;
    }
    const double number = value.asDouble();
    const bool multiple =
        integers ? value.asInt() % divisor.asInt() == 0
                 : isWhole(factor.value < 1 ? 1 / factor.value * number : number / factor.value);
    if (!multiple) {
      invalid(place, integers ? value : Value(number), "should be a multiple of {}", shown());
    }
  }

  void enumeration(const Value& value, const ValueRules& rules, const SchemaPlace& place) {
    if (rules.enumShown.empty()) return;
    const auto less = [](const Value& a, const Value& b) { return compareValues(a, b) < 0; };
    if (!value.isNull() &&
        std::binary_search(rules.enum_.begin(), rules.enum_.end(), value, less)) {
      return;
    }
    report([&] {
      const std::vector<std::string_view> shown(rules.enumShown.begin(), rules.enumShown.end());
      return FieldError::notSupported(pathOf(place), value, shown);
    });
  }

  // --- Lists and objects.

  Score array(const Value& value, const Value* old, const SchemaNode& node,
              const SchemaNode* structure, const SchemaPlace& place) {
    Score score = 0;
    const Value::Array& items = value.asArray();
    if (node.items != nullptr) {
      const SchemaNode* inside = structure != nullptr ? structure->items : nullptr;
      const bool correlated = old != nullptr && old->isArray() && structure != nullptr &&
                              structure->listType == SchemaNode::ListType::Map;
      std::optional<OldElements> elements;
      if (correlated) elements.emplace(old->asArray(), *structure);
      std::size_t i = 0;
      for (const Value& item : items) {
        const Value* before = elements ? elements->find(item) : nullptr;
        score += validate(item, before, *node.items, inside, place.index(i++), true);
      }
    }
    if (node.rules == nullptr) return score;
    const ValueRules& rules = *node.rules;
    const auto size = static_cast<std::int64_t>(items.size());
    if (rules.minItems && size < *rules.minItems) {
      invalid(place, size, "should have at least {} items", *rules.minItems);
    }
    if (rules.maxItems && size > *rules.maxItems) {
      report([&] { return FieldError::tooMany(pathOf(place), size, *rules.maxItems); });
    }
    return score;
  }

  Score object(const Value& value, const Value* old, const SchemaNode& node,
               const SchemaNode* structure, const SchemaPlace& place) {
    const Value::Object& members = value.asObject();
    const auto size = static_cast<std::int64_t>(members.size());
    const ValueRules* rules = node.rules.get();
    if (rules != nullptr && rules->minProperties && size < *rules->minProperties) {
      invalid(place, size, "should have at least {} properties", *rules->minProperties);
    }
    if (rules != nullptr && rules->maxProperties && size > *rules->maxProperties) {
      report([&] { return FieldError::tooMany(pathOf(place), size, *rules->maxProperties); });
    }
    Score score = 0;
    if (node.hasAdditional && (!node.allowsAdditional || node.additional != nullptr)) {
      for (const auto& [key, member] : members) {
        if (node.property(key) != nullptr) continue;
        if (node.additional != nullptr) {
          score += child(key, member, old, *node.additional, structure, place, place.entry(key));
        } else {
          report([&, key = &key] {
            return FieldError::invalid(
                pathOf(place), *key,
                fmt::format("{}.{} in body is a forbidden property", place.text(), *key));
          });
        }
      }
    }
    auto member = members.begin();
    for (const auto& [name, inside] : node.properties) {
      while (member != members.end() && member->key < name) ++member;
      if (member == members.end()) break;
      if (member->key != name) continue;
      score += child(name, member->value, old, *inside, structure, place, place.child(name));
    }
    if (rules == nullptr) return score;
    for (const String& name : rules->required) {
      if (members.contains(name)) continue;
      report([&] { return FieldError::required(pathOf(place.entry(name))); });
    }
    return score;
  }

  Score child(std::string_view name, const Value& member, const Value* old, const SchemaNode& node,
              const SchemaNode* structure, const SchemaPlace& place, const SchemaPlace& inside) {
    const SchemaNode* described = nullptr;
    if (structure != nullptr) {
      described = structure->property(name);
      if (described == nullptr) described = structure->additional;
    }
    const Value* before = nullptr;
    // kind and apiVersion are made equal before the comparison, so they correlate nothing.
    const bool typeMeta = place.isRoot() && (name == "kind" || name == "apiVersion");
    if (old != nullptr && described != nullptr && !typeMeta) {
      const auto at = old->asObject().find(name);
      if (at != old->asObject().end()) before = &at->value;
    }
    return validate(member, before, node, described, inside, true);
  }

  std::string base_;
  FoundErrors found_;
  std::size_t count_ = 0;  // of all errors, reported or not
  bool quiet_ = false;
  std::uint64_t visits_ = 0;
};

}  // namespace

bool limitFits(double value, const SchemaNode& node) {
  if (node.types == kInteger) {
    if (std::trunc(value) != value) return false;
    if (node.numberFormat == SchemaNode::NumberFormat::Int32) {
      return value >= -2147483648.0 && value <= 2147483647.0;
    }
    return value >= -9223372036854775808.0 && value < 9223372036854775808.0;
  }
  if (node.types == kNumber && node.numberFormat == SchemaNode::NumberFormat::Float) {
    return std::isfinite(static_cast<float>(value));
  }
  return true;
}

FieldErrors valueErrors(const Value& value, const Value* old, const SchemaNode& node,
                        const ErrorPath& path) {
  Validation validation(path);
  validation.run(value, old, node);
  return validation.done();
}

}  // namespace kube::apiserver
