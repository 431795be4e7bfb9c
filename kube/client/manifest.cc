#include "kube/client/manifest.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <ostream>
#include <utility>

#include "kube/base/internal/text.h"
#include "kube/client/async_resource_client.h"
#include "kube/client/internal/manifest_plan.h"
#include "kube/client/retry.h"
#include "kube/client/wait.h"
#include "kube/codec/json.h"
#include "kube/codec/unstructured.h"

namespace kube {

namespace {

using detail::ManifestMapper;
using detail::ManifestStep;
using detail::ManifestVerb;

// A definition may be established a moment before every server serves its resources.
constexpr BackoffOptions kUntilServed{.initial = std::chrono::milliseconds{50},
                                      .factor = 1.5,
                                      .cap = std::chrono::seconds{1},
                                      .steps = 20};

// Returns whether the resource itself is missing, rather than the object or its namespace. For an
// unknown path a server answers in plain text, without a Status.
bool isNotServed(const std::exception& error) {
  const auto* api = dynamic_cast<const ApiError*>(&error);
  return api != nullptr && isNotFound(*api) &&
         (api->status().details->name.empty() || isUnexpectedServerError(*api));
}

bool isEstablished(const Unstructured& definition) {
  for (const Value& condition :
       std::as_const(definition.object)["status"]["conditions"].asArray()) {
    const String& type = condition["type"].asString();
    const String& status = condition["status"].asString();
    if (type == "Established" && status == "True") return true;
    if (type == "NamesAccepted" && status == "False") {
      throw Error(
          fmt::format("customresourcedefinitions \"{}\": the server does not accept its names: {}",
                      definition.name(), condition["message"].asString()));
    }
  }
  return false;
}

// Returns the object without the fields that the server maintains.
Value contentOf(const Unstructured& object) {
  Unstructured copy = object;
  copy.removeNestedField("metadata", "managedFields");
  copy.removeNestedField("metadata", "resourceVersion");
  copy.removeNestedField("metadata", "generation");
  return copy.object;
}

class ManifestRun {
 public:
  ManifestRun(DynamicClient client, ManifestMapper mapper, ManifestOptions options,
              ManifestVerb verb)
      : client_(std::move(client)),
        mapper_(std::move(mapper)),
        options_(std::move(options)),
        verb_(verb) {
    if (options_.dryRun) dryRun_ = {"All"};
  }

  /// The text and the run outlive the task.
  Task<ManifestReport> report(std::string_view text) {
    steps_ = co_await detail::planManifest(text, mapper_, options_, verb_);
    ManifestReport report;
    results_.resize(steps_.size());
    bool skip = false;
    for (std::size_t n = 0; n < steps_.size(); ++n) {
      const std::size_t i = verb_ == ManifestVerb::Remove ? steps_.size() - 1 - n : n;
      ManifestResult& result = results_[i] = begun(steps_[i]);
      if (skip) {
        result.message = "an earlier object failed";
      } else {
        co_await perform(steps_[i], result);
        if (options_.progress) options_.progress(result);
        skip = result.outcome == ManifestOutcome::Failed && !options_.continueOnError;
      }
      report.results.push_back(result);
    }
    co_return report;
  }

 private:
  using Objects = AsyncResourceClient<Unstructured>;

  ManifestResult begun(const ManifestStep& step) const {
    const String name = step.object.name();
    return {.document = step.document,
            .line = step.line,
            .mapping = step.mapping,
            .namespace_ = step.object.namespace_(),
            .name = name.empty() ? step.object.generateName() : name,
            .dryRun = options_.dryRun};
  }

  Task<void> perform(const ManifestStep& step, ManifestResult& result) {
    try {
      if (step.definedBy && verb_ != ManifestVerb::Remove) {
        if (options_.dryRun) {
          result.message = fmt::format("a dry run does not create its definition, document {}",
                                       steps_[*step.definedBy].document);
          co_return;
        }
        co_await awaitDefinition(*step.definedBy);
      }
      const Objects objects = client_.resource(step.mapping).inNamespace(result.namespace_).async();
      switch (verb_) {
        case ManifestVerb::Create:
          co_await create(step, objects, result);
          break;
        case ManifestVerb::Apply:
          co_await apply(step, objects, result);
          break;
        case ManifestVerb::Remove:
          co_await remove(objects, result);
          break;
      }
    } catch (const CanceledError&) {
      throw;
    } catch (const std::exception& error) {
      result.outcome = ManifestOutcome::Failed;
      result.error = std::current_exception();
      result.message = error.what();
    }
  }

  Task<void> awaitDefinition(std::size_t i) {
    if (std::ranges::find(served_, i) != served_.end()) co_return;
    const ManifestStep& step = steps_[i];
    if (results_[i].outcome == ManifestOutcome::Failed) {
      throw Error(fmt::format("its definition, document {}, has failed", step.document));
    }
    const Objects definitions = client_.resource(step.mapping).async();
    const auto established = [](const Unstructured* found) {
      return found != nullptr && isEstablished(*found);
    };
    co_await waitFor(definitions, step.object.name(), established, options_.definitionTimeout);
    mapper_.reset();
    served_.push_back(i);
  }

  /// Sends a request. If the kind is new to the server, retries for a while until the kind is
  /// served.
  template <class Act>
  static Task<Unstructured> send(const ManifestStep& step, Act act) {
    if (!step.definedBy) co_return co_await act();
    const std::stop_token stop = co_await taskStop();
    try {
      co_return co_await retryOnError(isNotServed, act, kUntilServed);
    } catch (const ApiError& error) {
      if (!stop.stop_requested() || !isNotServed(error)) throw;
    }
    throw CanceledError(
        fmt::format("{} \"{}\": canceled", step.mapping.gvr.resource, step.object.name()));
  }

  Task<void> create(const ManifestStep& step, const Objects& objects, ManifestResult& result) {
    const metav1::CreateOptions how{.dryRun = dryRun_,
                                    .fieldManager = options_.fieldManager,
                                    .fieldValidation = options_.fieldValidation};
    const auto act = [&] { return objects.create(step.object, how); };
    try {
      result.object = co_await send(step, act);
    } catch (const ApiError& error) {
      // If the server generates the name, this error means that it found no free one.
      if (!isAlreadyExists(error) || step.object.name().empty()) throw;
      result.outcome = ManifestOutcome::AlreadyExists;
      co_return;
    }
    result.outcome = ManifestOutcome::Created;
    if (const String name = result.object.name(); !name.empty()) result.name = name;
  }

  Task<void> apply(const ManifestStep& step, const Objects& objects, ManifestResult& result) {
    // The answer of server-side apply does not tell what has changed, so the object is read before.
    std::optional<Unstructured> before;
    bool seen = true;
    try {
      before = co_await objects.find(result.name);
    } catch (const ApiError& error) {
      if (!isForbidden(error)) throw;
      seen = false;
    }
    metav1::PatchOptions how{.dryRun = dryRun_,
                             .fieldManager = options_.fieldManager,
                             .fieldValidation = options_.fieldValidation};
    if (options_.force) how.force = true;
    const std::string body = toJson(step.object);
    const auto act = [&] { return objects.patch(result.name, PatchType::Apply, body, how); };
    result.object = co_await send(step, act);
    if (!seen) {
      result.outcome = ManifestOutcome::Applied;
    } else if (!before) {
      result.outcome = ManifestOutcome::Created;
    } else {
      // A new resourceVersion may be due to a change of managedFields alone.
      const bool same = contentOf(*before) == contentOf(result.object);
      result.outcome = same ? ManifestOutcome::Unchanged : ManifestOutcome::Configured;
    }
  }

  Task<void> remove(const Objects& objects, ManifestResult& result) {
    metav1::DeleteOptions how;
    how.dryRun = dryRun_;
    if (!options_.propagationPolicy.empty()) {
      how.propagationPolicy.emplace(options_.propagationPolicy);
    }
    try {
      co_await objects.remove(result.name, how);
      result.outcome = ManifestOutcome::Removed;
    } catch (const ApiError& error) {
      if (!isNotFound(error)) throw;
      result.outcome = ManifestOutcome::Missing;
    }
  }

  const DynamicClient client_;
  const ManifestMapper mapper_;
  const ManifestOptions options_;
  const ManifestVerb verb_;
  List<String> dryRun_;
  std::vector<ManifestStep> steps_;
  std::vector<ManifestResult> results_;  // by step
  std::vector<std::size_t> served_;      // definitions that have been waited for
};

Task<ManifestReport> runManifest(DynamicClient client, ManifestMapper mapper, std::string text,
                                 ManifestOptions options, ManifestVerb verb) {
  ManifestRun run(std::move(client), std::move(mapper), std::move(options), verb);
  co_return co_await run.report(text);
}

}  // namespace

std::string_view toString(ManifestOutcome outcome) noexcept {
  switch (outcome) {
    case ManifestOutcome::Created:
      return "created";
    case ManifestOutcome::AlreadyExists:
      return "already exists";
    case ManifestOutcome::Configured:
      return "configured";
    case ManifestOutcome::Unchanged:
      return "unchanged";
    case ManifestOutcome::Applied:
      return "serverside-applied";
    case ManifestOutcome::Removed:
      return "deleted";
    case ManifestOutcome::Missing:
      return "not found";
    case ManifestOutcome::Failed:
      return "failed";
    case ManifestOutcome::Skipped:
      return "skipped";
  }
  return "?";
}

std::ostream& operator<<(std::ostream& out, ManifestOutcome outcome) {
  return out << toString(outcome);
}

std::string toString(const ManifestResult& result) {
  const GroupKind kind{result.mapping.gvk.group, detail::lower(result.mapping.gvk.kind)};
  std::string text = fmt::format("{}/{} {}", kind, result.name, toString(result.outcome));
  if (result.dryRun) text += " (server dry run)";
  if (!result.message.empty()) text += ": " + result.message;
  return text;
}

bool ManifestReport::ok() const noexcept {
  return std::ranges::none_of(results, [](const ManifestResult& result) {
    return result.outcome == ManifestOutcome::Failed;
  });
}

void ManifestReport::throwIfFailed() const {
  for (const ManifestResult& result : results) {
    if (result.error) std::rethrow_exception(result.error);
  }
}

Task<ManifestReport> createFromYaml(const DynamicClient& client,
                                    const AsyncDiscoveryRestMapper& mapper, std::string_view text,
                                    const ManifestOptions& options) {
  return runManifest(client, mapper, std::string(text), options, ManifestVerb::Create);
}
ManifestReport createFromYaml(const DynamicClient& client, const RestMapper& mapper,
                              std::string_view text, const ManifestOptions& options,
                              const std::stop_token& stop) {
  return detail::runBlocking(
      runManifest(client, mapper, std::string(text), options, ManifestVerb::Create), stop);
}

Task<ManifestReport> applyFromYaml(const DynamicClient& client,
                                   const AsyncDiscoveryRestMapper& mapper, std::string_view text,
                                   const ManifestOptions& options) {
  return runManifest(client, mapper, std::string(text), options, ManifestVerb::Apply);
}
ManifestReport applyFromYaml(const DynamicClient& client, const RestMapper& mapper,
                             std::string_view text, const ManifestOptions& options,
                             const std::stop_token& stop) {
  return detail::runBlocking(
      runManifest(client, mapper, std::string(text), options, ManifestVerb::Apply), stop);
}

Task<ManifestReport> removeFromYaml(const DynamicClient& client,
                                    const AsyncDiscoveryRestMapper& mapper, std::string_view text,
                                    const ManifestOptions& options) {
  return runManifest(client, mapper, std::string(text), options, ManifestVerb::Remove);
}
ManifestReport removeFromYaml(const DynamicClient& client, const RestMapper& mapper,
                              std::string_view text, const ManifestOptions& options,
                              const std::stop_token& stop) {
  return detail::runBlocking(
      runManifest(client, mapper, std::string(text), options, ManifestVerb::Remove), stop);
}

}  // namespace kube
