#include "kube/meta/mapping/deferred_rest_mapper.h"

namespace kube {

DiscoverySource::~DiscoverySource() = default;

DiscoverySnapshot::DiscoverySnapshot(std::span<const ApiGroupResources> groups)
    : mapper(std::make_shared<const StaticRestMapper>(groups)),
      shortNames(std::make_shared<const ShortNames>(groups)),
      categories(std::make_shared<const SimpleCategoryExpander>(groups)) {}

DeferredRestMapper::DeferredRestMapper(std::shared_ptr<DiscoverySource> source)
    : source_(std::move(source)) {}

namespace {

Task<DeferredRestMapper::Snapshot> fetched(DiscoverySource& source) {
  const auto groups = co_await source.fetch();
  co_return std::make_shared<const DiscoverySnapshot>(groups);
}

}  // namespace

Task<DeferredRestMapper::Snapshot> DeferredRestMapper::snapshotAsync() const {
  return known_.get([this] { return fetched(*source_); });
}

DeferredRestMapper::Snapshot DeferredRestMapper::snapshot() const {
  return detail::runBlocking(snapshotAsync(), {});
}

Task<DeferredRestMapper::Snapshot> DeferredRestMapper::newerThan(Snapshot old) const {
  // fresh() is called first: a thread that makes the source fresh has replaced `old` before.
  const bool fresh = source_->fresh();
  if (known_.current() != old) co_return co_await snapshotAsync();
  if (fresh) co_return nullptr;
  const auto fetch = [this] {
    source_->invalidate();
    return fetched(*source_);
  };
  co_return co_await known_.getNewer(old, fetch);
}

void DeferredRestMapper::reset() const {
  // In this order, so that later fetches get new data; a fetch under way may get old data.
  source_->invalidate();
  known_.forget();
}

template <class Ask>
auto DeferredRestMapper::asked(Ask ask) const {
  const auto look = [&](const DiscoverySnapshot& known) { return ask(*known.mapper); };
  return detail::runBlocking(lookUp(look), {});
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
