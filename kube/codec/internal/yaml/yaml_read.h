// YAML text as a tree of nodes, document by document, with the place of each.
//
// For source files of this folder; the public face is kube/codec/yaml.h. What scalars mean is not
// decided here. Nodes stand in the order of the text, a collection before what is in it, so that a
// tree is one array and walking it needs no recursion here.
//
// Not for several threads at once. The text must outlive the reader.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kube::detail {

struct YamlPlace {
  std::uint32_t offset = 0;  // bytes
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

/// How a node was tagged. `Plain` and `Quoted` are the absence of a tag; block scalars are quoted.
enum class YamlTag : std::uint8_t {
  Plain,
  Quoted,
  Str,
  Bool,
  Int,
  Float,
  Null,
  Timestamp,
  Binary,
  Merge,
  Other,
};

struct YamlNode {
  enum class Kind : std::uint8_t { Scalar, Sequence, Mapping, Alias };
  Kind kind = Kind::Scalar;
  YamlTag tag = YamlTag::Plain;
  bool missing = false;      // nothing was written where a scalar could be
  std::uint32_t end = 0;     // the node behind this one and all that is in it
  std::uint32_t target = 0;  // of an alias: the node it stands for
  std::uint32_t text = 0;    // of a scalar: where its text starts, and its length
  std::uint32_t size = 0;
  YamlPlace place;
};

/// One document. The root is node 0.
struct YamlTree {
  std::vector<YamlNode> nodes;
  std::string text;

  std::string_view textOf(const YamlNode& node) const noexcept {
    return std::string_view(text).substr(node.text, node.size);
  }
};

class YamlReader {
 public:
  /// Throws DecodeError if the text is not UTF-8, or has characters that YAML does not allow.
  explicit YamlReader(std::string_view text);
  ~YamlReader();
  YamlReader(const YamlReader&) = delete;
  YamlReader& operator=(const YamlReader&) = delete;

  /// The next document; false when there is none. Throws DecodeError.
  bool next(YamlTree& tree);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

[[noreturn]] void failYaml(const YamlPlace& place, std::string reason, std::string path = {});

}  // namespace kube::detail
