// The base of all informer factories: a factory holds one informer for each kind that it was asked
// for, and runs them.
//
//   factory.start(stop);             // those that do not run yet; may be called again
//   factory.waitForSync(stop);
//   ...
//   factory.shutdown();              // ends and joins them; the destructor does it too
//
// An informer that is requested after start() needs another start(): until then it does not run,
// and waiting for it throws Error.
//
// Thread safety: every method may be called from any thread. Handlers must not call start();
// shutdown() throws if a handler calls it, because it would wait for that handler. If a handler
// destroys the factory, all informers end at once except the handler's own, which ends when the
// handler has returned.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "kube/base/internal/mutex.h"
#include "kube/base/string.h"
#include "kube/base/task.h"
#include "kube/cache/async_caches.h"
#include "kube/cache/internal/object_source.h"
#include "kube/cache/shared_informer.h"
#include "kube/client/resource_client.h"
#include "kube/meta/v1.h"

namespace kube {

struct InformerFactoryOptions {
  /// How often handlers receive all objects anew, unless they set another period; 0: never.
  Clock::Duration resync = {};
  /// Empty: all namespaces.
  String namespace_ = {};
  /// Changes the options of every list and watch, to narrow them down by selectors.
  std::function<void(metav1::ListOptions& options)> tweakListOptions = {};
  /// All other options. Its `name` and `resync` are ignored.
  SharedInformerOptions informer = {};
};

namespace detail {

/// The properties of a type that a factory needs.
struct InformedType {
  const TypeInfo& info;
  MakeObject makeObject;
  std::unique_ptr<UntypedStore> (*makeStore)();
};

template <Cacheable T>
inline constexpr InformedType kInformedType = {TypeOf<T>::info, &makeObject<T>,
                                               &StoreAccess::make<T>};

}  // namespace detail

class InformerFactory {
 public:
  InformerFactory(const InformerFactory&) = delete;
  InformerFactory& operator=(const InformerFactory&) = delete;

  /// Runs every informer that does not run yet, until a stop is requested. All of them share the
  /// I/O thread of the client's caches; an informer with a source of its own has its own thread.
  /// Does nothing after shutdown(). Throws Error if no thread can be started; the informers started
  /// before it keep running.
  void start(const std::stop_token& stop = {});
  /// Blocks until all informers have synced. Returns false if a stop is requested first, or a
  /// shutdown. Throws Error if an informer does not run because start() was not called after it was
  /// requested.
  bool waitForSync(const std::stop_token& stop = {}) const;
  /// The awaitable form of waitForSync(). The factory may end during the wait, but not before.
  AsyncCaches async() const {
    return AsyncCaches([this] { return waitForSyncOf(*this); });
  }
  /// Stops all informers, and returns when the last handler has returned, even if another caller
  /// started the shutdown. A handler that does not return is logged. Throws Error if a handler
  /// calls it.
  void shutdown();

  /// Returns whether start() has been called, and no stop or shutdown() requested.
  bool isRunning() const;
  /// Returns whether the informers have the objects of a namespace; of all if it is empty.
  bool covers(std::string_view namespaceName) const {
    return options_.namespace_.empty() || options_.namespace_ == namespaceName;
  }

  /// One line of text for each informer.
  std::string describe() const;

 protected:
  explicit InformerFactory(InformerFactoryOptions options);
  ~InformerFactory();

  const InformerFactoryOptions& options() const noexcept { return options_; }

  using Core = std::shared_ptr<detail::InformerCore>;

  /// Which informers of a kind satisfy a caller: any, or only one with the same selection.
  enum class Match : std::uint8_t { Any, SameSelection };

  /// Returns the informer of that name, and makes it first if there is none. Two types must not
  /// share a name. `selection` describes the objects that `make` selects. Throws Error if an
  /// informer with another selection exists and does not satisfy the caller.
  Core obtain(std::string_view name, const std::function<Core()>& make,
              const std::string& selection = describeSelection({}), Match match = Match::Any) const;
  /// Returns the informer of that name; null if there is none.
  Core found(std::string_view name) const;
  /// The selectors of `which`: `labelSelector "app=web"`.
  static std::string describeSelection(const metav1::ListOptions& which);
  Core makeInformer(const detail::InformedType& type, const detail::ResourceRequests& requests,
                    Clock::Duration resync, std::string name,
                    const metav1::ListOptions& which = {}) const;

 private:
  class Ending;
  struct Entry {
    std::string name;
    std::string selection;
    Core informer;
    std::shared_ptr<Ending> ending = {};  // null: it was not started
  };

  void end();
  static Task<bool> waitForSyncOf(const InformerFactory& factory);

  const InformerFactoryOptions options_;
  std::stop_source stop_;

  mutable detail::Mutex entriesMutex_;
  bool running_ KUBE_GUARDED_BY(entriesMutex_) = false;
  mutable std::vector<Entry> entries_ KUBE_GUARDED_BY(entriesMutex_);
  std::vector<std::unique_ptr<std::stop_callback<std::function<void()>>>> stops_
      KUBE_GUARDED_BY(entriesMutex_);
  int ending_ KUBE_GUARDED_BY(entriesMutex_) = 0;  // calls of end() that are joining threads
  std::condition_variable ended_;
};

}  // namespace kube
