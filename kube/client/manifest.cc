#include "kube/client/manifest.h"

#include <fmt/core.h>

#include <algorithm>
#include <ostream>

#include "kube/base/internal/text.h"
#include "kube/client/internal/manifest_plan.h"
#include "kube/client/retry.h"
#include "kube/client/wait.h"
#include "kube/codec/json.h"
#include "kube/codec/unstructured.h"

namespace kube {

namespace {

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
  ManifestRun(const DynamicClient& client, const RestMapper& mapper, const ManifestOptions& options,
              const std::stop_token& stop)
      : client_(client), mapper_(mapper), options_(options), stop_(stop) {
    if (options.dryRun) dryRun_ = {"All"};
  }

  ManifestReport run(std::string_view text, ManifestVerb verb) {
    steps_ = detail::planManifest(text, mapper_, options_, verb);
    ManifestReport report;
    results_.resize(steps_.size());
    bool skip = false;
    for (std::size_t n = 0; n < steps_.size(); ++n) {
      const std::size_t i = verb == ManifestVerb::Remove ? steps_.size() - 1 - n : n;
      ManifestResult& result = results_[i] = begun(steps_[i]);
      if (skip) {
        result.message = "an earlier object failed";
      } else {
        perform(i, verb, result);
        if (options_.progress) options_.progress(result);
        skip = result.outcome == ManifestOutcome::Failed && !options_.continueOnError;
      }
      report.results.push_back(result);
    }
    return report;
  }

 private:
  ManifestResult begun(const ManifestStep& step) const {
    const String name = step.object.name();
    return {.document = step.document,
            .line = step.line,
            .mapping = step.mapping,
            .namespace_ = step.object.namespace_(),
            .name = name.empty() ? step.object.generateName() : name,
            .dryRun = options_.dryRun};
  }

  void perform(std::size_t i, ManifestVerb verb, ManifestResult& result) {
    const ManifestStep& step = steps_[i];
    try {
      if (step.definedBy && verb != ManifestVerb::Remove) {
        if (options_.dryRun) {
          result.message = fmt::format("a dry run does not create its definition, document {}",
                                       steps_[*step.definedBy].document);
          return;
        }
        awaitDefinition(*step.definedBy);
      }
      const auto objects = client_.resource(step.mapping).inNamespace(result.namespace_);
      switch (verb) {
        case ManifestVerb::Create:
          create(step, objects, result);
          break;
        case ManifestVerb::Apply:
          apply(step, objects, result);
          break;
        case ManifestVerb::Remove:
          remove(step, objects, result);
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

  void awaitDefinition(std::size_t i) {
    if (std::ranges::find(served_, i) != served_.end()) return;
    const ManifestStep& step = steps_[i];
    if (results_[i].outcome == ManifestOutcome::Failed) {
      throw Error(fmt::format("its definition, document {}, has failed", step.document));
    }
    waitFor<Unstructured>(
        client_.resource(step.mapping), step.object.name(),
        [](const Unstructured* found) { return found != nullptr && isEstablished(*found); },
        options_.definitionTimeout, stop_);
    mapper_.reset();
    served_.push_back(i);
  }

  // Sends a request. If the kind is new to the server, retries for a while until the kind is
  // served.
  template <class Act>
  auto send(const ManifestStep& step, Act act) {
    if (!step.definedBy) return act();
    return retryOnError(isNotServed, act, kUntilServed, stop_);
  }

  void create(const ManifestStep& step, const ResourceClient<Unstructured>& objects,
              ManifestResult& result) {
    try {
      result.object = send(step, [&] {
        return objects.create(step.object,
                              {.dryRun = dryRun_,
                               .fieldManager = options_.fieldManager,
                               .fieldValidation = options_.fieldValidation},
                              stop_);
      });
    } catch (const ApiError& error) {
      // If the server generates the name, this error means that it found no free one.
      if (!isAlreadyExists(error) || step.object.name().empty()) throw;
      result.outcome = ManifestOutcome::AlreadyExists;
      return;
    }
    result.outcome = ManifestOutcome::Created;
    if (const String name = result.object.name(); !name.empty()) result.name = name;
  }

  void apply(const ManifestStep& step, const ResourceClient<Unstructured>& objects,
             ManifestResult& result) {
    // The answer of server-side apply does not tell what has changed, so the object is read before.
    std::optional<Unstructured> before;
    bool seen = true;
    try {
      before = objects.find(result.name, {}, stop_);
    } catch (const ApiError& error) {
      if (!isForbidden(error)) throw;
      seen = false;
    }
    metav1::PatchOptions patch{.dryRun = dryRun_,
                               .fieldManager = options_.fieldManager,
                               .fieldValidation = options_.fieldValidation};
    if (options_.force) patch.force = true;
    const std::string body = toJson(step.object);
    result.object = send(
        step, [&] { return objects.patch(result.name, PatchType::Apply, body, patch, stop_); });
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

  void remove(const ManifestStep&, const ResourceClient<Unstructured>& objects,
              ManifestResult& result) {
    metav1::DeleteOptions how;
    how.dryRun = dryRun_;
    if (!options_.propagationPolicy.empty()) {
      how.propagationPolicy.emplace(options_.propagationPolicy);
    }
    try {
      objects.remove(result.name, how, stop_);
      result.outcome = ManifestOutcome::Removed;
    } catch (const ApiError& error) {
      if (!isNotFound(error)) throw;
      result.outcome = ManifestOutcome::Missing;
    }
  }

  const DynamicClient& client_;
  const RestMapper& mapper_;
  const ManifestOptions& options_;
  const std::stop_token& stop_;
  List<String> dryRun_;
  std::vector<ManifestStep> steps_;
  std::vector<ManifestResult> results_;  // by step
  std::vector<std::size_t> served_;      // definitions that have been waited for
};

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

ManifestReport createFromYaml(const DynamicClient& client, const RestMapper& mapper,
                              std::string_view text, const ManifestOptions& options,
                              const std::stop_token& stop) {
  return ManifestRun(client, mapper, options, stop).run(text, ManifestVerb::Create);
}

ManifestReport applyFromYaml(const DynamicClient& client, const RestMapper& mapper,
                             std::string_view text, const ManifestOptions& options,
                             const std::stop_token& stop) {
  return ManifestRun(client, mapper, options, stop).run(text, ManifestVerb::Apply);
}

ManifestReport removeFromYaml(const DynamicClient& client, const RestMapper& mapper,
                              std::string_view text, const ManifestOptions& options,
                              const std::stop_token& stop) {
  return ManifestRun(client, mapper, options, stop).run(text, ManifestVerb::Remove);
}

}  // namespace kube
