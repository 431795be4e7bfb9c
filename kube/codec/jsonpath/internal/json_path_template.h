// A parsed JSONPath template.
//
// For source files of this folder; the public face is kube/codec/jsonpath/json_path.h. Immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/meta/value.h"

namespace kube::detail {

struct JsonPathStep;
/// Each step starts from all results of the step before.
using JsonPathSteps = std::vector<JsonPathStep>;

enum class JsonPathOperator : std::uint8_t {
  Exists,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual
};

/// [from:to:step]. Negative indexes count from the end.
struct JsonPathSlice {
  std::optional<std::int64_t> from;
  std::optional<std::int64_t> to;
  std::optional<std::int64_t> step;
  bool single = false;  // one index: `to` is the index behind `from`
};

struct JsonPathStep {
  enum class Kind : std::uint8_t { Member, All, Descend, Slice, Union, Filter, Literal };
  Kind kind;
  std::size_t offset = 0;  // place in the template's text
  std::string name = {};   // for a Member
  JsonPathSlice slice = {};
  std::vector<JsonPathSteps> paths = {};  // for a Union; for a Filter, the left and the right side
  JsonPathOperator compare = JsonPathOperator::Exists;
  Value literal = {};
};

/// Text, a path in braces, or a range with the template up to its end.
struct JsonPathPart {
  JsonPathSteps steps = {};
  bool isRange = false;
  std::vector<JsonPathPart> body = {};
};

struct JsonPathTemplate {
  std::vector<JsonPathPart> parts;
};

/// Throws DecodeError.
JsonPathTemplate parseJsonPath(std::string_view text);

}  // namespace kube::detail
