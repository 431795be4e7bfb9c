// The state behind Containers: scripts by pod and container, and the threads that run them.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "kube/apiserver/pods/pod_log.h"
#include "kube/base/internal/mutex.h"
#include "kube/testing/scripted_container.h"

namespace kube::apiserver {

class ContainerState {
 public:
  explicit ContainerState(Clock& clock) : clock_(clock) {}
  ~ContainerState() { stop(); }

  Clock& clock() const noexcept { return clock_; }

  // --- The script of a container, or null.
  std::shared_ptr<PodLog> log(std::string_view pod, std::string_view container,
                              bool previous = false) const;
  testing::Program exec(std::string_view pod, std::string_view container) const;
  testing::Program attach(std::string_view pod, std::string_view container) const;
  testing::PortService port(std::string_view pod, std::uint16_t port) const;
  /// True if the pod has a script for any port.
  bool hasPorts(std::string_view pod) const;

  // --- Setting scripts.
  void setLog(std::string_view pod, std::string_view container, std::shared_ptr<PodLog> log,
              bool previous);
  std::shared_ptr<PodLog> sameLog(std::string_view pod, std::string_view container);
  void setExec(std::string_view pod, std::string_view container, testing::Program program);
  void setAttach(std::string_view pod, std::string_view container, testing::Program program);
  void setPort(std::string_view pod, std::uint16_t port, testing::PortService service);
  void forget(std::string_view pod);

  // --- Threads.
  /// Runs a function on a thread of its own. Returns false if there are too many, or after stop().
  bool start(std::function<void()> function);
  bool full() const;
  std::size_t running() const;
  /// Waits for all threads. Their connections must have ended before.
  void stop();

 private:
  static constexpr std::size_t kMaxThreads = 500;

  using Key = std::pair<std::string, std::string>;  // pod, container
  template <class T>
  using Said = std::map<Key, T>;
  template <class T>
  static T find(const Said<T>& said, std::string_view pod, std::string_view container);

  struct Worker {
    std::thread thread;
    bool done = false;  // guarded by workersMutex_
  };

  Clock& clock_;
  mutable detail::Mutex scriptsMutex_;
  Said<std::shared_ptr<PodLog>> logs_ KUBE_GUARDED_BY(scriptsMutex_);
  Said<std::shared_ptr<PodLog>> previousLogs_ KUBE_GUARDED_BY(scriptsMutex_);
  Said<testing::Program> exec_ KUBE_GUARDED_BY(scriptsMutex_);
  Said<testing::Program> attach_ KUBE_GUARDED_BY(scriptsMutex_);
  std::map<std::pair<std::string, std::uint16_t>, testing::PortService> ports_
      KUBE_GUARDED_BY(scriptsMutex_);
  mutable detail::Mutex workersMutex_;
  std::list<Worker> workers_ KUBE_GUARDED_BY(workersMutex_);
  bool stopping_ KUBE_GUARDED_BY(workersMutex_) = false;
};

}  // namespace kube::apiserver
