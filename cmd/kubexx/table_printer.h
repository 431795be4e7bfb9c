// A server's tables, as kubectl shows them.
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

/// What a request for tables accepts.
inline constexpr std::string_view kAcceptTable =
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/"
    "json;as=Table;v=v1beta1;g=meta.k8s.io,"
    "application/json";

struct TablePrinterOptions {
  bool wide = false;
  bool noHeaders = false;
  bool withNamespace = false;  // of kinds that are in any
  bool withKind = false;
  bool showLabels = false;
  std::vector<std::string> labelColumns = {};
};

class TablePrinter {
 public:
  explicit TablePrinter(TablePrinterOptions options, bool colours = false)
      : options_(std::move(options)), layout_(colours) {}

  /// Another kind's tables follow.
  void begin(const RestMapping& mapping);
  /// Rows without columns are of the columns before. `event` is a column of its own, if given.
  void add(const metav1::Table& table, std::optional<std::string_view> event = {});
  /// What has been added since the last time.
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

/// From an answer to a request that accepts tables; a server that makes none answers with the
/// objects, of which a table of names and ages is made. Throws DecodeError.
metav1::Table tableOf(std::string_view body);

}  // namespace kube::cmd
