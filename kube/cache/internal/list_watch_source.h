// Adapts a ListWatch to the reflector's loop, which does not know the objects' type. Its functions
// block, so the loop needs a thread of its own.
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
  Task<metav1::ListMeta> list(const metav1::ListOptions& options, const Use& use,
                              Pool& pool) override {
    const std::stop_token stop = co_await taskStop();
    co_return functions_.list(
        options, [&use](T&& object) { use(shared(std::move(object))); }, stop, pool);
  }
  Task<void> openWatch(const metav1::ListOptions& options, Pool& pool) override {
    const std::stop_token stop = co_await taskStop();
    events_ = functions_.watch(options, stop, pool);
  }
  void closeWatch() override { events_ = nullptr; }
  bool take(SourceEvent& event) override {
    if (!next_) return false;
    event = {next_->type, nullptr, std::move(next_->status)};
    if (event.type != EventType::Error) event.object = shared(std::move(next_->object));
    next_.reset();
    return true;
  }
  Task<bool> wait() override {
    next_ = events_();
    co_return next_.has_value();
  }
  Task<bool> hasReached(const String& version) override {
    const std::stop_token stop = co_await taskStop();
    co_return !functions_.reached || functions_.reached(version, stop);
  }

 private:
  static std::shared_ptr<void> shared(T&& object) {
    return std::allocate_shared<T>(BlockAllocator<T>(), std::move(object));
  }

  const ListWatch<T> functions_;
  EventSource<T> events_;  // of the watch under way
  std::optional<WatchEvent<T>> next_;
};

}  // namespace kube::detail
