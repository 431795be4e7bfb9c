// A user of an informer that is counted: the informer ends with its last user.
//
//   kube::InformerUse<Secret> secrets = factory.use<Secret>({.labelSelector = "app=web"});
//   const auto handler = secrets->addHandler({.onAdd = [](auto secret) { ... }});
//   factory.start();
//   ...
//   handler.remove();
//   secrets.release();               // or its destructor: no other user, so the watch ends
//
// An informer that is also requested without being counted, by informerFor() and the like, stays
// until remove() or the end of the factory.
//
// The last release() waits until the handlers have returned, as InformerFactory::remove() does.
//
// Thread safety: as a shared pointer: copies may be used by different threads. Copies are the same
// user.
#pragma once

#include <memory>
#include <utility>

#include "kube/cache/internal/informer_set.h"
#include "kube/cache/shared_informer.h"

namespace kube {

template <Cacheable T>
class InformerUse {
 public:
  InformerUse(std::shared_ptr<detail::InformerUser> user, SharedInformer<T> informer)
      : user_(std::move(user)), informer_(std::move(informer)) {}

  const SharedInformer<T>& operator*() const noexcept { return informer_; }
  const SharedInformer<T>* operator->() const noexcept { return &informer_; }

  /// Ends this use. The informer may still be read.
  void release() { user_.reset(); }

 private:
  std::shared_ptr<detail::InformerUser> user_;
  SharedInformer<T> informer_;
};

}  // namespace kube
