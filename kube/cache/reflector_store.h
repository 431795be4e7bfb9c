// What a Reflector writes to: a Store, a DeltaFifo, or something of one's own.
//
// ReflectorStore<void> is what those parts of a cache write to that do not know the type.
//
// Thread safety: a reflector calls from one thread at a time, resync() perhaps from another.
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
  /// The object's last state.
  virtual void remove(std::shared_ptr<const T> object) = 0;
  /// These are all the objects there are, as of that version.
  virtual void replace(std::vector<std::shared_ptr<const T>> objects,
                       const String& resourceVersion) = 0;
  /// What it holds of an object; null: nothing, or it does not tell. That is kept where a transform
  /// refuses what a list has of it.
  virtual std::shared_ptr<const T> held(const ObjectKey& key) const {
    static_cast<void>(key);
    return nullptr;
  }
  /// Time to look at everything again, for who wants to.
  virtual void resync() {}
  /// Everything up to that version has been seen.
  virtual void bookmark(const String& resourceVersion) { static_cast<void>(resourceVersion); }
};

}  // namespace kube
