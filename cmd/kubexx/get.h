// kubexx get: prints objects, as a table or in another format.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cmd/kubexx/fetch.h"
#include "cmd/kubexx/table_printer.h"

namespace kube::cmd {

class Invocation;

struct GetOptions {
  std::vector<std::string> words = {};
  std::vector<std::string> files = {};
  bool recursive = false;
  std::string output = {};
  std::string selector = {}, fieldSelector = {};
  bool allNamespaces = false;
  bool watch = false, watchOnly = false, watchEvents = false;
  bool noHeaders = false, showLabels = false, showKind = false, showManagedFields = false;
  std::vector<std::string> labelColumns = {};
  std::string sortBy = {};
  bool ignoreNotFound = false;
  std::int64_t chunkSize = 500;
  std::string raw = {};
  std::string subresource = {};
  bool allowMissingKeys = true;

  Selection selection(Invocation& invocation) const;
  /// Options for tables of several kinds, or of a single kind.
  TablePrinterOptions table(bool severalKinds) const;
};

void get(Invocation& invocation, const GetOptions& options);

/// The objects that the options name, by words or by files. Throws UsageError.
std::vector<Target> targetsOf(Invocation& invocation, const GetOptions& options);

/// Prints changes until the invocation is stopped: `get --watch`.
void watchChanges(Invocation& invocation, const GetOptions& options, const Target& target);

}  // namespace kube::cmd
