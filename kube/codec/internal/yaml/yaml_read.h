// Reads YAML text as a tree of nodes, document by document, with the place of each node.
//
// For source files of this folder; the public face is kube/codec/yaml.h. Scalars are not
// interpreted here. Nodes stand in the order of the text, a collection before its content, so that
// a tree is one array and walking it needs no recursion here.
//
// Thread safety: one thread at a time. The text must outlive the reader.
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

/// The tag of a node. `Plain` and `Quoted` mean that it has none; block scalars count as quoted.
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
  bool missing = false;      // no text where a scalar could be
  std::uint32_t end = 0;     // the node behind this one and its content
  std::uint32_t target = 0;  // for an alias: the node that it stands for
  std::uint32_t text = 0;    // for a scalar: start and length of its text
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

  /// Reads the next document; returns false if there is none. Throws DecodeError.
  bool next(YamlTree& tree);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

[[noreturn]] void failYaml(const YamlPlace& place, std::string reason, std::string path = {});

}  // namespace kube::detail
