// Reads and writes YAML, for described types and dynamic values, as kubectl does.
//
//   auto pod = kube::fromYaml<kube::corev1::Pod>(text);
//   std::string text = kube::toYaml(pod);
//   for (const kube::YamlDocument& document : kube::splitYaml(manifests)) ...
//
// YAML is converted to JSON, which the JSON decoder reads: its options, checks and errors apply
// (see kube/codec/json.h), with places of the YAML text. As in Kubernetes, scalars follow YAML 1.1:
// an unquoted yes, no, on, off, y or n is a boolean, 0644 is octal, times stay strings, and numbers
// as keys become strings. Anchors, aliases and merge keys are expanded, up to a limit; a key that
// is written out wins over a merged one. If a key is set twice, the last one wins, unless decoding
// is strict. Text that is JSON is read as JSON. Nesting is limited to about 500 levels.
//
// Output equals kubectl's byte for byte: sorted keys, two spaces, quotes only where needed.
//
// Thread safety: all functions may be called from any thread; a Pool, by one thread at a time.
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
/// DecodeError; the object must be discarded then.
void decodeYaml(const TypeInfo& type, void* object, std::string_view text,
                const DecodeOptions& options = {});

template <Described T>
T fromYaml(std::string_view text, const DecodeOptions& options = {}) {
  T object{};
  decodeYaml(TypeOf<T>::info, &object, text, options);
  return object;
}

// Names the missing description in the compiler's message.
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

/// Parses the text's only document.
Value parseYaml(std::string_view text, const DecodeOptions& options = {});
std::string toYaml(const Value& value);

/// One document as JSON, with the places of its parts in the YAML text. For objects whose kind
/// selects their type:
///
///   if (document.type().kind == "Pod") start(document.as<kube::corev1::Pod>());
struct YamlDocument {
  struct Mark {
    std::uint32_t json;                  // offset in `json` of a part that ends at the next mark
    std::uint32_t offset, line, column;  // place of that part in the YAML text
  };

  std::string json;
  std::size_t number = 1;  // number of its document in the text, from 1; empty ones count
  std::size_t offset = 0;  // offset of its first node in the whole text
  std::size_t line = 1;
  std::size_t column = 1;
  std::vector<Mark> marks;              // empty if the text was JSON
  std::vector<std::string> duplicates;  // keys set more than once, as messages of strict decoding

  using Type = TypeMeta;
  /// The kind that the object names; parts that it leaves out are empty.
  Type type() const;

  /// Decodes as decodeJson does; errors name the place in the YAML text.
  void decode(const TypeInfo& type, void* object, const DecodeOptions& options = {}) const;
  Value value(const DecodeOptions& options = {}) const;

  template <Described T>
  T as(const DecodeOptions& options = {}) const {
    T object{};
    decode(TypeOf<T>::info, &object, options);
    return object;
  }
};

/// Returns the text's only document.
YamlDocument yamlDocument(std::string_view text);

struct YamlSplitOptions {
  /// Replaces a `kind: List` of v1 by its items, each as a document.
  bool expandLists = false;
};

/// Returns all documents except empty ones and nulls. JSON objects may follow each other without a
/// separator. Throws DecodeError.
std::vector<YamlDocument> splitYaml(std::string_view text, const YamlSplitOptions& options = {});

}  // namespace kube
