// The rules of built-in kinds, as kube-apiserver has them.
//
//   const auto rules = builtInRules(TypeOf<corev1::Pod>::info);
//   rules->setDefaults(object);
//
// Rules and messages are those of Kubernetes 1.37. built_in_kinds.cc lists the kinds, which are all
// that this release still serves in a stable version. A kind that is not listed has no defaults, no
// checks, and the facts of a plain namespaced object.
//
// Thread safety: every function may be called from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kube/apiserver/rules/kind_rules.h"
#include "kube/base/string.h"
#include "kube/meta/any_object.h"
#include "kube/meta/type_info.h"

namespace kube::apiserver {

/// The changes that make a new generation, besides those outside of metadata and status.
enum class Generation : std::uint8_t {
  None,            // there are no generations
  Spec,            // no others
  Annotations,     // those of annotations
  Labels,          // those of labels
  Fixed,           // the generation is 1 for ever
  CountedFromZero  // no others; but the first generation is 0
};

struct KindFacts {
  Generation generation = Generation::None;
  validation::Reasons (*name)(std::string_view, bool) = validation::nameIsDNSSubdomain;
  bool createOnUpdate = false;
  bool unconditionalUpdate = true;
  bool keepsStatus = false;
};

struct SelectableFields;

/// A kind that has facts and selectable fields; derived classes add defaults and checks.
class BuiltInRules : public KindRules {
 public:
  explicit BuiltInRules(const TypeInfo& type, KindFacts facts = {});

  validation::NameRule nameRule() const override { return facts_.name; }
  bool tracksGeneration() const override;
  bool changesGeneration(const AnyObject& next, const AnyObject& old) const override;
  bool keepsStatusOnCreate() const override { return facts_.keepsStatus; }
  bool allowsCreateOnUpdate() const override { return facts_.createOnUpdate; }
  bool allowsUnconditionalUpdate() const override { return facts_.unconditionalUpdate; }
  ObjectSchema schema() const override { return &type_; }

  void setDefaults(AnyObject& /*object*/) const override {}

  /// Allows well-known finalizers and qualified ones.
  FieldErrors validateFinalizers(const metav1::ObjectMeta& meta) const override;
  FieldErrors validate(const AnyObject& /*object*/) const override { return {}; }
  FieldErrors validateUpdate(const AnyObject& /*next*/, const AnyObject& /*old*/) const override {
    return {};
  }

  std::optional<String> selectableField(const AnyObject& object,
                                        std::string_view field) const override;
  bool selects(std::string_view field) const override;
  std::string unknownField(std::string_view field) const override;

 private:
  const TypeInfo& type_;
  const KindFacts facts_;
  const SelectableFields* const fields_;  // null: the kind has none of its own
};

std::shared_ptr<const KindRules> builtInRules(const TypeInfo& type);

/// The source of a Service's addresses and ports. A function that is null allocates nothing.
struct ServiceAllocator {
  std::function<String()> clusterIP = {};
  std::function<std::int32_t()> nodePort = {};
};
/// Gives a Service the addresses and ports that its type needs and that it does not have yet.
/// Objects of other kinds stay as they are. Call it before a Service is checked, on create and
/// update.
void allocateForService(AnyObject& object, const ServiceAllocator& allocator);

}  // namespace kube::apiserver
