// Prints a server's tables as kubectl does.
//
//   TablePrinter printer({.wide = true}, colours);
//   printer.begin(mapping);
//   printer.add(table);
//   std::cout << printer.flush();
//
// Thread safety: one thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/kubexx/table_layout.h"
#include "kube/meta/mapping/rest_mapper.h"
#include "kube/meta/v1.h"

namespace kube::cmd {

/// The Accept header of a request for tables.
inline constexpr std::string_view kAcceptTable =
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/"
    "json;as=Table;v=v1beta1;g=meta.k8s.io,"
    "application/json";

struct TablePrinterOptions {
  bool wide = false;
  bool noHeaders = false;
  bool withNamespace = false;  // for kinds in namespaces
  bool withKind = false;
  bool showLabels = false;
  std::vector<std::string> labelColumns = {};
};

class TablePrinter {
 public:
  explicit TablePrinter(TablePrinterOptions options, bool colours = false)
      : options_(std::move(options)), layout_(colours) {}

  /// Begins the tables of another kind.
  void begin(const RestMapping& mapping);
  /// Adds rows. A table without columns has those of the table before. `event`, if given, becomes a
  /// column of its own.
  void add(const metav1::Table& table, std::optional<std::string_view> event = {});
  /// Returns the text that was added since the last call.
  std::string flush();

 private:
  void header(bool withEvent);
  void row(const metav1::TableRow& row, std::optional<std::string_view> event);

  const TablePrinterOptions options_;
  TableLayout layout_;
  RestMapping mapping_;
  List<metav1::TableColumnDefinition> columns_;
  std::string done_;
};

/// Reads the answer to a request for tables. If the server has answered with objects instead, makes
/// a table of their names and ages. Throws DecodeError.
metav1::Table tableOf(std::string_view body);

}  // namespace kube::cmd
