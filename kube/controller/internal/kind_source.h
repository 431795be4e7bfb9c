// The objects of a kind that a definition may serve later, or no more, as a source of keys.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "kube/cache/shared_informer_factory.h"
#include "kube/controller/internal/informer_source.h"
#include "kube/controller/internal/kind_follower.h"
#include "kube/meta/gvk.h"

namespace kube::detail {

template <ControllerKey Key>
class KindSource final : public KeySource<Key> {
 public:
  using Intake = typename KeySource<Key>::Intake;
  using Keys = std::shared_ptr<const ChangeKeys<Key>>;

  /// `beforeLate` is called before a late start, to run the factory's informers.
  KindSource(const SharedInformerFactory& factory, GroupKind kind, Adding adding, Keys keys,
             std::function<void()> beforeLate)
      : factory_(factory),
        definitions_(KindFollower::definitionsOf(factory)),
        kind_(std::move(kind)),
        adding_(adding),
        keys_(std::move(keys)),
        beforeLate_(std::move(beforeLate)) {}

  std::string name() const override { return kind_.str(); }

  std::shared_ptr<RunningSource> start(const Intake& intake, bool late) const override {
    if (late) beforeLate_();
    return KindFollower::start(
        factory_.rest(), factory_.options(), definitions_, kind_, intake->log(),
        intake->stopToken(),
        [intake, adding = adding_, keys = keys_](std::shared_ptr<InformerCore> informer,
                                                 std::function<void()> run) {
          return InformerSource<Key>(std::move(informer), adding, keys, std::move(run))
              .start(intake, true);
        });
  }

 private:
  const SharedInformerFactory& factory_;
  const KindFollower::Definitions definitions_;
  const GroupKind kind_;
  const Adding adding_;
  const Keys keys_;
  const std::function<void()> beforeLate_;
};

extern template class KindSource<ObjectKey>;

}  // namespace kube::detail
