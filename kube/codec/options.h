// Options of all decoders.
#pragma once

#include <string>
#include <vector>

namespace kube {

class Pool;

struct DecodeOptions {
  /// Shares equal parts with objects that were decoded through this pool before. Null: nothing is
  /// shared, except among the items of a list.
  Pool* pool = nullptr;

  /// Without a pool, a list makes one for its own items while it is decoded.
  bool shareItems = true;

  /// Makes unknown and duplicate fields errors. One DecodeError names all of them. JSON and YAML
  /// only.
  bool strict = false;

  /// Checks that kind and apiVersion, if present, are the type's own. Set it to false if they
  /// selected the type.
  bool checkKind = true;

  /// Collects unknown and duplicate fields, if given; decoding goes on. JSON and YAML only.
  std::vector<std::string>* problems = nullptr;
};

}  // namespace kube
