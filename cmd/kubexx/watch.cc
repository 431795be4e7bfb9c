// kubexx watch: a live view of objects.
#include <fmt/chrono.h>
#include <fmt/core.h>

#include <chrono>
#include <map>
#include <memory>
#include <ostream>

#include "cmd/kubexx/command.h"
#include "cmd/kubexx/commands.h"
#include "cmd/kubexx/follow.h"
#include "cmd/kubexx/get.h"
#include "cmd/kubexx/invocation.h"
#include "cmd/kubexx/terminal_text.h"
#include "kube/codec/json.h"
#include "kube/rest/rest_client.h"

namespace kube::cmd {

namespace {

using Changes = WatchEvent<metav1::Table>;

std::string clockTime() {
  return fmt::format(
      "{:%H:%M:%S}",
      fmt::localtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

// Draws the whole table again with each change, and marks the changed rows.
class LiveTable {
 public:
  LiveTable(Invocation& invocation, const GetOptions& options, const RestMapping& mapping)
      : invocation_(invocation), options_(options), mapping_(mapping) {}

  void fill(const metav1::Table& table) {
    columns_ = table.columnDefinitions;
    for (const metav1::TableRow& row : table.rows) rows_[keyOf(row)] = {row, ""};
    draw();
  }

  void change(const metav1::Table& table, EventType type) {
    if (!table.columnDefinitions.empty()) columns_ = table.columnDefinitions;
    std::erase_if(rows_, [](const auto& entry) { return entry.second.event == "DELETED"; });
    for (const metav1::TableRow& row : table.rows) {
      rows_[keyOf(row)] = {row, std::string(toString(type))};
    }
    ++changes_;
    draw();
  }

 private:
  struct Row {
    metav1::TableRow row;
    std::string event;
  };

  static std::string keyOf(const metav1::TableRow& row) {
    const Value object = row.object ? parseJson(row.object.raw) : Value();
    const Value& metadata = object["metadata"];
    return fmt::format("{}/{}", metadata["namespace"].asString(), metadata["name"].asString());
  }

  void draw() const {
    TablePrinter printer(options_.table(false), invocation_.colours());
    printer.begin(mapping_);
    metav1::Table table;
    table.columnDefinitions = columns_;
    printer.add(table, "");
    table.columnDefinitions = {};
    for (const auto& [key, each] : rows_) {
      table.rows = {each.row};
      printer.add(table, each.event);
    }
    invocation_.out << OwnText{"\x1b[H\x1b[2J"}
                    << fmt::format("{}  {} {}, {} changes; Ctrl-C ends\n\n", clockTime(),
                                   rows_.size(), mapping_.gvr.resource, changes_)
                    << OwnText{printer.flush()} << std::flush;
  }

  Invocation& invocation_;
  const GetOptions& options_;
  const RestMapping& mapping_;
  List<metav1::TableColumnDefinition> columns_;
  std::map<std::string, Row> rows_;
  std::size_t changes_ = 0;
};

void watch(Invocation& invocation, GetOptions& options) {
  const std::vector<Target> targets = targetsOf(invocation, options);
  if (targets.size() != 1 || targets[0].names.size() > 1) {
    throw UsageError("you may only specify a single resource type, and at most one name");
  }
  if (!invocation.terminal) {
    // Without a terminal, prints a line for each change.
    options.watchEvents = true;
    watchChanges(invocation, options, targets[0]);
    return;
  }
  const std::string name = targets[0].names.empty() ? std::string() : targets[0].names[0];
  const Fetch fetch(invocation.rest(), targets[0].mapping, options.selection(invocation));
  LiveTable live(invocation, options, targets[0].mapping);
  const metav1::Table now = name.empty() ? fetch.tables() : fetch.table(name);
  live.fill(now);
  follow<metav1::Table>(invocation, fetch, name, now.metadata.resourceVersion, kAcceptTable,
                        [&](const Changes& event) {
                          live.change(event.object, event.type);
                          return event.object.metadata.resourceVersion;
                        });
}

}  // namespace

void addWatch(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<GetOptions>();
  Command(app, "watch", "Show a live view of objects")
      .arguments("resource", options->words, "TYPE, TYPE NAME or TYPE/NAME")
      .option("-o,--output", options->output, "wide; without a terminal also yaml, json, name, ...")
      .option("-l,--selector", options->selector, "A label selector")
      .option("--field-selector", options->fieldSelector, "A field selector")
      .flag("-A,--all-namespaces", options->allNamespaces, "Watch objects in all namespaces")
      .flag("--show-labels", options->showLabels, "Show labels as the last column")
      .option("-L,--label-columns", options->labelColumns, "Labels to show as columns")
      .run([&invocation, options] { watch(invocation, *options); });
}

}  // namespace kube::cmd
