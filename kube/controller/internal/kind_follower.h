// Follows a kind that a definition (CRD) may begin or cease to serve, and whose version may change.
//
// A thread waits for changes of definitions, and keeps an informer of the kind while it is served.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "kube/base/internal/condition.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/log.h"
#include "kube/base/task.h"
#include "kube/cache/handler_registration.h"
#include "kube/cache/shared_informer_factory.h"
#include "kube/controller/internal/controller_sources.h"
#include "kube/meta/gvk.h"
#include "kube/rest/rest_client.h"

namespace kube::detail {

class KindFollower final : public RunningSource, public std::enable_shared_from_this<KindFollower> {
 public:
  /// Starts a source of this informer, and calls `start` to run it.
  using Begin = std::function<std::shared_ptr<RunningSource>(std::shared_ptr<InformerCore> informer,
                                                             std::function<void()> start)>;

  using Definitions = SharedInformer<metav1::PartialObjectMetadata>;

  static Definitions definitionsOf(const SharedInformerFactory& factory);
  /// Makes an informer with these options when the kind is served. Throws Error if the thread
  /// cannot be started.
  static std::shared_ptr<KindFollower> start(RestClient rest, InformerFactoryOptions options,
                                             Definitions definitions, GroupKind kind,
                                             const Logger& log, const std::stop_token& stop,
                                             Begin begin);
  ~KindFollower() override;

  Task<bool> waitForSync() const override;
  void end() override;
  std::string describe() const override;

 private:
  struct Served;
  class Following;

  KindFollower(RestClient rest, InformerFactoryOptions options, Definitions definitions,
               GroupKind kind, const Logger& log, const std::stop_token& stop, Begin begin);
  void run();
  std::optional<Served> look() const;

  const RestClient rest_;
  const InformerFactoryOptions options_;
  const Definitions definitions_;
  const GroupKind kind_;
  const Logger log_;
  const Begin begin_;
  LinkedStop stop_;
  std::thread thread_;  // used by start() and end()

  mutable Mutex stateMutex_;
  mutable Condition changed_{stateMutex_};
  bool definitionsChanged_ KUBE_GUARDED_BY(stateMutex_) = true;
  bool looked_ KUBE_GUARDED_BY(stateMutex_) = false;
  bool ended_ KUBE_GUARDED_BY(stateMutex_) = false;
  // Null while the kind is not served.
  std::shared_ptr<RunningSource> source_ KUBE_GUARDED_BY(stateMutex_);
  std::shared_ptr<InformerCore> informer_ KUBE_GUARDED_BY(stateMutex_);
};

}  // namespace kube::detail
