// What all decoders take.
#pragma once

#include <string>
#include <vector>

namespace kube {

class Pool;

struct DecodeOptions {
  /// Shares equal parts with what was decoded through it before. Null: nothing is shared, except
  /// among the items of a list.
  Pool* pool = nullptr;

  /// Without a pool, a list makes one for its own items while it decodes.
  bool shareItems = true;

  /// Unknown and duplicate fields are errors, all of them named in one DecodeError. JSON and YAML.
  bool strict = false;

  /// Whether kind and apiVersion, where given, must be the type's own. False for one who has chosen
  /// the type by them.
  bool checkKind = true;

  /// If given, unknown and duplicate fields are noted here and decoding goes on. JSON and YAML.
  std::vector<std::string>* problems = nullptr;
};

}  // namespace kube
