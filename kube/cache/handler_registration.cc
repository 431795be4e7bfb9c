#include "kube/cache/handler_registration.h"

#include <utility>

#include "kube/cache/internal/handlers.h"

namespace kube {

HandlerRegistration::HandlerRegistration(std::shared_ptr<detail::Handlers> handlers,
                                         std::shared_ptr<detail::HandlerQueue> queue)
    : handlers_(std::move(handlers)), queue_(std::move(queue)) {}

bool HandlerRegistration::hasSynced() const {
  return handlers_->upstream().hasSynced() && queue_->initialDelivered();
}

bool HandlerRegistration::waitForSync(const std::stop_token& stop) const {
  return handlers_->waitForUpstream(stop) && queue_->waitForInitial(stop);
}

void HandlerRegistration::remove() const { handlers_->remove(queue_); }

std::uint64_t HandlerRegistration::failures() const noexcept { return queue_->failures(); }

std::size_t HandlerRegistration::pending() const { return queue_->pending(); }

}  // namespace kube
