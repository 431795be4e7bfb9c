// --sort-by: in the order of what a path leads to, as kubectl sorts: numbers and quantities by
// their value, times, and texts with the numbers in them by theirs (web-2 before web-10).
//
// Errors: DecodeError for a bad path, UsageError for one that leads nowhere in any object.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/meta/unstructured.h"
#include "kube/meta/v1.h"

namespace kube::cmd {

/// By the rows' objects: the request has to ask for them.
void sortRows(metav1::Table& table, const std::string& path);
void sortObjects(std::vector<Unstructured>& objects, const std::string& path);

bool naturalLess(std::string_view a, std::string_view b);
/// Absent ones come first.
bool lessValue(const Value& a, const Value& b);

}  // namespace kube::cmd
