#include "kube/client/internal/manifest_plan.h"

#include <fmt/core.h>

#include <algorithm>

#include "kube/base/internal/text.h"
#include "kube/base/joined.h"
#include "kube/codec/unstructured.h"
#include "kube/codec/yaml.h"

namespace kube {

namespace {

constexpr std::size_t kShownProblems = 20;

std::string problemsText(const std::vector<ManifestError::Problem>& problems) {
  const auto place = [](const ManifestError::Problem& problem) {
    return fmt::format("document {}, line {}: {}", problem.document, problem.line, problem.message);
  };
  if (problems.size() == 1) return "manifest: " + place(problems.front());
  std::string text = fmt::format("manifest: {} problems", problems.size());
  for (std::size_t i = 0; i < std::min(problems.size(), kShownProblems); ++i) {
    text += "\n  " + place(problems[i]);
  }
  if (problems.size() > kShownProblems) {
    text += fmt::format("\n  and {} more", problems.size() - kShownProblems);
  }
  return text;
}

// Returns the number of the document that contains a line, for a text that is not YAML from there
// on.
std::size_t documentAt(std::string_view text, std::size_t line) {
  std::size_t number = 0;
  for (std::size_t at = 1; at <= line && !text.empty(); ++at) {
    const std::string_view found = detail::cut(text, '\n');
    const std::size_t first = found.find_first_not_of(" \t\r");
    if (found.starts_with("---")) {
      ++number;
    } else if (number == 0 && first != std::string_view::npos && found[first] != '#' &&
               found[first] != '%') {
      number = 1;  // the first one needs no marker
    }
  }
  return std::max<std::size_t>(number, 1);
}

std::string_view typeName(const Value& value) { return toString(value.type()); }

// The reason without the line, which the problem has.
std::string reasonOf(const DecodeError& error) {
  return error.path().empty() ? error.reason()
                              : fmt::format("{}: {}", error.path(), error.reason());
}

}  // namespace

ManifestError::ManifestError(std::vector<Problem> problems)
    : Error(problemsText(problems)),
      problems_(std::make_shared<const std::vector<Problem>>(std::move(problems))) {}

ManifestError::~ManifestError() = default;

namespace detail {

namespace {

/// The steps with what a mapper knows.
struct Plan {
  std::vector<ManifestStep> steps;
  std::vector<ManifestError::Problem> problems;
  bool lacksKinds = false;

  /// An awaitable mapper then looks once more, with newer resources.
  bool empty() const noexcept { return lacksKinds; }
};

class Planner {
 public:
  Planner(std::string_view text, const ManifestOptions& options, ManifestVerb verb)
      : options_(options), verb_(verb) {
    std::vector<YamlDocument> documents;
    try {
      documents = splitYaml(text, {.expandLists = true});
    } catch (const DecodeError& error) {
      throw ManifestError({{documentAt(text, error.line()), error.line(), reasonOf(error)}});
    }
    for (const YamlDocument& document : documents) read(document);
  }

  Plan plan(const RestMapper& mapper) const {
    Plan result{.steps = steps_, .problems = problems_};
    for (std::size_t i = 0; i < steps_.size(); ++i) map(i, mapper, result);
    return result;
  }

 private:
  /// A resource that a CustomResourceDefinition of the text defines.
  struct Definition {
    std::size_t step;
    RestMapping mapping;
  };

  void problem(const ManifestStep& step, std::string message) {
    problems_.push_back({step.document, step.line, std::move(message)});
  }

  void read(const YamlDocument& document) {
    ManifestStep step{.document = document.number, .line = document.line};
    if (options_.fieldValidation == "Strict") {
      for (const std::string& twice : document.duplicates) problem(step, twice);
    }
    try {
      step.object = document.as<Unstructured>();
    } catch (const DecodeError& error) {
      if (error.line() != 0) step.line = error.line();
      return problem(step, reasonOf(error));
    }
    // "kind: List" is expanded already; the remaining lists have items of one kind.
    const String kind = step.object.kind();
    if (!step.object.isList() || !kind.view().ends_with("List")) return add(std::move(step));
    const std::string_view itemKind = kind.view().substr(0, kind.size() - 4);
    for (const Value& item : step.object.object["items"].asArray()) {
      ManifestStep part{.document = step.document, .line = step.line};
      part.object = Unstructured(item);
      if (item.isObject()) {
        if (part.object.kind().empty()) part.object.setKind(itemKind);
        if (part.object.apiVersion().empty()) part.object.setApiVersion(step.object.apiVersion());
      }
      add(std::move(part));
    }
  }

  /// Returns whether a field of the metadata is a string or absent; otherwise adds a problem.
  bool checkString(const ManifestStep& step, std::string_view field) {
    const Value& value = std::as_const(step.object.object)["metadata"][field];
    if (value.isNull() || value.isString()) return true;
    problem(step, fmt::format("metadata.{}: expected a string, found {}", field, typeName(value)));
    return false;
  }

  void add(ManifestStep step) {
    const Value& object = step.object.object;
    if (!object.isObject()) {
      return problem(step, fmt::format("expected an object, found {}", typeName(object)));
    }
    for (const std::string_view field : {"apiVersion", "kind"}) {
      const Value& value = object[field];
      if (value.isString() && !value.asString().empty()) continue;
      return problem(step, fmt::format("{}: expected a string that is not empty, found {}", field,
                                       value.isString() ? "an empty string" : typeName(value)));
    }
    const auto version = GroupVersion::tryParse(step.object.apiVersion());
    if (!version || version->version.empty()) {
      return problem(step, fmt::format("apiVersion: \"{}\" is neither VERSION nor GROUP/VERSION",
                                       step.object.apiVersion()));
    }
    const Value& metadata = object["metadata"];
    if (!metadata.isNull() && !metadata.isObject()) {
      return problem(step,
                     fmt::format("metadata: expected an object, found {}", typeName(metadata)));
    }
    const bool strings = checkString(step, "name") && checkString(step, "generateName") &&
                         checkString(step, "namespace");
    if (!strings) return;
    if (step.object.name().empty()) {
      if (verb_ != ManifestVerb::Create) return problem(step, "metadata.name: is missing");
      if (step.object.generateName().empty()) {
        return problem(step, "metadata.name: is missing, and so is generateName");
      }
    }
    if (verb_ == ManifestVerb::Apply && !metadata["managedFields"].isNull()) {
      return problem(step,
                     "metadata.managedFields: must not be set when applying: the server keeps "
                     "them; remove it");
    }
    steps_.push_back(std::move(step));
    define(steps_.size() - 1);
  }

  void define(std::size_t i) {
    const Unstructured& object = steps_[i].object;
    if (object.kind() != "CustomResourceDefinition") return;
    if (GroupVersion::parse(object.apiVersion()).group != "apiextensions.k8s.io") return;
    const Value& spec = std::as_const(object.object)["spec"];
    const String& group = spec["group"].asString();
    const auto add = [&](const String& version) {
      if (version.empty()) return;
      definitions_.push_back(
          {i,
           {{group, version, spec["names"]["plural"].asString()},
            {group, version, spec["names"]["kind"].asString()},
            spec["scope"].asString() == "Namespaced" ? RestScope::Namespace : RestScope::Root}});
    };
    add(spec["version"].asString());  // in v1beta1
    for (const Value& version : spec["versions"].asArray()) {
      if (version["served"].asBool()) add(version["name"].asString());
    }
  }

  void map(std::size_t i, const RestMapper& mapper, Plan& plan) const {
    ManifestStep& step = plan.steps[i];
    const GroupVersionKind kind = step.object.gvk();
    if (auto known = mapper.findMapping(kind.groupKind(), {kind.version.view()})) {
      step.mapping = *std::move(known);
    } else {
      plan.lacksKinds = true;
      const Definition* definition = definitionOf(kind);
      if (definition == nullptr || (definition->step >= i && verb_ != ManifestVerb::Remove)) {
        plan.problems.push_back({step.document, step.line, unknown(kind, definition, mapper)});
        return;
      }
      step.mapping = definition->mapping;
      step.definedBy = definition->step;
    }
    if (step.mapping.scope == RestScope::Root) {
      step.object.setNamespace({});
    } else if (step.object.namespace_().empty()) {
      step.object.setNamespace(options_.namespace_);
    }
  }

  const Definition* definitionOf(const GroupVersionKind& kind) const {
    const auto found =
        std::ranges::find_if(definitions_, [&](const auto& d) { return d.mapping.gvk == kind; });
    return found != definitions_.end() ? &*found : nullptr;
  }

  std::string unknown(const GroupVersionKind& kind, const Definition* later,
                      const RestMapper& mapper) const {
    std::string text =
        fmt::format("the server has no kind \"{}\" in \"{}\"", kind.kind, kind.groupVersion());
    if (later != nullptr) {
      return text + fmt::format(": document {} defines it and has to come first",
                                steps_[later->step].document);
    }
    std::vector<std::string> versions;
    for (const RestMapping& other : mapper.findMappings(kind.groupKind(), {})) {
      versions.push_back(other.gvk.groupVersion().str());
    }
    if (versions.empty()) return text + "; is its CustomResourceDefinition installed?";
    return text + fmt::format(", only in {}", joined(versions, ", "));
  }

  const ManifestOptions& options_;
  const ManifestVerb verb_;
  std::vector<ManifestStep> steps_;
  std::vector<Definition> definitions_;
  std::vector<ManifestError::Problem> problems_;
};

}  // namespace

Task<std::vector<ManifestStep>> planManifest(std::string_view text, const ManifestMapper& mapper,
                                             const ManifestOptions& options, ManifestVerb verb) {
  if (options.fieldManager.empty() && verb == ManifestVerb::Apply) {
    throw Error("apply: options.fieldManager must not be empty");
  }
  const String& validation = options.fieldValidation;
  if (!validation.empty() && validation != "Ignore" && validation != "Warn" &&
      validation != "Strict") {
    throw Error(fmt::format(
        "options.fieldValidation: expected Ignore, Warn or Strict, found \"{}\"", validation));
  }
  if (options.namespace_.empty()) throw Error("options.namespace_ must not be empty");
  const Planner planner(text, options, verb);
  const auto look = [&](const RestMapper& known) { return planner.plan(known); };
  Plan plan = co_await mapper.lookUp(look);
  if (!plan.problems.empty()) throw ManifestError(std::move(plan.problems));
  co_return std::move(plan.steps);
}

}  // namespace detail

}  // namespace kube
