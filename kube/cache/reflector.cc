#include "kube/cache/reflector.h"

#include "kube/cache/internal/reflector_loop.h"

namespace kube::detail {

ReflectorBase::ReflectorBase(const ObjectType& type, std::unique_ptr<ObjectSource> source,
                             ReflectorOptions options, UntypedTransform transform)
    : source_(std::move(source)),
      loop_(std::make_unique<ReflectorLoop>(type, *source_,
                                            static_cast<ReflectorStore<void>&>(*this),
                                            std::move(options), std::move(transform))) {}
ReflectorBase::~ReflectorBase() = default;

void ReflectorBase::run(const std::stop_token& stop) { detail::runBlocking(loop_->run(), stop); }
void ReflectorBase::listAndWatch(const std::stop_token& stop) {
  detail::runBlocking(loop_->listAndWatch(), stop);
}
String ReflectorBase::lastSyncResourceVersion() const { return loop_->lastSyncResourceVersion(); }
ReflectorStats ReflectorBase::stats() const { return loop_->stats(); }

}  // namespace kube::detail
