#include "kube/cache/handler_registration.h"

#include <utility>

#include "kube/cache/internal/handlers.h"

namespace kube {

namespace {

Task<bool> waitForSyncOf(std::shared_ptr<detail::Handlers> handlers,
                         std::shared_ptr<detail::HandlerQueue> queue) {
  const bool synced = co_await handlers->waitForFirstList();
  if (!synced) co_return false;
  co_return co_await queue->waitForInitial();
}

}  // namespace

HandlerRegistration::HandlerRegistration(std::shared_ptr<detail::Handlers> handlers,
                                         std::shared_ptr<detail::HandlerQueue> queue)
    : handlers_(std::move(handlers)), queue_(std::move(queue)) {}

bool HandlerRegistration::hasSynced() const {
  return handlers_->firstList().complete() && queue_->initialDelivered();
}

bool HandlerRegistration::waitForSync(const std::stop_token& stop) const {
  return detail::runBlocking(waitForSyncOf(handlers_, queue_), stop);
}

AsyncCaches HandlerRegistration::async() const {
  return AsyncCaches(
      [handlers = handlers_, queue = queue_] { return waitForSyncOf(handlers, queue); });
}

void HandlerRegistration::remove() const { handlers_->remove(queue_); }

std::uint64_t HandlerRegistration::failures() const noexcept { return queue_->failures(); }

std::size_t HandlerRegistration::pending() const { return queue_->pending(); }

}  // namespace kube
