// Objects as `-o` asks for them: yaml, json, name, jsonpath=..., custom-columns=... Byte for byte
// what kubectl prints.
//
//   auto printer = ObjectPrinter::of("yaml");
//   printer->print(pod.object, std::cout);
//   printer->print(listOf(pods), std::cout);      // with "---" before it, as it is the second
//
// Thread safety: one thread.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kube/meta/unstructured.h"
#include "kube/meta/value.h"

namespace kube::cmd {

struct PrintOptions {
  bool showManagedFields = false;
  bool noHeaders = false;
  bool allowMissingKeys = true;
};

class ObjectPrinter {
 public:
  /// Null for "" and "wide", which are tables'. Throws UsageError for a form that there is none of,
  /// and DecodeError for a bad template.
  static std::unique_ptr<ObjectPrinter> of(const std::string& output, PrintOptions options = {});

  virtual ~ObjectPrinter();
  /// An object, or a list of some.
  virtual void print(Value object, std::ostream& out) = 0;

 protected:
  ObjectPrinter() = default;
};

/// `kind: List` of v1, as kubectl makes it.
Value listOf(const std::vector<Unstructured>& objects);

/// As Go's fmt.Sprint shows it: map[a:1 b:[x y]].
std::string goText(const Value& value);

/// "a,b" in its parts; none of "".
std::vector<std::string> splitCommas(std::string_view text);

}  // namespace kube::cmd
