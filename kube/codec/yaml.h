// YAML in and out, for described types and dynamic values, as kubectl reads and prints it.
//
//   auto pod = kube::fromYaml<kube::corev1::Pod>(text);
//   std::string text = kube::toYaml(pod);
//   for (const kube::YamlDocument& document : kube::splitYaml(manifests)) ...
//
// YAML becomes JSON, which the JSON decoder takes from there: options, checks and errors are its
// own (see kube/codec/json.h), with the places of the YAML text. As in Kubernetes, scalars are YAML
// 1.1's: an unquoted yes, no, on, off, y or n is a boolean, 0644 is octal, times stay strings, and
// numbers as keys become strings. Anchors, aliases and merge keys are expanded, up to a limit; a
// key that is written out wins over a merged one. Of a key that is set twice the last wins, unless
// decoding is strict. Text that is JSON is taken as JSON. Nesting is limited, to about 500 levels.
//
// Output is byte for byte what kubectl prints: sorted keys, two spaces, quotes only where needed.
//
// Thread safety: all functions may be called from any thread; a Pool, from one at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kube/codec/json.h"
#include "kube/codec/options.h"
#include "kube/meta/type_info.h"
#include "kube/meta/value.h"

namespace kube {

/// Decodes the text's only document into `object`, which must be default-constructed. Throws
/// DecodeError; the object is then to be thrown away.
void decodeYaml(const TypeInfo& type, void* object, std::string_view text,
                const DecodeOptions& options = {});

template <Described T>
T fromYaml(std::string_view text, const DecodeOptions& options = {}) {
  T object{};
  decodeYaml(TypeOf<T>::info, &object, text, options);
  return object;
}

// Says what is missing, where there is no description.
template <class T>
requires(!Described<T>) T fromYaml(std::string_view, const DecodeOptions& = {}) {
  static_assert(Described<T>, "fromYaml: the type has no description; see KUBE_DESCRIBE");
}

void encodeYaml(const TypeInfo& type, const void* object, std::string& out);

template <Described T>
std::string toYaml(const T& object) {
  std::string out;
  encodeYaml(TypeOf<T>::info, &object, out);
  return out;
}

/// The text's only document.
Value parseYaml(std::string_view text, const DecodeOptions& options = {});
std::string toYaml(const Value& value);

/// One document, as JSON, with where its parts were in the YAML text. For objects whose type is
/// not known before their kind has been looked at:
///
///   if (document.type().kind == "Pod") start(document.as<kube::corev1::Pod>());
struct YamlDocument {
  struct Mark {
    std::uint32_t json;  // an offset in `json`; what follows up to the next mark was at
    std::uint32_t offset, line, column;
  };

  std::string json;
  std::size_t number = 1;  // which of the text's documents it is or was in; empty ones count
  std::size_t offset = 0;  // of its first node in the whole text
  std::size_t line = 1;
  std::size_t column = 1;
  std::vector<Mark> marks;              // empty if the text was JSON
  std::vector<std::string> duplicates;  // keys set more than once, in the words of strict decoding

  using Type = TypeMeta;
  /// What the object says it is; empty where it does not.
  Type type() const;

  /// As decodeJson, with errors that tell the place in the YAML text.
  void decode(const TypeInfo& type, void* object, const DecodeOptions& options = {}) const;
  Value value(const DecodeOptions& options = {}) const;

  template <Described T>
  T as(const DecodeOptions& options = {}) const {
    T object{};
    decode(TypeOf<T>::info, &object, options);
    return object;
  }
};

/// The text's only document.
YamlDocument yamlDocument(std::string_view text);

struct YamlSplitOptions {
  /// The items of a `kind: List` of v1 in its place, each as a document.
  bool expandLists = false;
};

/// All documents, of JSON also objects that just follow each other; those that are empty or null
/// are left out. Throws DecodeError.
std::vector<YamlDocument> splitYaml(std::string_view text, const YamlSplitOptions& options = {});

}  // namespace kube
