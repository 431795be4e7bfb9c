// The target of a Reflector: a Store, a DeltaFifo, or a class of the program.
//
// ReflectorStore<void> is for the parts of a cache that do not know their objects' type.
//
// Thread safety: a reflector calls from one thread at a time, except resync(), which may come from
// another thread at the same time.
#pragma once

#include <memory>
#include <vector>

#include "kube/base/string.h"
#include "kube/meta/object_key.h"

namespace kube {

template <class T>
class ReflectorStore {
 public:
  virtual ~ReflectorStore() = default;

  virtual void add(std::shared_ptr<const T> object) = 0;
  virtual void update(std::shared_ptr<const T> object) = 0;
  /// Removes an object; `object` is its last state.
  virtual void remove(std::shared_ptr<const T> object) = 0;
  /// Replaces the contents by `objects`, which are all objects as of that version.
  virtual void replace(std::vector<std::shared_ptr<const T>> objects,
                       const String& resourceVersion) = 0;
  /// The object that the store holds under a key; null if it holds none or cannot tell. The
  /// reflector keeps that object if a transform throws for the new one in a list.
  virtual std::shared_ptr<const T> held(const ObjectKey& key) const {
    static_cast<void>(key);
    return nullptr;
  }
  /// Requests that consumers look at all objects again.
  virtual void resync() {}
  /// Reports, after each list, event and bookmark, that all changes up to that version have been
  /// passed on. Versions go back if the server was restored from a backup.
  virtual void reached(const String& resourceVersion) { static_cast<void>(resourceVersion); }
  /// Reports that the server has sent a bookmark: all changes up to that version have been passed
  /// on.
  virtual void bookmark(const String& resourceVersion) { static_cast<void>(resourceVersion); }
};

}  // namespace kube
