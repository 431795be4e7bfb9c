// The informers of a factory: makes each once, runs them, and ends them together or one by one.
// InformerFactory documents the methods. Counted users of an informer may outlive the factory.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/base/internal/mutex.h"
#include "kube/base/map.h"
#include "kube/base/string.h"
#include "kube/base/task.h"
#include "kube/cache/internal/informer_core.h"

namespace kube::detail {

/// A kind with a selection of its objects.
struct InformerName {
  std::string kind;
  /// `labelSelector "app=web"`; empty: all objects. Not set: the selection of the kind's options.
  std::optional<std::string> selection = {};
};

class InformerSet : public std::enable_shared_from_this<InformerSet> {
 public:
  using Core = std::shared_ptr<InformerCore>;
  struct Made {
    Core informer = {};
    std::string selection = {};
    bool ofFactorysNamespaces = false;
    bool ofOwnSource = false;
  };
  struct Covering {
    Core informer = {};  // null: there is none
    Core any = {};       // an informer of the kind; null: there is none
  };
  using Make = std::function<Made(const std::optional<Strings>& factorysNamespaces)>;

  explicit InformerSet(std::optional<Strings> namespaces) : namespaces_(std::move(namespaces)) {}

  /// Returns the informer of that name. If there is none, `make` makes it; when the name has no
  /// selection, it may turn out to be one that exists under its selection. A counted informer ends
  /// with the last release(), unless it is also obtained without being counted.
  Core obtain(const InformerName& name, bool counted, const Make& make);
  /// The informer of that name; null if there is none.
  Core found(const InformerName& name);
  /// The informer that has all objects of a kind in a namespace; in all if it is empty.
  Covering covering(std::string_view kind, std::string_view namespaceName) const;
  void release(const Core& informer);
  void remove(const Core& informer);

  void addNamespace(const String& name);
  void removeNamespace(const String& name);
  std::optional<Strings> namespaces() const;

  void start(const std::stop_token& stop);
  bool isRunning() const;
  static Task<bool> waitForSync(std::shared_ptr<InformerSet> self, Clock& clock);
  std::vector<std::string> notSynced() const;
  void shutdown();
  /// As shutdown(), but where that throws, the informer ends later.
  void end();
  std::string describe() const;

 private:
  class Ending;
  struct Entry {
    std::string kind = {}, selection = {};
    Core informer = {};
    bool byDefault = false;  // it has the selection of the kind's options
    bool ofFactorysNamespaces = false;
    bool ofOwnSource = false;
    bool kept = false;  // obtained without being counted
    int users = 0;
    bool removed = false;                 // it is ending
    std::shared_ptr<Ending> ending = {};  // null: it was not started
  };

  Entry* find(const InformerName& name) KUBE_REQUIRES(entriesMutex_);
  void endOne(const Core& informer, bool ifUnused);
  void forget(const Ending* ending);
  std::vector<Core> informers() const;

  std::stop_source stop_;
  mutable Mutex entriesMutex_;
  std::vector<Entry> entries_ KUBE_GUARDED_BY(entriesMutex_);
  std::optional<Strings> namespaces_ KUBE_GUARDED_BY(entriesMutex_);
  bool running_ KUBE_GUARDED_BY(entriesMutex_) = false;
  std::vector<std::unique_ptr<std::stop_callback<std::function<void()>>>> stops_
      KUBE_GUARDED_BY(entriesMutex_);
  int ending_ KUBE_GUARDED_BY(entriesMutex_) = 0;  // calls of end() that are joining threads
  std::condition_variable ended_;
};

/// A counted user of an informer.
class InformerUser {
 public:
  InformerUser(std::shared_ptr<InformerSet> set, InformerSet::Core informer)
      : set_(std::move(set)), informer_(std::move(informer)) {}
  ~InformerUser() { set_->release(informer_); }
  InformerUser(const InformerUser&) = delete;
  InformerUser& operator=(const InformerUser&) = delete;

 private:
  const std::shared_ptr<InformerSet> set_;
  const InformerSet::Core informer_;
};

}  // namespace kube::detail
