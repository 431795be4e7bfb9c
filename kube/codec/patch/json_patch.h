// JSON Patch (RFC 6902): a list of operations on a document, applied one after the other.
//
//   auto patch = JsonPatch::parse(R"([{"op":"add","path":"/metadata/labels/a","value":"b"}])");
//   Value after = patch.apply(before);      // all of it, or an error
//   JsonPatch diff = createJsonPatch(before, after);
//   JsonPatch made;
//   made.test("/metadata/resourceVersion", "42").replace("/spec/replicas", 3);
//
// It behaves as the API server does, which fills gaps of RFC 6902 and is more lenient in places:
// - an array index may be negative, counted from the end; for `add`, - or -1 is behind the end
// - `replace` of a member that its object lacks adds it, and `copy` of one copies null
// - a missing member passes a `test` for null; no other missing value passes a test
// - `add`, `remove`, `move` and `copy` do not apply to the whole document; `replace` and `test` do
// Stricter than in the server, paths must be well-formed JSON pointers, and `add` and `replace`
// must have a value.
//
// Errors: text that is not a JSON patch is a DecodeError with the operation's index in its path. An
// operation that cannot be applied is a PatchError with its index, operation and path; the input is
// unchanged.
//
// Thread safety: as any C++ value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kube/codec/patch/json_pointer.h"
#include "kube/meta/value.h"

namespace kube {

struct JsonPatchLimits {
  std::size_t maxOperations = 10'000;  // as in the API server
  std::size_t maxCopyBytes = 3 << 20;  // of JSON in all copies together; as in the API server
  std::size_t maxDepth = 1000;         // of the document; as in decoders
};

class JsonPatch {
 public:
  enum class Op : std::uint8_t { Add, Remove, Replace, Move, Copy, Test };

  struct Operation {
    Op op;
    JsonPointer path;
    JsonPointer from = {};  // for Move and Copy
    Value value = {};       // for Add, Replace and Test

    bool operator==(const Operation&) const = default;
  };

  std::vector<Operation> operations;

  static JsonPatch parse(std::string_view json, const JsonPatchLimits& limits = {});
  static JsonPatch fromValue(const Value& patch, const JsonPatchLimits& limits = {});
  Value toValue() const;
  std::string toJson() const;

  Value apply(const Value& document, const JsonPatchLimits& limits = {}) const;

  // Paths are JSON pointers; malformed ones throw DecodeError.
  JsonPatch& add(std::string_view path, Value value);
  JsonPatch& remove(std::string_view path);
  JsonPatch& replace(std::string_view path, Value value);
  JsonPatch& move(std::string_view from, std::string_view path);
  JsonPatch& copy(std::string_view from, std::string_view path);
  JsonPatch& test(std::string_view path, Value value);

  bool empty() const noexcept { return operations.empty(); }
  bool operator==(const JsonPatch&) const = default;
};

std::string_view toString(JsonPatch::Op op) noexcept;

/// The operations that turn `from` into `to`: add, remove and replace, each as deep as possible.
/// Arrays are compared element by element, between the elements that they share at both ends.
JsonPatch createJsonPatch(const Value& from, const Value& to);

}  // namespace kube
