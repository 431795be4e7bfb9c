// Adapts a ListWatch to the reflector's loop, which does not know the objects' type.
//
// Thread safety: see ObjectSource.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "kube/base/internal/block.h"
#include "kube/cache/internal/object_source.h"
#include "kube/cache/list_watch.h"

namespace kube::detail {

template <Cacheable T>
class ListWatchSource final : public ObjectSource {
 public:
  explicit ListWatchSource(ListWatch<T> functions) : functions_(std::move(functions)) {}

  bool complete() const noexcept override { return functions_.list && functions_.watch; }
  metav1::ListMeta list(const metav1::ListOptions& options, const Use& use,
                        const std::stop_token& stop, Pool& pool) override {
    return functions_.list(
        options, [&use](T&& object) { use(shared(std::move(object))); }, stop, pool);
  }
  void openWatch(const metav1::ListOptions& options, const std::stop_token& stop,
                 Pool& pool) override {
    events_ = functions_.watch(options, stop, pool);
  }
  void closeWatch() override { events_ = nullptr; }
  bool next(SourceEvent& event) override {
    std::optional<WatchEvent<T>> next = events_();
    if (!next) return false;
    event = {next->type, nullptr, std::move(next->status)};
    if (event.type != EventType::Error) event.object = shared(std::move(next->object));
    return true;
  }
  bool hasReached(const String& version, const std::stop_token& stop) override {
    return !functions_.reached || functions_.reached(version, stop);
  }

 private:
  static std::shared_ptr<void> shared(T&& object) {
    return std::allocate_shared<T>(BlockAllocator<T>(), std::move(object));
  }

  const ListWatch<T> functions_;
  EventSource<T> events_;  // of the watch under way
};

}  // namespace kube::detail
