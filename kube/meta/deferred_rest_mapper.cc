#include "kube/meta/deferred_rest_mapper.h"

#include <exception>

namespace kube {

DiscoverySource::~DiscoverySource() = default;

DiscoverySnapshot::DiscoverySnapshot(std::span<const ApiGroupResources> groups)
    : mapper(std::make_shared<const StaticRestMapper>(groups)),
      shortNames(std::make_shared<const ShortNames>(groups)),
      categories(std::make_shared<const SimpleCategoryExpander>(groups)) {}

DeferredRestMapper::DeferredRestMapper(std::shared_ptr<DiscoverySource> source)
    : source_(std::move(source)) {}

DeferredRestMapper::Snapshot DeferredRestMapper::snapshot() const {
  std::shared_ptr<Flight> flight;
  {
    std::unique_lock lock(mutex_);
    if (current_ != nullptr) return current_;
    if (flight_ != nullptr) {
      const auto outcome = flight_->outcome;
      lock.unlock();
      return outcome.get();
    }
    flight = flight_ = std::make_shared<Flight>();
  }
  return fly(flight, false);
}

DeferredRestMapper::Snapshot DeferredRestMapper::fly(const std::shared_ptr<Flight>& flight,
                                                     bool invalidate) const {
  Snapshot fetched;
  std::exception_ptr failure;
  try {
    if (invalidate) source_->invalidate();
    fetched = std::make_shared<const DiscoverySnapshot>(source_->fetch());
  } catch (...) {
    failure = std::current_exception();
  }
  {
    std::lock_guard lock(mutex_);
    // A reset since then has made this flight one that does not count.
    if (flight_ == flight) {
      current_ = fetched;
      flight_ = nullptr;
    }
  }
  if (failure) {
    flight->promise.set_exception(failure);
    std::rethrow_exception(failure);
  }
  flight->promise.set_value(fetched);
  return fetched;
}

DeferredRestMapper::Snapshot DeferredRestMapper::newerThan(const Snapshot& old) const {
  // Asked before looking at current_: whoever makes the source fresh has taken `old` away before.
  const bool fresh = source_->fresh();
  std::shared_ptr<Flight> flight;
  {
    std::lock_guard lock(mutex_);
    if (current_ == old) {
      if (fresh) return nullptr;
      current_ = nullptr;
      flight = flight_ = std::make_shared<Flight>();
    }
  }
  return flight != nullptr ? fly(flight, true) : snapshot();
}

void DeferredRestMapper::reset() const {
  // In this order, so that what is fetched afterwards is new; what is under way may be old.
  source_->invalidate();
  std::lock_guard lock(mutex_);
  current_ = nullptr;
  flight_ = nullptr;
}

template <class Ask>
auto DeferredRestMapper::asked(Ask ask) const {
  const Snapshot known = snapshot();
  auto answer = ask(*known->mapper);
  if constexpr (requires { answer.has_value(); }) {
    if (answer.has_value()) return answer;
  } else {
    if (!answer.empty()) return answer;
  }
  if (const Snapshot newer = newerThan(known)) return ask(*newer->mapper);
  return answer;
}

std::optional<GroupVersionKind> DeferredRestMapper::findKind(
    const GroupVersionResource& partial) const {
  return asked([&](const RestMapper& mapper) { return mapper.findKind(partial); });
}

std::vector<GroupVersionKind> DeferredRestMapper::findKinds(
    const GroupVersionResource& partial) const {
  return asked([&](const RestMapper& mapper) { return mapper.findKinds(partial); });
}

std::optional<GroupVersionResource> DeferredRestMapper::findResource(
    const GroupVersionResource& partial) const {
  return asked([&](const RestMapper& mapper) { return mapper.findResource(partial); });
}

std::vector<GroupVersionResource> DeferredRestMapper::findResources(
    const GroupVersionResource& partial) const {
  return asked([&](const RestMapper& mapper) { return mapper.findResources(partial); });
}

std::optional<RestMapping> DeferredRestMapper::findMapping(const GroupKind& kind,
                                                           VersionList versions) const {
  return asked([&](const RestMapper& mapper) { return mapper.findMapping(kind, versions); });
}

std::vector<RestMapping> DeferredRestMapper::findMappings(const GroupKind& kind,
                                                          VersionList versions) const {
  return asked([&](const RestMapper& mapper) { return mapper.findMappings(kind, versions); });
}

std::optional<String> DeferredRestMapper::findSingular(std::string_view resource) const {
  return asked([&](const RestMapper& mapper) { return mapper.findSingular(resource); });
}

}  // namespace kube
