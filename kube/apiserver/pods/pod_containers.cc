#include "kube/apiserver/pods/pod_containers.h"

#include <algorithm>

namespace kube::apiserver {

template <class T>
T ContainerState::find(const Said<T>& said, std::string_view pod, std::string_view container) {
  const Key keys[] = {{std::string(pod), std::string(container)},
                      {std::string(pod), {}},
                      {{}, std::string(container)},
                      {{}, {}}};
  for (const Key& key : keys) {
    if (const auto found = said.find(key); found != said.end()) return found->second;
  }
  return {};
}

std::shared_ptr<PodLog> ContainerState::log(std::string_view pod, std::string_view container,
                                            bool previous) const {
  const detail::Lock lock(scriptsMutex_);
  return find(previous ? previousLogs_ : logs_, pod, container);
}

testing::Program ContainerState::exec(std::string_view pod, std::string_view container) const {
  const detail::Lock lock(scriptsMutex_);
  return find(exec_, pod, container);
}

testing::Program ContainerState::attach(std::string_view pod, std::string_view container) const {
  const detail::Lock lock(scriptsMutex_);
  return find(attach_, pod, container);
}

testing::PortService ContainerState::port(std::string_view pod, std::uint16_t port) const {
  const detail::Lock lock(scriptsMutex_);
  auto found = ports_.find({std::string(pod), port});
  if (found == ports_.end()) found = ports_.find({std::string(), port});
  return found == ports_.end() ? testing::PortService() : found->second;
}

bool ContainerState::hasPorts(std::string_view pod) const {
  const detail::Lock lock(scriptsMutex_);
  return std::ranges::any_of(ports_, [&](const auto& entry) {
    return entry.first.first.empty() || entry.first.first == pod;
  });
}

void ContainerState::setLog(std::string_view pod, std::string_view container,
                            std::shared_ptr<PodLog> log, bool previous) {
  {
    const detail::Lock lock(scriptsMutex_);
    log.swap((previous ? previousLogs_ : logs_)[{std::string(pod), std::string(container)}]);
  }
  if (log) log->end();  // the previous log
}

std::shared_ptr<PodLog> ContainerState::sameLog(std::string_view pod, std::string_view container) {
  const detail::Lock lock(scriptsMutex_);
  std::shared_ptr<PodLog>& log = logs_[{std::string(pod), std::string(container)}];
  if (!log) log = std::make_shared<PodLog>();
  return log;
}

void ContainerState::setExec(std::string_view pod, std::string_view container,
                             testing::Program program) {
  const detail::Lock lock(scriptsMutex_);
  exec_[{std::string(pod), std::string(container)}] = std::move(program);
}

void ContainerState::setAttach(std::string_view pod, std::string_view container,
                               testing::Program program) {
  const detail::Lock lock(scriptsMutex_);
  attach_[{std::string(pod), std::string(container)}] = std::move(program);
}

void ContainerState::setPort(std::string_view pod, std::uint16_t port,
                             testing::PortService service) {
  const detail::Lock lock(scriptsMutex_);
  ports_[{std::string(pod), port}] = std::move(service);
}

void ContainerState::forget(std::string_view pod) {
  std::vector<std::shared_ptr<PodLog>> ended;
  {
    const detail::Lock lock(scriptsMutex_);
    const auto ofPod = [&](const auto& entry) { return entry.first.first == pod; };
    for (const auto& [key, log] : logs_) {
      if (key.first == pod) ended.push_back(log);
    }
    std::erase_if(logs_, ofPod);
    std::erase_if(previousLogs_, ofPod);
    std::erase_if(exec_, ofPod);
    std::erase_if(attach_, ofPod);
    std::erase_if(ports_, ofPod);
  }
  for (const auto& log : ended) log->end();
}

// --- Threads.

bool ContainerState::start(std::function<void()> function) {
  const detail::Lock lock(workersMutex_);
  // A worker that is done does not need the lock any more, so it can be joined with the lock held.
  std::erase_if(workers_, [](Worker& worker) {
    if (worker.done) worker.thread.join();
    return worker.done;
  });
  if (stopping_ || workers_.size() >= kMaxThreads) return false;
  const auto worker = workers_.emplace(workers_.end());
  try {
    worker->thread = std::thread([this, worker, function = std::move(function)]() mutable {
      function();
      function = nullptr;
      const detail::Lock done(workersMutex_);
      worker->done = true;
    });
  } catch (const std::system_error&) {
    workers_.erase(worker);
    return false;
  }
  return true;
}

bool ContainerState::full() const { return running() >= kMaxThreads; }

std::size_t ContainerState::running() const {
  const detail::Lock lock(workersMutex_);
  return static_cast<std::size_t>(
      std::ranges::count_if(workers_, [](const Worker& worker) { return !worker.done; }));
}

void ContainerState::stop() {
  std::list<Worker> workers;
  {
    const detail::Lock lock(workersMutex_);
    stopping_ = true;
    workers.swap(workers_);
  }
  for (Worker& worker : workers) worker.thread.join();
}

}  // namespace kube::apiserver

// --- The public class.

namespace kube::testing {

using apiserver::PodLog;

Containers::Containers(Clock& clock) : state_(std::make_unique<apiserver::ContainerState>(clock)) {}
Containers::~Containers() = default;

void Containers::log(std::string_view pod, std::string_view container, std::string_view text) {
  const auto log = std::make_shared<PodLog>();
  log->append(text, Stream::Stdout, state_->clock().wallNow());
  state_->setLog(pod, container, log, false);
}
void Containers::append(std::string_view pod, std::string_view container, std::string_view text,
                        Stream stream) {
  state_->sameLog(pod, container)->append(text, stream, state_->clock().wallNow());
}
void Containers::endLog(std::string_view pod, std::string_view container) {
  state_->sameLog(pod, container)->end();
}
void Containers::previousLog(std::string_view pod, std::string_view container,
                             std::string_view text) {
  const auto log = std::make_shared<PodLog>();
  log->append(text, Stream::Stdout, state_->clock().wallNow());
  log->end();
  state_->setLog(pod, container, log, true);
}
void Containers::exec(std::string_view pod, std::string_view container, Program program) {
  state_->setExec(pod, container, std::move(program));
}
void Containers::attach(std::string_view pod, std::string_view container, Program program) {
  state_->setAttach(pod, container, std::move(program));
}
void Containers::port(std::string_view pod, std::uint16_t port, PortService service) {
  state_->setPort(pod, port, std::move(service));
}
void Containers::forget(std::string_view pod) { state_->forget(pod); }
std::size_t Containers::running() const { return state_->running(); }

}  // namespace kube::testing
