#include "cmd/kubexx/sorting.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <numeric>

#include "cmd/kubexx/invocation.h"
#include "kube/base/internal/text.h"
#include "kube/codec/json.h"
#include "kube/codec/jsonpath/json_path.h"
#include "kube/meta/quantity.h"

namespace kube::cmd {

namespace {

using detail::isDigit;

// The sorted order of the keys, as a permutation.
std::vector<std::size_t> orderOf(const std::vector<Value>& keys, const std::string& path) {
  const bool found = std::ranges::any_of(keys, [](const Value& key) { return !key.isNull(); });
  if (!found && !keys.empty()) {
    throw UsageError(fmt::format("couldn't find any field with path \"{}\" in the list of objects",
                                 relaxedJsonPath(path)));
  }
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return lessValue(keys[a], keys[b]); });
  return order;
}

Value keyOf(const JsonPath& path, const Value& object) {
  const std::vector<Value> found = path.find(object, {.allowMissingKeys = true});
  return found.empty() ? Value() : found[0];
}

}  // namespace

bool naturalLess(std::string_view a, std::string_view b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!isDigit(a[i]) || !isDigit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    while (i < a.size() && a[i] == '0') ++i;
    while (j < b.size() && b[j] == '0') ++j;
    std::size_t endA = i, endB = j;
    while (endA < a.size() && isDigit(a[endA])) ++endA;
    while (endB < b.size() && isDigit(b[endB])) ++endB;
    if (endA - i != endB - j) return endA - i < endB - j;
    const int order = a.substr(i, endA - i).compare(b.substr(j, endB - j));
    if (order != 0) return order < 0;
    i = endA, j = endB;
  }
  if (i < a.size() || j < b.size()) return j < b.size();
  return a.size() < b.size();  // fewer leading zeros first
}

bool lessValue(const Value& a, const Value& b) {
  if (a.isNull() || b.isNull()) return a.isNull() && !b.isNull();
  if (a.isNumber() && b.isNumber()) {
    return a.isInt() && b.isInt() ? a.asInt() < b.asInt() : a.asDouble() < b.asDouble();
  }
  if (a.isString() && b.isString()) {
    Quantity left, right;
    if (Quantity::tryParse(a.asString(), left) && Quantity::tryParse(b.asString(), right)) {
      return left < right;
    }
    return naturalLess(a.asString(), b.asString());
  }
  if (a.isBool() && b.isBool()) return !a.asBool() && b.asBool();
  return a.type() < b.type();
}

void sortRows(metav1::Table& table, const std::string& path) {
  const JsonPath key = JsonPath::parseRelaxed(path);
  std::vector<Value> keys;
  for (const metav1::TableRow& row : table.rows) {
    keys.push_back(row.object ? keyOf(key, parseJson(row.object.raw)) : Value());
  }
  List<metav1::TableRow> sorted;
  for (const std::size_t i : orderOf(keys, path)) sorted.push_back(table.rows[i]);
  table.rows = std::move(sorted);
}

void sortObjects(std::vector<Unstructured>& objects, const std::string& path) {
  const JsonPath key = JsonPath::parseRelaxed(path);
  std::vector<Value> keys;
  for (const Unstructured& object : objects) keys.push_back(keyOf(key, object.object));
  std::vector<Unstructured> sorted;
  for (const std::size_t i : orderOf(keys, path)) sorted.push_back(objects[i]);
  objects = std::move(sorted);
}

}  // namespace kube::cmd
