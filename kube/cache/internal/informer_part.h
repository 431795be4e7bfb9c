// The part of an informer's objects that one list and one watch bring: those of one namespace, or
// all of them.
//
// It is the reflector's store: each change goes into the cache and to the queues of the handlers at
// once, on the thread that brought it.
//
// Thread safety: begin() comes before the other methods. run() and clear() are for one task at a
// time; the others for any thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "kube/base/string.h"
#include "kube/base/task.h"
#include "kube/cache/internal/informer_cache.h"
#include "kube/cache/internal/object_source.h"
#include "kube/cache/internal/store_version.h"
#include "kube/cache/reflector_options.h"
#include "kube/cache/reflector_store.h"
#include "kube/cache/transform.h"

namespace kube::detail {

class ReflectorLoop;

class InformerPart final : private ReflectorStore<void> {
 public:
  using Object = InformerCache::Object;

  /// `namespaceName`: none for all objects of the informer. The cache outlives the part.
  InformerPart(InformerCache& cache, std::unique_ptr<ObjectSource> source,
               std::optional<String> namespaceName = {});
  ~InformerPart() override;

  /// Prepares run(), which ends when `stop` requests it, or requestStop(). `listed` is called when
  /// the first list has been applied. Throws Error if the source is not complete.
  void begin(ReflectorOptions options, UntypedTransform transform, const std::stop_token& stop,
             std::function<void()> listed);
  Task<void> run();
  void requestStop() noexcept { stop_.request_stop(); }
  /// Drops the part's objects, and tells the handlers. They may still exist on the server.
  void clear();

  const std::optional<String>& namespaceName() const noexcept { return namespace_; }
  ObjectSource& source() const noexcept { return *source_; }
  String lastVersion() const;
  /// The version that the part has reached in the store.
  const std::shared_ptr<StoreVersion>& version() const noexcept { return version_; }
  ReflectorStats stats() const;

 private:
  // ---- Calls of the reflector.

  void add(Object object) override { update(std::move(object)); }
  void update(Object object) override;
  void remove(Object object) override;
  void replace(std::vector<Object> objects, const String& resourceVersion) override;
  Object held(const ObjectKey& key) const override {
    return cache_.store()->find({key.namespace_, key.name});
  }

  void reached(const String& resourceVersion) override;

  std::vector<ObjectKey> keys() const;
  std::vector<ObjectKey> keysMissingIn(const std::vector<Object>& objects) const;
  bool goesOn(std::size_t& count) const;
  void endOfList();

  InformerCache& cache_;
  const std::unique_ptr<ObjectSource> source_;
  const std::optional<String> namespace_;
  const std::shared_ptr<StoreVersion> version_;
  std::stop_source stop_;                     // of this part alone
  std::stop_token informersStop_;             // set by begin()
  std::function<void()> listed_;              // set by begin()
  std::unique_ptr<ReflectorLoop> reflector_;  // set by begin()
  bool inFirstList_ = true;                   // used by the reflector's calls alone
};

}  // namespace kube::detail
