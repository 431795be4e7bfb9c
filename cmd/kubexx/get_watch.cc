// kubexx get --watch.
#include <fmt/core.h>

#include <memory>
#include <ostream>

#include "cmd/kubexx/follow.h"
#include "cmd/kubexx/get.h"
#include "cmd/kubexx/invocation.h"
#include "cmd/kubexx/object_printer.h"
#include "cmd/kubexx/terminal_text.h"
#include "kube/rest/rest_client.h"

namespace kube::cmd {

namespace {

class TableChanges {
 public:
  TableChanges(Invocation& invocation, const GetOptions& options, const Fetch& fetch)
      : invocation_(invocation),
        options_(options),
        fetch_(fetch),
        printer_(options.table(false), invocation.colours()) {
    printer_.begin(fetch.mapping());
  }

  void run(const std::string& name) {
    metav1::Table now = name.empty() ? fetch_.tables() : fetch_.table(name);
    if (!options_.watchOnly) show(now, EventType::Added);
    follow<metav1::Table>(invocation_, fetch_, name, now.metadata.resourceVersion, kAcceptTable,
                          [&](const WatchEvent<metav1::Table>& event) {
                            show(event.object, event.type);
                            return event.object.metadata.resourceVersion;
                          });
  }

 private:
  void show(const metav1::Table& table, EventType type) {
    if (table.rows.empty()) return;
    printer_.add(table, options_.watchEvents ? std::optional(toString(type)) : std::nullopt);
    invocation_.out << OwnText{printer_.flush()} << std::flush;
  }

  Invocation& invocation_;
  const GetOptions& options_;
  const Fetch& fetch_;
  TablePrinter printer_;
};

void watchObjects(Invocation& invocation, const GetOptions& options, const Fetch& fetch,
                  const std::string& name, ObjectPrinter& printer) {
  const auto show = [&](const Unstructured& object, EventType type) {
    if (options.watchEvents) {
      printer.print(Value::Object{{"object", object.object}, {"type", toString(type)}},
                    invocation.out);
    } else {
      printer.print(object.object, invocation.out);
    }
    invocation.out << std::flush;
  };
  std::vector<Unstructured> objects;
  String version;
  if (name.empty()) {
    version = fetch.objects(objects);
  } else {
    objects.push_back(fetch.object(name));
    version = objects[0].resourceVersion();
  }
  if (!options.watchOnly) {
    for (const Unstructured& object : objects) show(object, EventType::Added);
  }
  follow<Unstructured>(invocation, fetch, name, version, {},
                       [&](const WatchEvent<Unstructured>& event) {
                         show(event.object, event.type);
                         return event.object.resourceVersion();
                       });
}

}  // namespace

void watchChanges(Invocation& invocation, const GetOptions& options, const Target& target) {
  const std::string name = target.names.empty() ? std::string() : target.names[0];
  Selection selection = options.selection(invocation);
  if (!target.namespace_.empty()) selection.namespace_ = target.namespace_;
  const Fetch fetch(invocation.rest(), target.mapping, std::move(selection));
  const auto printer = ObjectPrinter::of(
      options.output,
      {.showManagedFields = options.showManagedFields, .noHeaders = options.noHeaders});
  if (printer != nullptr) {
    watchObjects(invocation, options, fetch, name, *printer);
  } else {
    TableChanges(invocation, options, fetch).run(name);
  }
}

}  // namespace kube::cmd
