#include "kube/meta/mapping/composed_rest_mapper.h"

#include <algorithm>
#include <exception>

#include "kube/base/error.h"

namespace kube {
namespace {

/// The exceptions of mappers that were skipped so far.
class Failures {
 public:
  /// Calls `ask` and records its exception.
  template <class Ask>
  void during(Ask ask) {
    try {
      ask();
    } catch (const Error& error) {
      messages_.append(messages_.empty() ? "" : ", ").append(error.what());
      if (++count_ == 1) first_ = std::current_exception();
    }
  }
  /// Throws if an exception was recorded.
  void raise() const {
    if (count_ == 1) std::rethrow_exception(first_);
    if (count_ > 1) throw Error("[" + messages_ + "]");
  }

 private:
  std::exception_ptr first_;
  std::size_t count_ = 0;
  std::string messages_;
};

/// The first answer that `ask` gets from a mapper.
template <class Answer, class Ask>
Answer firstAnswer(const std::vector<RestMapperPtr>& mappers, Ask ask) {
  Failures failures;
  for (const RestMapperPtr& mapper : mappers) {
    Answer answer;
    failures.during([&] { answer = ask(*mapper); });
    if (answer) return answer;
  }
  failures.raise();
  return std::nullopt;
}

template <class Name>
void addNew(std::vector<Name>& all, std::vector<Name> more) {
  for (Name& name : more) {
    if (std::ranges::find(all, name) == all.end()) all.push_back(std::move(name));
  }
}

bool fits(const String& pattern, const String& name) { return pattern == "*" || pattern == name; }

bool fits(const GroupVersionResource& pattern, const GroupVersionResource& name) {
  return fits(pattern.group, name.group) && fits(pattern.version, name.version) &&
         fits(pattern.resource, name.resource);
}

bool fits(const GroupVersionKind& pattern, const GroupVersionKind& name) {
  return fits(pattern.group, name.group) && fits(pattern.version, name.version) &&
         fits(pattern.kind, name.kind);
}

bool fits(const GroupVersionKind& pattern, const RestMapping& mapping) {
  return fits(pattern, mapping.gvk);
}

/// The answers that are left after the patterns: one, if the patterns decide.
template <class Answer, class Pattern>
std::vector<Answer> narrow(std::vector<Answer> answers, const std::vector<Pattern>& patterns) {
  for (const Pattern& pattern : patterns) {
    if (answers.size() < 2) break;
    std::vector<Answer> fitting;
    for (const Answer& answer : answers) {
      if (fits(pattern, answer)) fitting.push_back(answer);
    }
    if (!fitting.empty()) answers = std::move(fitting);
  }
  return answers;
}

[[noreturn]] void failAmbiguous(const GroupKind& kind, const std::vector<RestMapping>& mappings) {
  List<GroupVersionKind> kinds;
  for (const RestMapping& mapping : mappings) kinds.push_back(mapping.gvk);
  throw AmbiguousKindError(kind.withVersion({}), {}, std::move(kinds));
}

}  // namespace

std::vector<GroupVersionKind> MultiRestMapper::findKinds(
    const GroupVersionResource& partial) const {
  std::vector<GroupVersionKind> all;
  for (const RestMapperPtr& mapper : mappers_) addNew(all, mapper->findKinds(partial));
  return all;
}

std::vector<GroupVersionResource> MultiRestMapper::findResources(
    const GroupVersionResource& partial) const {
  std::vector<GroupVersionResource> all;
  for (const RestMapperPtr& mapper : mappers_) addNew(all, mapper->findResources(partial));
  return all;
}

std::optional<RestMapping> MultiRestMapper::findMapping(const GroupKind& kind,
                                                        VersionList versions) const {
  std::vector<RestMapping> all;
  Failures failures;
  for (const RestMapperPtr& mapper : mappers_) {
    failures.during([&] {
      if (auto mapping = mapper->findMapping(kind, versions)) all.push_back(*std::move(mapping));
    });
  }
  if (all.size() > 1) failAmbiguous(kind, all);
  if (all.size() == 1) return std::move(all.front());
  failures.raise();
  return std::nullopt;
}

std::vector<RestMapping> MultiRestMapper::findMappings(const GroupKind& kind,
                                                       VersionList versions) const {
  std::vector<RestMapping> all;
  Failures failures;
  for (const RestMapperPtr& mapper : mappers_) {
    failures.during([&] {
      for (RestMapping& mapping : mapper->findMappings(kind, versions)) {
        all.push_back(std::move(mapping));
      }
    });
  }
  failures.raise();
  return all;
}

std::optional<String> MultiRestMapper::findSingular(std::string_view resource) const {
  return firstAnswer<std::optional<String>>(
      mappers_, [&](const RestMapper& mapper) { return mapper.findSingular(resource); });
}

void MultiRestMapper::reset() const {
  for (const RestMapperPtr& mapper : mappers_) mapper->reset();
}

std::optional<GroupVersionKind> FirstHitRestMapper::findKind(
    const GroupVersionResource& partial) const {
  return firstAnswer<std::optional<GroupVersionKind>>(
      mappers(), [&](const RestMapper& mapper) { return mapper.findKind(partial); });
}

std::optional<GroupVersionResource> FirstHitRestMapper::findResource(
    const GroupVersionResource& partial) const {
  return firstAnswer<std::optional<GroupVersionResource>>(
      mappers(), [&](const RestMapper& mapper) { return mapper.findResource(partial); });
}

std::optional<RestMapping> FirstHitRestMapper::findMapping(const GroupKind& kind,
                                                           VersionList versions) const {
  return firstAnswer<std::optional<RestMapping>>(
      mappers(), [&](const RestMapper& mapper) { return mapper.findMapping(kind, versions); });
}

std::optional<GroupVersionKind> PriorityRestMapper::findKind(
    const GroupVersionResource& partial) const {
  const std::vector<GroupVersionKind> all = mapper_->findKinds(partial);
  std::vector<GroupVersionKind> left = narrow(all, kindPriority_);
  if (left.empty()) return std::nullopt;
  if (left.size() > 1) throw AmbiguousResourceError(partial, {}, {all.begin(), all.end()});
  return std::move(left.front());
}

std::vector<GroupVersionKind> PriorityRestMapper::findKinds(
    const GroupVersionResource& partial) const {
  return mapper_->findKinds(partial);
}

std::optional<GroupVersionResource> PriorityRestMapper::findResource(
    const GroupVersionResource& partial) const {
  const std::vector<GroupVersionResource> all = mapper_->findResources(partial);
  std::vector<GroupVersionResource> left = narrow(all, resourcePriority_);
  if (left.empty()) return std::nullopt;
  if (left.size() > 1) throw AmbiguousResourceError(partial, {all.begin(), all.end()});
  return std::move(left.front());
}

std::vector<GroupVersionResource> PriorityRestMapper::findResources(
    const GroupVersionResource& partial) const {
  return mapper_->findResources(partial);
}

std::optional<RestMapping> PriorityRestMapper::findMapping(const GroupKind& kind,
                                                           VersionList versions) const {
  const std::vector<RestMapping> all = mapper_->findMappings(kind, versions);
  std::vector<GroupVersionKind> asked;
  for (const std::string_view version : versions) asked.push_back({kind.group, version, "*"});
  std::vector<RestMapping> left = narrow(narrow(all, asked), kindPriority_);
  if (left.empty()) return std::nullopt;
  if (left.size() > 1) failAmbiguous(kind, all);
  return std::move(left.front());
}

std::vector<RestMapping> PriorityRestMapper::findMappings(const GroupKind& kind,
                                                          VersionList versions) const {
  return mapper_->findMappings(kind, versions);
}

std::optional<String> PriorityRestMapper::findSingular(std::string_view resource) const {
  return mapper_->findSingular(resource);
}

}  // namespace kube
