#include "cmd/kubexx/get.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <ostream>
#include <set>

#include "cmd/kubexx/command.h"
#include "cmd/kubexx/commands.h"
#include "cmd/kubexx/errors.h"
#include "cmd/kubexx/invocation.h"
#include "cmd/kubexx/manifest_files.h"
#include "cmd/kubexx/object_printer.h"
#include "cmd/kubexx/sorting.h"
#include "cmd/kubexx/terminal_text.h"
#include "kube/meta/api_error.h"
#include "kube/rest/rest_client.h"

namespace kube::cmd {

namespace {

// Thrown if the server lacks a built-in resource, so that discovery must find the resources.
struct NotServedAfterAll {};

// The error of a failed list, with the selection, as kubectl prints it.
ApiError listError(const ApiError& error, const RestMapping& mapping, const Selection& selection) {
  if (!isBadRequest(error) && !isNotFound(error)) return error;
  metav1::Status status = error.status();
  status.message =
      selection.labels.empty() && selection.fields.empty()
          ? fmt::format("Unable to list \"{}\": {}", mapping.gvr.str(), status.message)
          : fmt::format(
                "Unable to find \"{}\" that match label selector \"{}\", field selector "
                "\"{}\": {}",
                mapping.gvr.str(), selection.labels, selection.fields, status.message);
  return ApiError(std::move(status));
}

class Getter {
 public:
  Getter(Invocation& invocation, const GetOptions& options)
      : invocation_(invocation),
        options_(options),
        targets_(targetsOf(invocation, options)),
        selection_(options.selection(invocation)) {}

  void run() {
    if (options_.watch || options_.watchOnly) {
      if (targets_.size() != 1) throw UsageError("you may only specify a single resource type");
      if (targets_[0].names.size() > 1) {
        throw UsageError(
            "watch is only supported on individual resources and resource collections");
      }
      watchChanges(invocation_, options_, targets_[0]);
      return;
    }
    const auto printer =
        ObjectPrinter::of(options_.output, {.showManagedFields = options_.showManagedFields,
                                            .noHeaders = options_.noHeaders,
                                            .allowMissingKeys = options_.allowMissingKeys});
    if (printer != nullptr) {
      printObjects(*printer);
    } else {
      printTables();
    }
    if (errors_.empty()) return;
    invocation_.out.flush();
    SeveralErrors several(invocation_.err, invocation_.config().serverUrl().authority);
    for (const std::exception_ptr& error : errors_) {
      try {
        std::rethrow_exception(error);
      } catch (const std::exception& what) {
        several.add(what);
      }
    }
    invocation_.exitCode = 1;
  }

 private:
  // Calls `act`, and keeps its error, which run() prints at the end. Returns whether it succeeded.
  template <class Act>
  bool attempt(Act act) {
    try {
      act();
      return true;
    } catch (const ApiError& error) {
      if (isNotServed(error) && invocation_.resources().trustsBuiltIn()) throw NotServedAfterAll{};
      if (!options_.ignoreNotFound || !isNotFound(error)) {
        errors_.push_back(std::current_exception());
      }
      return false;
    }
  }

  // Calls `one` for each name of a target, or `all` for a target without names.
  template <class One, class All>
  void each(One one, All all) {
    for (const Target& target : targets_) {
      Selection selection = selection_;
      if (!target.namespace_.empty()) selection.namespace_ = target.namespace_;
      const Fetch fetch(invocation_.rest(), target.mapping, std::move(selection));
      if (target.names.empty()) {
        attempt([&] {
          try {
            all(fetch);
          } catch (const ApiError& error) {
            if (isNotServed(error)) throw;
            throw listError(error, target.mapping, selection_);
          }
        });
      }
      for (const std::string& name : target.names) attempt([&] { one(fetch, name); });
    }
  }

  void printTables() {
    struct Part {
      RestMapping mapping;
      metav1::Table table;
    };
    std::vector<Part> parts;
    each(
        [&](const Fetch& fetch, const std::string& name) {
          parts.push_back({fetch.mapping(), fetch.table(name)});
        },
        [&](const Fetch& fetch) {
          parts.push_back({fetch.mapping(), fetch.tables()});
        });

    std::set<GroupVersionKind> kinds;
    bool namespaced = !options_.allNamespaces;
    for (const Part& part : parts) {
      kinds.insert(part.mapping.gvk);
      if (part.mapping.scope != RestScope::Namespace) namespaced = false;
    }
    TablePrinter printer(options_.table(kinds.size() > 1), invocation_.colours());
    const RestMapping* last = nullptr;
    for (Part& part : parts) {
      if (part.table.rows.empty()) continue;
      if (!options_.sortBy.empty()) sortRows(part.table, options_.sortBy);
      if (last == nullptr || *last != part.mapping) printer.begin(part.mapping);
      last = &part.mapping;
      printer.add(part.table);
    }
    invocation_.out << OwnText{printer.flush()};
    if (last != nullptr || options_.ignoreNotFound || !errors_.empty()) return;
    if (namespaced) {
      invocation_.err << fmt::format("No resources found in {} namespace.\n",
                                     selection_.namespace_);
    } else {
      invocation_.err << "No resources found\n";
    }
  }

  void printObjects(ObjectPrinter& printer) {
    std::vector<Unstructured> objects;
    each(
        [&](const Fetch& fetch, const std::string& name) { objects.push_back(fetch.object(name)); },
        [&](const Fetch& fetch) { fetch.objects(objects); });
    if (!options_.sortBy.empty()) sortObjects(objects, options_.sortBy);
    const bool single = targets_.size() == 1 && targets_[0].names.size() == 1;
    if (objects.empty() && (single || options_.ignoreNotFound)) return;
    printer.print(single ? objects[0].object : listOf(objects), invocation_.out);
  }

  Invocation& invocation_;
  const GetOptions& options_;
  const std::vector<Target> targets_;
  const Selection selection_;
  std::vector<std::exception_ptr> errors_;
};

}  // namespace

Selection GetOptions::selection(Invocation& invocation) const {
  return {.namespace_ = allNamespaces ? std::string() : invocation.namespaceName().str(),
          .labels = selector,
          .fields = fieldSelector,
          .chunkSize = chunkSize,
          .subresource = subresource,
          .wholeObjects = !sortBy.empty()};
}

TablePrinterOptions GetOptions::table(bool severalKinds) const {
  std::vector<std::string> labels;
  for (const std::string& some : labelColumns) {
    for (std::string& label : splitCommas(some)) labels.push_back(std::move(label));
  }
  return {.wide = output == "wide",
          .noHeaders = noHeaders,
          .withNamespace = allNamespaces,
          .withKind = severalKinds || showKind,
          .showLabels = showLabels,
          .labelColumns = std::move(labels)};
}

std::vector<Target> targetsOf(Invocation& invocation, const GetOptions& options) {
  std::vector<Target> targets = options.files.empty()
                                    ? parseTargets(invocation.resources(), options.words)
                                    : targetsOfFiles(invocation, options.files, options.recursive);
  const bool named = std::ranges::any_of(targets, [](const Target& t) { return !t.names.empty(); });
  if (!named) return targets;
  if (!options.selector.empty() || !options.fieldSelector.empty()) {
    throw UsageError("name cannot be provided when a selector is specified");
  }
  if (options.allNamespaces) {
    throw UsageError("a resource cannot be retrieved by name across all namespaces");
  }
  return targets;
}

void get(Invocation& invocation, const GetOptions& options) {
  if (!options.raw.empty()) {
    invocation.out
        << invocation.rest().get().absPath(options.raw).accept("application/json, */*").raw();
    return;
  }
  try {
    Getter(invocation, options).run();
  } catch (const NotServedAfterAll&) {
    invocation.resources().forget();
    Getter(invocation, options).run();
  }
}

void addGet(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<GetOptions>();
  Command(app, "get", "Display one or many resources")
      .arguments("resource", options->words, "TYPE[,TYPE] [NAME...], or TYPE/NAME...")
      .option("-f,--filename", options->files, "Files or folders whose manifests name the objects")
      .flag("-R,--recursive", options->recursive, "Read folders with their subfolders")
      .option("-o,--output", options->output,
              "wide, yaml, json, name, jsonpath=, jsonpath-as-json=, jsonpath-file=, "
              "custom-columns= or custom-columns-file=")
      .option("-l,--selector", options->selector, "A label selector, such as app=web,tier!=db")
      .option("--field-selector", options->fieldSelector,
              "A field selector, such as status.phase=Running")
      .flag("-A,--all-namespaces", options->allNamespaces, "List objects in all namespaces")
      .flag("-w,--watch", options->watch, "Show the objects, then their changes")
      .flag("--watch-only", options->watchOnly, "Show only changes")
      .flag("--output-watch-events", options->watchEvents, "Show the type of each change")
      .flag("--no-headers", options->noHeaders, "Leave out the headers")
      .flag("--show-labels", options->showLabels, "Show labels as the last column")
      .flag("--show-kind", options->showKind, "Show kinds before names")
      .flag("--show-managed-fields", options->showManagedFields, "Keep managedFields in objects")
      .option("-L,--label-columns", options->labelColumns, "Labels to show as columns")
      .option("--sort-by", options->sortBy, "A JSONPath to sort by, such as .metadata.name")
      .flag("--ignore-not-found", options->ignoreNotFound, "Ignore objects that do not exist")
      .option("--chunk-size", options->chunkSize, "The page size of lists; 0 for no pages")
      .option("--raw", options->raw, "Print the server's answer at this path, unchanged")
      .option("--subresource", options->subresource, "Show a subresource, such as status or scale")
      .flag("--allow-missing-template-keys", options->allowMissingKeys,
            "Ignore paths without a value in templates")
      .run([&invocation, options] { get(invocation, *options); });
}

}  // namespace kube::cmd
