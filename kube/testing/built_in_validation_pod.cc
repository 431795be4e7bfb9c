#include "kube/testing/built_in_kinds.h"
namespace kube::testing::rules {
void validate(const corev1::Pod&, FieldErrors&) {}
void validateUpdate(const corev1::Pod&, const corev1::Pod&, FieldErrors&) {}
}  // namespace kube::testing::rules
