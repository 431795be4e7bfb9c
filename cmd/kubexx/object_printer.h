// Prints objects in the format of `-o`: yaml, json, name, jsonpath=..., custom-columns=... The
// output is the same as kubectl's, byte for byte.
//
//   auto printer = ObjectPrinter::of("yaml");
//   printer->print(pod.object, std::cout);
//   printer->print(listOf(pods), std::cout);      // after "---", because it is the second
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
  /// Returns null for the formats of tables, "" and "wide". Throws UsageError for an unknown
  /// format, and DecodeError for a bad template.
  static std::unique_ptr<ObjectPrinter> of(const std::string& output, PrintOptions options = {});

  virtual ~ObjectPrinter();
  /// Prints an object, or a list of objects.
  virtual void print(Value object, std::ostream& out) = 0;

 protected:
  ObjectPrinter() = default;
};

/// Makes a `kind: List` of v1, as kubectl does.
Value listOf(const std::vector<Unstructured>& objects);

/// The value as Go's fmt.Sprint prints it: map[a:1 b:[x y]].
std::string goText(const Value& value);

/// Splits "a,b" into its parts. "" has none.
std::vector<std::string> splitCommas(std::string_view text);

}  // namespace kube::cmd
