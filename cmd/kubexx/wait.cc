// kubexx wait: waits until objects reach a condition.
#include <fmt/core.h>

#include <chrono>
#include <functional>
#include <memory>
#include <ostream>

#include "cmd/kubexx/command.h"
#include "cmd/kubexx/commands.h"
#include "cmd/kubexx/errors.h"
#include "cmd/kubexx/fetch.h"
#include "cmd/kubexx/invocation.h"
#include "cmd/kubexx/manifest_files.h"
#include "cmd/kubexx/object_printer.h"
#include "cmd/kubexx/resources.h"
#include "kube/base/internal/text.h"
#include "kube/client/dynamic_client.h"
#include "kube/client/wait.h"
#include "kube/codec/jsonpath/json_path.h"
#include "kube/meta/api_error.h"

namespace kube::cmd {

namespace {

struct WaitCommand {
  std::vector<std::string> words = {};
  std::vector<std::string> files = {};
  std::string selector = {}, fieldSelector = {};
  bool all = false, allNamespaces = false;
  std::string condition = {};
  std::string timeout = "30s";
};

// True if the object has reached the condition. The argument is null if there is no object.
using Condition = std::function<bool(const Unstructured*)>;

bool sameWord(std::string_view a, std::string_view b) {
  return detail::lower(a) == detail::lower(b);
}

// True if the condition was observed for an earlier generation of the object.
bool isOutdated(const Unstructured& object, const Value& condition) {
  const Value& status = object.object["status"];
  const Value& observed = condition["observedGeneration"].isInt() ? condition["observedGeneration"]
                                                                  : status["observedGeneration"];
  return observed.isInt() && observed.asInt() < object.generation();
}

Condition conditionIs(const std::string& name, const std::string& value) {
  return [=](const Unstructured* object) {
    if (object == nullptr) return false;
    const Value& status = object->object["status"];
    for (const Value& condition : status["conditions"].asArray()) {
      if (!sameWord(condition["type"].asString(), name)) continue;
      return !isOutdated(*object, condition) && sameWord(condition["status"].asString(), value);
    }
    return false;
  };
}

// Parses "{.status.phase}=Running", or a path alone, which any value fulfills.
Condition pathIs(const std::string& text) {
  const std::size_t brace = text.rfind('}');
  const std::size_t equals = text.find('=', brace == std::string::npos ? 0 : brace);
  const JsonPath path = JsonPath::parseRelaxed(text.substr(0, equals));
  const bool any = equals == std::string::npos;
  std::string wanted = any ? std::string() : text.substr(equals + 1);
  if (wanted.size() > 1 && (wanted[0] == '\'' || wanted[0] == '"') && wanted.back() == wanted[0]) {
    wanted = wanted.substr(1, wanted.size() - 2);
  }
  if (!any && wanted.empty()) {
    throw UsageError("jsonpath wait value cannot be empty: expected {.path}=VALUE");
  }
  return [=](const Unstructured* object) {
    if (object == nullptr) return false;
    const std::vector<Value> found = path.find(object->object, {.allowMissingKeys = true});
    if (found.empty()) return false;
    if (found.size() > 1) throw UsageError("given jsonpath expression matches more than one value");
    return any || goText(found[0]) == wanted;
  };
}

struct Goal {
  Condition holds;
  bool mayBeMissing = false;  // the object need not exist at the start
};

Goal parseGoal(const std::string& text) {
  if (sameWord(text, "delete")) {
    return {[](const Unstructured* object) { return object == nullptr; }, true};
  }
  if (sameWord(text, "create")) {
    return {[](const Unstructured* object) { return object != nullptr; }, true};
  }
  if (text.starts_with("condition=")) {
    const std::string condition = text.substr(10);
    const std::size_t equals = condition.find('=');
    const std::string value = equals == std::string::npos ? "true" : condition.substr(equals + 1);
    return {conditionIs(condition.substr(0, equals), value)};
  }
  if (text.starts_with("jsonpath=")) return {pathIs(text.substr(9))};
  throw UsageError(fmt::format(
      "unrecognized condition: \"{}\": expected delete, create, condition=NAME[=VALUE] or "
      "jsonpath='{{PATH}}'[=VALUE]",
      text));
}

void wait(Invocation& invocation, const WaitCommand& command) {
  const Goal goal = parseGoal(command.condition);
  std::chrono::nanoseconds timeout = parseTimeout("--timeout", command.timeout);
  if (timeout.count() < 0) timeout = std::chrono::hours{24 * 7};
  const bool once = timeout.count() == 0;
  const DynamicClient client(invocation.rest());
  SeveralErrors errors(invocation.err, invocation.config().serverUrl().authority);

  struct Awaited {
    RestMapping mapping;
    String namespace_;
    std::string name;
  };
  std::vector<Awaited> awaited;
  const auto targets = command.files.empty() ? parseTargets(invocation.resources(), command.words)
                                             : targetsOfFiles(invocation, command.files, false);
  for (const Target& target : targets) {
    const String space = namespaceOf(target, invocation.namespaceName());
    for (const std::string& name : target.names) awaited.push_back({target.mapping, space, name});
    if (!target.names.empty()) continue;
    if (!command.all && command.selector.empty() && command.fieldSelector.empty()) {
      throw UsageError(
          "resource(s) were provided, but no name, label selector, or --all flag "
          "specified");
    }
    std::vector<Unstructured> objects;
    Fetch(invocation.rest(), target.mapping,
          {.namespace_ = command.allNamespaces ? std::string() : space.str(),
           .labels = command.selector,
           .fields = command.fieldSelector})
        .objects(objects);
    for (const Unstructured& object : objects) {
      awaited.push_back({target.mapping, object.namespace_(), object.name().str()});
    }
  }
  if (awaited.empty() && !goal.mayBeMissing) throw UsageError("no matching resources found");

  for (const Awaited& each : awaited) {
    const auto objects = client.resource(each.mapping).inNamespace(each.namespace_);
    try {
      if (!goal.mayBeMissing || once) {
        const auto now = goal.mayBeMissing ? objects.find(each.name) : objects.get(each.name);
        if (once && !goal.holds(now ? &*now : nullptr)) throw TimeoutError("");
      }
      if (!once) {
        waitFor<Unstructured>(objects, each.name, goal.holds, timeout, invocation.stop());
      }
      invocation.out << objectName(each.mapping, each.name) << " condition met\n" << std::flush;
    } catch (const TimeoutError&) {
      errors.add(Error(fmt::format("timed out waiting for the condition on {}/{}",
                                   each.mapping.gvr.resource, each.name)));
    } catch (const ApiError& error) {
      errors.add(error);
    }
  }
  if (errors.any()) invocation.exitCode = 1;
}

}  // namespace

void addWait(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<WaitCommand>();
  Command(app, "wait", "Wait until objects reach a condition")
      .arguments("resource", options->words, "TYPE NAME..., TYPE/NAME..., or TYPE with -l or --all")
      .option("-f,--filename", options->files, "Files or folders whose manifests name the objects")
      .option("-l,--selector", options->selector, "A label selector")
      .option("--field-selector", options->fieldSelector, "A field selector")
      .flag("--all", options->all, "All objects of the type in the namespace")
      .flag("-A,--all-namespaces", options->allNamespaces, "Select objects in all namespaces")
      .option("--for", options->condition,
              "condition=NAME[=VALUE], jsonpath='{PATH}'[=VALUE], delete or create")
      .option("--timeout", options->timeout, "The longest wait; 0 to check once, -1 for a week")
      .run([&invocation, options] { wait(invocation, *options); });
}

}  // namespace kube::cmd
