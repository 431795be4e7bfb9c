// What each kind demands of its objects, beyond what all share: one face for the built-in kinds
// (kube/apiserver/rules/built_in_rules.h), definitions and custom resources (custom_resources.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/apiserver/storage/api_resource.h"
#include "kube/codec/apply/field_schema.h"
#include "kube/meta/any_object.h"
#include "kube/meta/validation/field_error.h"
#include "kube/meta/validation/object_validation.h"

namespace kube::apiserver {

class KindRules {
 public:
  KindRules(const ApiResource& resource, const ApiVersion& version)
      : resource_(resource), version_(version) {}

  validation::NameRule nameRule() const;
  /// Whether metadata.generation counts its changes, and whether a change counts.
  bool tracksGeneration() const;
  bool changesGeneration(const AnyObject& next, const AnyObject& old) const;
  /// Whether it has a status of its own, which only the subresource changes.
  bool splitsStatus() const { return version_.subresource("status") != nullptr; }
  /// Whether an object may come with a status when it is created.
  bool keepsStatusOnCreate() const;
  bool allowsCreateOnUpdate() const;
  bool allowsUnconditionalUpdate() const;
  /// What keeps an object that is deleted until someone has cleaned up.
  std::optional<String> deletionFinalizer() const;
  /// For server-side apply.
  ObjectSchema schema() const;

  /// Takes out fields that the schema of a custom resource does not know, and names them.
  void prune(AnyObject& object, std::vector<std::string>& unknown) const;
  void setDefaults(AnyObject& object) const;
  void prepareForCreate(AnyObject& object) const;
  void prepareForUpdate(AnyObject& next, const AnyObject& old) const;
  /// Built-in kinds take well-known finalizers and qualified ones; custom ones are not so strict.
  FieldErrors validateFinalizers(const metav1::ObjectMeta& meta) const;
  FieldErrors validate(const AnyObject& object) const;
  FieldErrors validateUpdate(const AnyObject& next, const AnyObject& old) const;
  FieldErrors validateStatus(const AnyObject& next, const AnyObject& old) const;

  /// How long a deleted object may take to end.
  std::int64_t deletionGrace(const AnyObject& object, std::optional<std::int64_t> wanted) const;

  /// The value of a field that can be selected by; none: it cannot.
  std::optional<String> selectableField(const AnyObject& object, std::string_view field) const;
  bool selects(std::string_view field) const;
  /// What is said of one that cannot.
  std::string unknownField(std::string_view field) const;

 private:
  const ApiResource& resource_;
  const ApiVersion& version_;
};

}  // namespace kube::apiserver
