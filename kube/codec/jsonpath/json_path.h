// JSONPath templates as in kubectl's `-o jsonpath`, for dynamic values and all described objects.
//
//   const auto path = JsonPath::parse("{range .items[*]}{.metadata.name}{\"\\n\"}{end}");
//   std::cout << path.print(podList);    // a corev1::PodList, or a Value
//   std::vector<Value> names = JsonPath::parse("{.items[*].metadata.name}").find(podList);
//
// A template is text with paths in braces:
//
//   {.a.b}  {['a']}  {.a\.b}  {['a.b']}   members; the last is .a.b
//   {.a[0]}  {.a[-1]}  {.a[1:3]}  {.a[::2]}   elements, and slices [from:to:step]
//   {.a[0,2]}  {['a', 'b.c']}             several at once
//   {.a[*]}  {.a.*}                       all elements or members; members by name
//   {..name}                              at any depth
//   {.a[?(@.b=="x")]}                     elements for which this holds: == != < <= > >=; or, for a
//                                         path alone, elements in which it finds a value
//   {range .a[*]}...{end}                 the template between, for each
//   {"text\n"}  {3}  {true}               a literal
//   {@}  {$}                              the start of the path: the object, or range's item
//
// Members that JSON would not show do not exist: a described object is read as the JSON that it
// stands for, without making that text; only results become Values. As in upstream, filters have no
// && and ||, and there are no regular expressions. Unlike in upstream, a range must have its end,
// errors in a template are reported when it is parsed, and a number can be compared with any
// number.
//
// Errors: parsing throws DecodeError with the offset. Evaluating throws Error if a member is
// missing (see allowMissingKeys), an index is out of bounds or a value has the wrong type.
//
// Thread safety: a JsonPath is immutable and cheap to copy; any thread may use it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kube/meta/any_object.h"
#include "kube/meta/type_info.h"
#include "kube/meta/value.h"

namespace kube {

namespace detail {
struct JsonPathTemplate;
}

struct JsonPathOptions {
  /// A path to a missing member gives no result instead of an error.
  bool allowMissingKeys = false;

  /// The limit for values that an evaluation visits; beyond it, the evaluation throws Error. `..`
  /// behind `..` may visit each value many times.
  std::size_t maxVisited = 20'000'000;
};

class JsonPath {
 public:
  /// Throws DecodeError.
  static JsonPath parse(std::string_view text);
  /// Parses a path as in custom columns and --sort-by, with or without braces and the first dot.
  static JsonPath parseRelaxed(std::string_view text);

  /// Returns the results of the template's paths in order, and its text and literals as results
  /// too.
  std::vector<Value> find(const Value& object, const JsonPathOptions& options = {}) const;
  std::vector<Value> find(const TypeInfo& type, const void* object,
                          const JsonPathOptions& options = {}) const;
  std::vector<Value> find(const AnyObject& object, const JsonPathOptions& options = {}) const {
    return find(object.type(), object.data(), options);
  }
  template <Described T>
  std::vector<Value> find(const T& object, const JsonPathOptions& options = {}) const {
    return find(TypeOf<T>::info, &object, options);
  }

  /// Fills in the template, as kubectl prints it: strings as they are, arrays and objects as JSON,
  /// several results of one path with a space between them.
  std::string print(const Value& object, const JsonPathOptions& options = {}) const;
  std::string print(const TypeInfo& type, const void* object,
                    const JsonPathOptions& options = {}) const;
  std::string print(const AnyObject& object, const JsonPathOptions& options = {}) const {
    return print(object.type(), object.data(), options);
  }
  template <Described T>
  std::string print(const T& object, const JsonPathOptions& options = {}) const {
    return print(TypeOf<T>::info, &object, options);
  }

  /// Writes the results of each path as an indented JSON array: kubectl's `-o jsonpath-as-json`.
  std::string printJson(const Value& object, const JsonPathOptions& options = {}) const;
  std::string printJson(const TypeInfo& type, const void* object,
                        const JsonPathOptions& options = {}) const;
  template <Described T>
  std::string printJson(const T& object, const JsonPathOptions& options = {}) const {
    return printJson(TypeOf<T>::info, &object, options);
  }

 private:
  explicit JsonPath(std::shared_ptr<const detail::JsonPathTemplate> parsed);

  std::shared_ptr<const detail::JsonPathTemplate> template_;
};

/// "x.y", ".x.y", "{x.y}" and "{.x.y}" become "{.x.y}"; "" stays. Throws DecodeError for others.
std::string relaxedJsonPath(std::string_view text);

}  // namespace kube
