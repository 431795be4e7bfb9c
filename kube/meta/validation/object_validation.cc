#include "kube/meta/validation/object_validation.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "kube/base/internal/utf8.h"
#include "kube/meta/gvk.h"

namespace kube::validation {
namespace {

// Upstream replaces the last two characters by an 'a'. Servers accept every name that is valid
// after that.
template <class Rule>
Reasons checkName(std::string_view name, bool prefix, Rule rule) {
  if (!prefix || name.size() < 2 || !name.ends_with('-')) return rule(name);
  return rule(std::string(name.substr(0, name.size() - 2)) + 'a');
}

void addInvalid(FieldErrors& errors, const ErrorPath& path, std::string_view value,
                const Reasons& reasons) {
  for (const std::string& reason : reasons) {
    errors.push_back(FieldError::invalid(path, value, reason));
  }
}

template <class T>
Value optionalValue(const std::optional<T>& value) {
  return value ? Value(*value) : Value();
}

Value timeValue(Time time) { return time ? Value(time.str()) : Value(); }

Value asValue(const List<String>& strings) {
  Value::Array array;
  for (const String& text : strings) array.push_back(text);
  return array;
}

Value asValue(const metav1::OwnerReference& reference) {
  Value value = Value::Object{{"apiVersion", reference.apiVersion},
                              {"kind", reference.kind},
                              {"name", reference.name},
                              {"uid", reference.uid}};
  if (reference.controller) value["controller"] = *reference.controller;
  if (reference.blockOwnerDeletion) value["blockOwnerDeletion"] = *reference.blockOwnerDeletion;
  return value;
}

Value asValue(const List<metav1::OwnerReference>& references) {
  Value::Array array;
  for (const auto& reference : references) array.push_back(asValue(reference));
  return array;
}

void checkOwnerReference(const metav1::OwnerReference& reference, const ErrorPath& path,
                         FieldErrors& errors) {
  const auto gvk = GroupVersionKind::fromApiVersionAndKind(reference.apiVersion, reference.kind);
  const auto mustBe = [&](bool holds, std::string_view name, const String& value,
                          std::string_view why) {
    if (!holds) errors.push_back(FieldError::invalid(path.child(name), value, why));
  };
  mustBe(!gvk.version.empty(), "apiVersion", reference.apiVersion, "version must not be empty");
  mustBe(!gvk.kind.empty(), "kind", reference.kind, "must not be empty");
  mustBe(!reference.name.empty(), "name", reference.name, "must not be empty");
  mustBe(!reference.uid.empty(), "uid", reference.uid, "must not be empty");
  // Events expire; objects that they owned would be deleted with them.
  if (gvk == GroupVersionKind{"", "v1", "Event"}) {
    errors.push_back(FieldError::invalid(
        path, asValue(reference), fmt::format("{} is disallowed from being an owner", gvk.str())));
  }
}

// Runs the checks that create and update share.
void checkParts(const metav1::ObjectMeta& meta, const ErrorPath& path, FieldErrors& errors) {
  if (!meta.labels.empty()) append(errors, validateLabels(meta.labels, path.child("labels")));
  if (!meta.annotations.empty()) {
    append(errors, validateAnnotations(meta.annotations, path.child("annotations")));
  }
  if (!meta.ownerReferences.empty()) {
    append(errors, validateOwnerReferences(meta.ownerReferences, path.child("ownerReferences")));
  }
}

void checkManagedFields(const metav1::ObjectMeta& meta, const ErrorPath& path,
                        FieldErrors& errors) {
  if (meta.managedFields.empty()) return;
  append(errors, validateManagedFields(meta.managedFields, path.child("managedFields")));
}

void checkNoNewFinalizers(const metav1::ObjectMeta& meta, const metav1::ObjectMeta& old,
                          const ErrorPath& path, FieldErrors& errors) {
  const std::set<std::string_view> known(old.finalizers.begin(), old.finalizers.end());
  std::set<std::string_view> extra;
  for (const String& finalizer : meta.finalizers) {
    if (!known.contains(finalizer)) extra.insert(finalizer);
  }
  if (extra.empty()) return;
  std::string list;
  for (const std::string_view finalizer : extra) {
    if (!list.empty()) list += ", ";
    list += detail::quoted(finalizer);
  }
  errors.push_back(FieldError::forbidden(
      path.child("finalizers"),
      fmt::format("no new finalizers can be added if the object is being deleted, found new "
                  "finalizers []string{{{}}}",
                  list)));
}

void checkCondition(const metav1::Condition& condition, const ErrorPath& path,
                    FieldErrors& errors) {
  addInvalid(errors, path.child("type"), condition.type, isQualifiedName(condition.type));
  if (condition.status != "True" && condition.status != "False" && condition.status != "Unknown") {
    errors.push_back(FieldError::notSupported(path.child("status"), condition.status,
                                              {"False", "True", "Unknown"}));
  }
  if (condition.observedGeneration < 0) {
    errors.push_back(FieldError::invalid(path.child("observedGeneration"),
                                         condition.observedGeneration,
                                         "must be greater than or equal to zero"));
  }
  if (!condition.lastTransitionTime) {
    errors.push_back(FieldError::required(path.child("lastTransitionTime")));
  }
  constexpr std::size_t kMaxReason = 1024;
  constexpr std::size_t kMaxMessage = 32 * 1024;
  const std::string_view reason = condition.reason;
  const auto isLetter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto isWord = [&](char c) { return isLetter(c) || (c >= '0' && c <= '9') || c == '_'; };
  if (reason.empty()) {
    errors.push_back(FieldError::required(path.child("reason")));
  } else if (!isLetter(reason.front()) || !isWord(reason.back()) ||
             !std::ranges::all_of(reason,
                                  [&](char c) { return isWord(c) || c == ',' || c == ':'; })) {
    errors.push_back(FieldError::invalid(
        path.child("reason"), reason,
        "a condition reason must start with alphabetic character, optionally followed by a string "
        "of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' "
        "(e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or "
        "'ReasonA:ReasonB', regex used for validation is "
        "'[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')"));
  }
  if (reason.size() > kMaxReason) {
    errors.push_back(FieldError::tooLong(path.child("reason"), kMaxReason));
  }
  if (condition.message.size() > kMaxMessage) {
    errors.push_back(FieldError::tooLong(path.child("message"), kMaxMessage));
  }
}

}  // namespace

Reasons nameIsDNSSubdomain(std::string_view name, bool prefix) {
  return checkName(name, prefix, isDNS1123Subdomain);
}
Reasons nameIsDNSLabel(std::string_view name, bool prefix) {
  return checkName(name, prefix, isDNS1123Label);
}
Reasons nameIsDNS1035Label(std::string_view name, bool prefix) {
  return checkName(name, prefix, isDNS1035Label);
}
Reasons nameIsPathSegment(std::string_view name, bool prefix) {
  return prefix ? isPathSegmentPrefix(name) : isPathSegmentName(name);
}

FieldErrors validateObjectMeta(const metav1::ObjectMeta& meta, const ObjectMetaRules& rules,
                               const ErrorPath& path) {
  FieldErrors errors;
  if (!meta.generateName.empty()) {
    addInvalid(errors, path.child("generateName"), meta.generateName,
               rules.name(meta.generateName, true));
  }
  if (meta.name.empty()) {
    errors.push_back(FieldError::required(path.child("name"), "name or generateName is required"));
  } else {
    addInvalid(errors, path.child("name"), meta.name, rules.name(meta.name, false));
  }
  if (!rules.namespaced) {
    if (!meta.namespace_.empty()) {
      errors.push_back(FieldError::forbidden(path.child("namespace"), "not allowed on this type"));
    }
  } else if (meta.namespace_.empty()) {
    errors.push_back(FieldError::required(path.child("namespace")));
  } else {
    addInvalid(errors, path.child("namespace"), meta.namespace_,
               nameIsDNSLabel(meta.namespace_, false));
  }
  if (meta.generation < 0) {
    errors.push_back(FieldError::invalid(path.child("generation"), meta.generation,
                                         "must be greater than or equal to 0"));
  }
  checkParts(meta, path, errors);
  if (!meta.finalizers.empty()) {
    append(errors, validateFinalizers(meta.finalizers, path.child("finalizers")));
  }
  checkManagedFields(meta, path, errors);
  return errors;
}

FieldErrors validateObjectMetaUpdate(const metav1::ObjectMeta& meta, const metav1::ObjectMeta& old,
                                     const ErrorPath& path) {
  FieldErrors errors;
  if (old.deletionTimestamp) checkNoNewFinalizers(meta, old, path, errors);
  if (meta.resourceVersion.empty()) {
    errors.push_back(FieldError::invalid(path.child("resourceVersion"), meta.resourceVersion,
                                         "must be specified for an update"));
  }
  if (meta.generation < old.generation) {
    errors.push_back(
        FieldError::invalid(path.child("generation"), meta.generation, "must not be decremented"));
  }
  const auto mustStay = [&](bool stayed, std::string_view name, Value value) {
    if (stayed) return;
    errors.push_back(FieldError::invalid(path.child(name), std::move(value), "field is immutable"));
  };
  mustStay(meta.name == old.name, "name", meta.name);
  mustStay(meta.namespace_ == old.namespace_, "namespace", meta.namespace_);
  mustStay(meta.uid == old.uid, "uid", meta.uid);
  mustStay(meta.creationTimestamp == old.creationTimestamp, "creationTimestamp",
           timeValue(meta.creationTimestamp));
  mustStay(meta.deletionTimestamp == old.deletionTimestamp, "deletionTimestamp",
           timeValue(meta.deletionTimestamp));
  mustStay(meta.deletionGracePeriodSeconds == old.deletionGracePeriodSeconds,
           "deletionGracePeriodSeconds", optionalValue(meta.deletionGracePeriodSeconds));
  checkParts(meta, path, errors);
  checkManagedFields(meta, path, errors);
  return errors;
}

FieldErrors validateLabels(const Map<String>& labels, const ErrorPath& path) {
  FieldErrors errors;
  for (const auto& [key, value] : labels) {
    addInvalid(errors, path, key, isQualifiedName(key));
    addInvalid(errors, path, value, isValidLabelValue(value));
  }
  return errors;
}

FieldErrors validateAnnotations(const Map<String>& annotations, const ErrorPath& path) {
  FieldErrors errors;
  std::size_t total = 0;
  std::string lower;
  for (const auto& [key, value] : annotations) {
    total += key.size() + value.size();
    // Case does not matter here, not even in the prefix.
    lower.assign(key.view());
    for (char& c : lower) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    addInvalid(errors, path, key, isQualifiedName(lower));
  }
  if (total > kTotalAnnotationSizeLimit) {
    errors.push_back(FieldError::tooLong(path, kTotalAnnotationSizeLimit));
  }
  return errors;
}

FieldErrors validateFinalizers(const List<String>& finalizers, const ErrorPath& path) {
  FieldErrors errors;
  for (const String& finalizer : finalizers) {
    addInvalid(errors, path, finalizer, isQualifiedName(finalizer));
  }
  const auto has = [&](std::string_view wanted) {
    return std::ranges::find(finalizers, wanted, &String::view) != finalizers.end();
  };
  if (has(kFinalizerOrphanDependents) && has(kFinalizerDeleteDependents)) {
    errors.push_back(
        FieldError::invalid(path, asValue(finalizers),
                            fmt::format("finalizer {} and {} cannot be both set",
                                        kFinalizerOrphanDependents, kFinalizerDeleteDependents)));
  }
  return errors;
}

FieldErrors validateOwnerReferences(const List<metav1::OwnerReference>& references,
                                    const ErrorPath& path) {
  FieldErrors errors;
  std::string controller;
  for (const metav1::OwnerReference& reference : references) {
    checkOwnerReference(reference, path, errors);
    if (!reference.controller.value_or(false)) continue;
    std::string name = fmt::format("{}/{}", reference.kind, reference.name);
    if (controller.empty()) {
      controller = std::move(name);
      continue;
    }
    errors.push_back(FieldError::invalid(
        path, asValue(references),
        fmt::format("Only one reference can have Controller set to true. Found \"true\" in "
                    "references for {} and {}",
                    controller, name)));
  }
  return errors;
}

FieldErrors validateManagedFields(const List<metav1::ManagedFieldsEntry>& entries,
                                  const ErrorPath& path) {
  constexpr std::size_t kMaxSubresource = 256;
  FieldErrors errors;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const metav1::ManagedFieldsEntry& entry = entries[i];
    if (entry.operation != "Apply" && entry.operation != "Update") {
      errors.push_back(FieldError::invalid(path.index(i).child("operation"), entry.operation,
                                           "must be `Apply` or `Update`"));
    }
    if (!entry.fieldsType.empty() && entry.fieldsType != "FieldsV1") {
      errors.push_back(FieldError::invalid(path.index(i).child("fieldsType"), entry.fieldsType,
                                           "must be `FieldsV1`"));
    }
    append(errors, validateFieldManager(entry.manager, path.index(i).child("manager")));
    if (entry.subresource.size() > kMaxSubresource) {
      errors.push_back(FieldError::tooLong(path.index(i).child("subresource"), kMaxSubresource));
    }
  }
  return errors;
}

FieldErrors validateFieldManager(std::string_view name, const ErrorPath& path) {
  FieldErrors errors;
  if (name.size() > kFieldManagerMaxLength) {
    errors.push_back(FieldError::tooLong(path, kFieldManagerMaxLength));
  }
  for (std::size_t i = 0; i < name.size();) {
    char32_t code = 0;
    const std::size_t length = detail::decodeUtf8(name, i, code);
    if (length == 0) code = 0xFFFD;
    if (length == 0 || !detail::isPrintable(code)) {
      errors.push_back(
          FieldError::invalid(path, name,
                              fmt::format("invalid character U+{:04X} (at position {})",
                                          static_cast<std::uint32_t>(code), i)));
      break;  // a single error is enough
    }
    i += length;
  }
  return errors;
}

FieldErrors validateLabelSelector(const metav1::LabelSelector& selector, const ErrorPath& path) {
  FieldErrors errors = validateLabels(selector.matchLabels, path.child("matchLabels"));
  for (std::size_t i = 0; i < selector.matchExpressions.size(); ++i) {
    const metav1::LabelSelectorRequirement& expression = selector.matchExpressions[i];
    const ErrorPath at = path.child("matchExpressions").index(i);
    if (expression.operator_ == "In" || expression.operator_ == "NotIn") {
      if (expression.values.empty()) {
        errors.push_back(FieldError::required(
            at.child("values"), "must be specified when `operator` is 'In' or 'NotIn'"));
      }
    } else if (expression.operator_ == "Exists" || expression.operator_ == "DoesNotExist") {
      if (!expression.values.empty()) {
        errors.push_back(FieldError::forbidden(
            at.child("values"),
            "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
      }
    } else {
      errors.push_back(FieldError::invalid(at.child("operator"), expression.operator_,
                                           "not a valid selector operator"));
    }
    addInvalid(errors, at.child("key"), expression.key, isQualifiedName(expression.key));
    for (std::size_t k = 0; k < expression.values.size(); ++k) {
      addInvalid(errors, at.child("values").index(k), expression.values[k],
                 isValidLabelValue(expression.values[k]));
    }
  }
  return errors;
}

FieldErrors validateConditions(const List<metav1::Condition>& conditions, const ErrorPath& path) {
  FieldErrors errors;
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    const metav1::Condition& condition = conditions[i];
    if (!seen.insert(condition.type).second) {
      errors.push_back(FieldError::duplicate(path.index(i).child("type"), condition.type));
    }
    checkCondition(condition, path.index(i), errors);
  }
  return errors;
}

}  // namespace kube::validation
