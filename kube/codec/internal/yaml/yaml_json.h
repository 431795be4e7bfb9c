// Converts one YAML document to JSON: resolves scalars, expands aliases and merge keys.
//
// For source files of this folder; the public face is kube/codec/yaml.h. One thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kube/codec/internal/yaml/yaml_read.h"
#include "kube/codec/internal/yaml/yaml_scalar.h"
#include "kube/codec/yaml.h"

namespace kube::detail {

class YamlToJson {
 public:
  /// `budget` is how many bytes may still be written, so that aliases cannot multiply without end.
  /// Writing reduces it.
  YamlToJson(const YamlTree& tree, std::size_t& budget) : tree_(tree), budget_(budget) {}

  /// Appends the whole document, or the items of a List. Null documents are left out. Throws
  /// DecodeError.
  void documents(bool expandLists, std::vector<YamlDocument>& out);
  YamlDocument document() { return write(0); }
  bool isNull(std::uint32_t node) const;

 private:
  struct Entry {
    std::string key;
    std::uint32_t keyNode;
    std::uint32_t valueNode;
  };

  // A member by its name, or an element of a sequence if the name is empty.
  struct Step {
    std::string_view name;
    std::size_t item;
  };

  YamlDocument write(std::uint32_t node);
  void expand(std::uint32_t node, std::vector<YamlDocument>& out);
  void value(std::uint32_t node);
  void scalar(const YamlNode& node);
  void sequence(std::uint32_t node);
  void mapping(std::uint32_t node);

  std::vector<Entry> entries(std::uint32_t mapping);
  void merge(std::uint32_t node, std::vector<Entry>& to);
  std::vector<Entry> settle(std::vector<Entry> found, std::size_t ownCount);
  bool isMergeKey(const YamlNode& node) const;
  std::string keyText(std::uint32_t node);
  std::string stringOf(const YamlNode& node) const;
  YamlScalar resolve(const YamlNode& node) const;

  std::uint32_t follow(std::uint32_t node) const;
  void mark(const YamlNode& node);
  void spend(std::size_t bytes, const YamlNode& node);
  [[noreturn]] void fail(const YamlNode& node, std::string reason) const;

  const YamlTree& tree_;
  std::size_t& budget_;
  YamlDocument* out_ = nullptr;
  std::vector<Step> path_;
  std::vector<std::string> duplicates_;
  std::size_t depth_ = 0;
  std::size_t aliases_ = 0;  // number of aliases around the current node
};

}  // namespace kube::detail
