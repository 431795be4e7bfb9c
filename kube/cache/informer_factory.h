// What all factories of informers have in common: each has the informers that it was asked for, one
// of a kind, and runs them.
//
//   factory.start(stop);             // those that do not run yet; may be called again
//   factory.waitForSync(stop);
//   ...
//   factory.shutdown();              // ends and joins them; the destructor does it too
//
// An informer that is asked for after start() needs another start(): until then it does not run,
// and waiting for it is an Error.
//
// Thread safety: every method may be called from any thread. Handlers must not call start(), and
// shutdown() throws there, since it would wait for them. A factory that a handler destroys ends,
// but for the handler's informer, which ends when the handler has returned.
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
#include "kube/cache/internal/object_source.h"
#include "kube/cache/shared_informer.h"
#include "kube/client/resource_client.h"
#include "kube/meta/v1.h"

namespace kube {

struct InformerFactoryOptions {
  /// How often handlers are told of everything anew, unless they ask for something else; 0: never.
  Clock::Duration resync = {};
  /// Empty: all.
  String namespace_ = {};
  /// May narrow down every list and watch, by selectors.
  std::function<void(metav1::ListOptions& options)> tweakListOptions = {};
  /// All else. Its `name` and `resync` are not looked at.
  SharedInformerOptions informer = {};
};

namespace detail {

/// What a factory has to know of a type.
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

  /// Runs every informer that does not run yet, each on a thread of its own, until a stop is
  /// requested. Nothing after a shutdown(). Throws Error where there is no thread for one: those
  /// before it run.
  void start(const std::stop_token& stop = {});
  /// Blocks until all have synced; false if a stop is requested before, or a shutdown. Throws Error
  /// if one does not run, since start() was not called after it was asked for.
  bool waitForSync(const std::stop_token& stop = {}) const;
  /// Stops all, and returns when the last handler has returned, whoever has called this first. A
  /// handler that does not return is logged. Throws Error if a handler calls it.
  void shutdown();

  /// A line for every informer, for people.
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
  /// The selectors of `which`: `labelSelector "app=web"`.
  static std::string describeSelection(const metav1::ListOptions& which);
  Core makeInformer(const detail::InformedType& type, const detail::ResourceRequests& requests,
                    Clock::Duration resync, std::string name,
                    const metav1::ListOptions& which = {}) const;

 private:
  struct Entry {
    std::string name;
    std::string selection;
    Core informer;
    std::thread thread = {};
  };

  void end();

  const InformerFactoryOptions options_;
  std::stop_source stop_;

  mutable detail::Mutex entriesMutex_;
  mutable std::vector<Entry> entries_ KUBE_GUARDED_BY(entriesMutex_);
  std::vector<std::unique_ptr<std::stop_callback<std::function<void()>>>> stops_
      KUBE_GUARDED_BY(entriesMutex_);
  int ending_ KUBE_GUARDED_BY(entriesMutex_) = 0;  // calls of end() that are joining threads
  std::condition_variable ended_;
};

}  // namespace kube
