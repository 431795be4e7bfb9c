#include "cmd/kubexx/table_printer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "cmd/kubexx/object_printer.h"
#include "cmd/kubexx/resources.h"
#include "kube/base/internal/text.h"
#include "kube/codec/json.h"
#include "kube/meta/internal/human_duration.h"

namespace kube::cmd {

namespace {

// Cuts a cell's text to one line, and writes escape characters as kubectl does. TableLayout
// replaces all other control characters.
std::string oneLine(std::string text) {
  const std::size_t end = text.find_first_of("\f\n\r");
  if (end != std::string::npos) {
    text.resize(end);
    text += "...";
  }
  for (std::size_t at = 0; (at = text.find('\x1b', at)) != std::string::npos; at += 2) {
    text.replace(at, 1, "^[");
  }
  return text;
}

std::string cellText(std::string_view json) {
  if (json.empty() || json == "null") return {};
  if (json.front() != '"') {
    return oneLine(json.front() == '{' || json.front() == '[' ? goText(parseJson(json))
                                                              : std::string(json));
  }
  if (json.find('\\') == std::string_view::npos)
    return oneLine(std::string(json.substr(1, json.size() - 2)));
  return oneLine(parseJson(json).asString().str());
}

// "REGION" for "topology.kubernetes.io/region".
std::string labelHeader(const std::string& label) {
  return kube::detail::upper(std::string_view(label).substr(label.rfind('/') + 1));
}

std::string labelsText(const Value& labels) {
  std::string text;
  for (const auto& [key, value] : labels.asObject()) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", key, value.asString());
  }
  return text.empty() ? "<none>" : text;
}

// Makes a table of objects, for servers that make none.
metav1::Table tableOfObjects(const Value& answer) {
  metav1::Table table;
  table.columnDefinitions.push_back({.name = "Name", .type = "string", .format = "name"});
  table.columnDefinitions.push_back({.name = "Age", .type = "string"});
  const auto now = std::chrono::system_clock::now();
  const auto add = [&](const Value& object) {
    const Unstructured named(object);
    metav1::TableRow row;
    row.cells.push_back({toJson(Value(named.name()))});
    row.cells.push_back({toJson(Value(detail::humanAge(named.creationTimestamp(), now)))});
    row.object.raw = toJson(object);
    table.rows.push_back(std::move(row));
  };
  if (answer["items"].isArray()) {
    table.metadata.resourceVersion = answer["metadata"]["resourceVersion"].asString();
    table.metadata.continue_ = answer["metadata"]["continue"].asString();
    for (const Value& item : answer["items"].asArray()) add(item);
  } else {
    add(answer);
  }
  return table;
}

}  // namespace

void TablePrinter::begin(const RestMapping& mapping) {
  done_ += layout_.flush();
  if (!done_.empty() && !options_.noHeaders && mapping_ != mapping) done_ += '\n';
  layout_.forgetWidths();
  mapping_ = mapping;
  columns_ = {};
}

void TablePrinter::add(const metav1::Table& table, std::optional<std::string_view> event) {
  if (!table.columnDefinitions.empty() && table.columnDefinitions != columns_) {
    columns_ = table.columnDefinitions;
    if (!options_.noHeaders) header(event.has_value());
  }
  for (const metav1::TableRow& each : table.rows) row(each, event);
}

std::string TablePrinter::flush() {
  done_ += layout_.flush();
  return std::exchange(done_, {});
}

void TablePrinter::header(bool withEvent) {
  std::vector<Cell> cells;
  const auto add = [&](std::string text) { cells.push_back({std::move(text), Style::Header}); };
  if (withEvent) add("EVENT");
  if (options_.withNamespace && mapping_.scope == RestScope::Namespace) add("NAMESPACE");
  for (const metav1::TableColumnDefinition& column : columns_) {
    if (column.priority == 0 || options_.wide) add(oneLine(kube::detail::upper(column.name)));
  }
  for (const std::string& label : options_.labelColumns) add(labelHeader(label));
  if (options_.showLabels) add("LABELS");
  layout_.row(std::move(cells));
}

void TablePrinter::row(const metav1::TableRow& row, std::optional<std::string_view> event) {
  std::vector<Cell> cells;
  Value object;
  const bool withNamespace = options_.withNamespace && mapping_.scope == RestScope::Namespace;
  if ((withNamespace || options_.showLabels || !options_.labelColumns.empty()) && row.object) {
    object = parseJson(row.object.raw);
  }
  const Value& metadata = std::as_const(object)["metadata"];
  if (event) cells.push_back({std::string(*event), Style::Faint});
  if (withNamespace) cells.push_back({oneLine(metadata["namespace"].asString().str())});
  for (std::size_t i = 0; i < row.cells.size() && i < columns_.size(); ++i) {
    const metav1::TableColumnDefinition& column = columns_[i];
    if (column.priority != 0 && !options_.wide) continue;
    std::string text = cellText(row.cells[i].raw);
    if (options_.withKind && column.format == "name") text = objectName(mapping_, text);
    const bool status = column.name == "Status" || column.name == "Ready";
    const Style style = status ? styleOfStatus(text) : Style::Plain;
    cells.push_back({std::move(text), style});
  }
  for (const std::string& label : options_.labelColumns) {
    cells.push_back({oneLine(metadata["labels"][label].asString().str())});
  }
  if (options_.showLabels) cells.push_back({oneLine(labelsText(metadata["labels"]))});
  layout_.row(std::move(cells));
}

metav1::Table tableOf(std::string_view body) {
  if (peekTypeMeta(body).kind == "Table") return fromJson<metav1::Table>(body);
  return tableOfObjects(parseJson(body));
}

}  // namespace kube::cmd
