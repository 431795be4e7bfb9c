#include "kube/cache/informer_factory.h"

namespace kube {

InformerFactory::InformerFactory(InformerFactoryOptions options) : options_(std::move(options)) {}
InformerFactory::~InformerFactory() { shutdown(); }

InformerFactory::Core InformerFactory::obtain(std::string_view name,
                                              const std::function<Core()>& make) const {
  const std::lock_guard lock(entriesMutex_);
  for (const Entry& entry : entries_) {
    if (entry.name == name) return entry.informer;
  }
  Core informer = make();
  entries_.push_back({std::string(name), informer});
  return informer;
}

InformerFactory::Core InformerFactory::makeInformer(const detail::InformedType& type,
                                                    const detail::ResourceRequests& requests,
                                                    Clock::Duration resync, std::string name,
                                                    const metav1::ListOptions& which) const {
  SharedInformerOptions informer = options_.informer;
  informer.resync = resync;
  informer.name = std::move(name);
  auto tweak = [own = options_.tweakListOptions, labels = which.labelSelector,
                fields = which.fieldSelector](metav1::ListOptions& options) {
    if (!labels.empty()) options.labelSelector = labels;
    if (!fields.empty()) options.fieldSelector = fields;
    if (own) own(options);
  };
  return detail::makeInformer(
      type.makeStore(),
      detail::clientSource({requests, std::move(tweak)}, type.info, type.makeObject),
      std::move(informer));
}

void InformerFactory::start(const std::stop_token& stop) {
  const std::lock_guard lock(entriesMutex_);
  if (stop_.stop_requested()) return;
  bool any = false;
  for (Entry& entry : entries_) {
    if (entry.started || entry.informer->hasStarted()) continue;
    entry.thread = std::thread(
        [informer = entry.informer, token = stop_.get_token()] { informer->run(token); });
    entry.started = any = true;
  }
  // Every token that something was started with stops everything.
  if (any && stop.stop_possible()) {
    stops_.push_back(std::make_unique<std::stop_callback<std::function<void()>>>(
        stop, [own = stop_]() mutable { own.request_stop(); }));
  }
}

bool InformerFactory::waitForSync(const std::stop_token& stop) const {
  std::vector<Core> started;
  std::stop_source either;
  {
    const std::lock_guard lock(entriesMutex_);
    for (const Entry& entry : entries_) {
      if (entry.started) started.push_back(entry.informer);
    }
  }
  const std::stop_callback caller(stop, [&] { either.request_stop(); });
  const std::stop_callback own(stop_.get_token(), [&] { either.request_stop(); });
  for (const auto& informer : started) {
    if (!informer->waitForSync(either.get_token())) return false;
  }
  return true;
}

void InformerFactory::shutdown() {
  stop_.request_stop();
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(entriesMutex_);
    stops_.clear();
    for (Entry& entry : entries_) threads.push_back(std::move(entry.thread));
  }
  for (std::thread& thread : threads) {
    if (thread.joinable()) thread.join();
  }
}

std::string InformerFactory::describe() const {
  std::vector<Core> informers;
  {
    const std::lock_guard lock(entriesMutex_);
    for (const Entry& entry : entries_) informers.push_back(entry.informer);
  }
  std::string text;
  for (const auto& informer : informers) text += informer->describe() + "\n";
  return text;
}

}  // namespace kube
