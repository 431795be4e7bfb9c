// Sorts for --sort-by, by the values that a path leads to. The order is kubectl's: numbers and
// quantities by value, times, and strings with the numbers in them by value (web-2 before web-10).
//
// Errors: DecodeError for a bad path, UsageError if no object has a value at the path.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/meta/unstructured.h"
#include "kube/meta/v1.h"

namespace kube::cmd {

/// Sorts by the rows' objects, for which the request must ask.
void sortRows(metav1::Table& table, const std::string& path);
void sortObjects(std::vector<Unstructured>& objects, const std::string& path);

bool naturalLess(std::string_view a, std::string_view b);
/// Absent values come first.
bool lessValue(const Value& a, const Value& b);

}  // namespace kube::cmd
