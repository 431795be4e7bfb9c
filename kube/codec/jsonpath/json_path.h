// JSONPath templates as kubectl's `-o jsonpath` understands them, over dynamic values and over any
// described object.
//
//   const auto path = JsonPath::parse("{range .items[*]}{.metadata.name}{\"\\n\"}{end}");
//   std::cout << path.print(podList);                               // a corev1::PodList, or a
//   Value std::vector<Value> names = JsonPath::parse("{.items[*].metadata.name}").find(podList);
//
// A template is text with paths in braces:
//
//   {.a.b}  {['a']}  {.a\.b}  {['a.b']}   members; the last is .a.b
//   {.a[0]}  {.a[-1]}  {.a[1:3]}  {.a[::2]}   elements, and slices [from:to:step]
//   {.a[0,2]}  {['a', 'b.c']}             several at once
//   {.a[*]}  {.a.*}                       all elements or members; members by name
//   {..name}                              at any depth
//   {.a[?(@.b=="x")]}                     elements for which this holds: == != < <= > >=, or, with
//                                         nothing but a path, that there is such a thing
//   {range .a[*]}...{end}                 the template between, for each
//   {"text\n"}  {3}  {true}               a literal
//   {@}  {$}                              what the path starts from: the object, or range's item
//
// Members that JSON would not show are not there: a described object is read as the JSON it stands
// for, without making that; only results become Values. As upstream's, filters have no && and ||,
// and there are no regular expressions. Differing from upstream's, range must have its end; what is
// wrong in a template is said when it is parsed; a number is compared with any number.
//
// Errors: parsing throws DecodeError with the offset. Evaluating throws Error when a member is
// missing (see allowMissingKeys), an index is out of bounds or something is not of the right type.
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
  /// A path to a member that is not there gives nothing, rather than an error.
  bool allowMissingKeys = false;

  /// How many values an evaluation may look at. `..` behind `..` may look at each of them many
  /// times over; this is where that ends, with an Error.
  std::size_t maxVisited = 20'000'000;
};

class JsonPath {
 public:
  /// Throws DecodeError.
  static JsonPath parse(std::string_view text);
  /// A path as custom columns and --sort-by have it, with or without braces and the first dot.
  static JsonPath parseRelaxed(std::string_view text);

  /// What the template's paths lead to, in order; its text and literals are results, too.
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

  /// The template filled in, as kubectl prints it: strings as they are, arrays and objects as JSON,
  /// several results of one path with a space between.
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

  /// The results of each path as an indented JSON array: kubectl's `-o jsonpath-as-json`.
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
