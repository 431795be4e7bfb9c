// Deployments and StatefulSets of apps/v1beta1, whose defaults differ from those of v1: selector
// and labels are copied from the template, two old ReplicaSets are kept, and StatefulSets are
// updated when their pods are deleted (OnDelete). v1beta2 equals v1.
#include <string>

#include "kube/api/apps/v1.h"
#include "kube/api/apps/v1beta1.h"
#include "kube/api/conversions.h"
#include "kube/base/error.h"
#include "kube/base/internal/text.h"
#include "kube/meta/scheme.h"

namespace kube::detail {

namespace {

namespace v1 = appsv1;
namespace v1beta1 = appsv1beta1;

constexpr std::string_view kRollbackTo = "deprecated.deployment.rollback.to";
constexpr std::int32_t kBetaHistoryLimit = 2;
constexpr std::int32_t kHistoryLimit = 10;
constexpr std::string_view kOnDelete = "OnDelete";
constexpr std::string_view kRollingUpdate = "RollingUpdate";

template <class Workload>
void labelAsTemplate(Workload& workload) {
  const Workload& read = workload;
  const Map<String> labels = read.spec->template_->metadata.labels;
  if (labels.empty()) return;
  if (!read.spec->selector) workload.spec->selector->matchLabels = labels;
  if (read.metadata.labels.empty()) workload.metadata.labels = labels;
}

void deploymentToV1(const v1beta1::Deployment& in, v1::Deployment& out, ConversionScope& scope) {
  scope.defaultConvert(in, out, {.handled = {"spec.rollbackTo"}});
  out.metadata.annotations.erase(kRollbackTo);
  if (!in.spec) return;
  if (in.spec->rollbackTo) {
    out.metadata.annotations[kRollbackTo] = std::to_string(in.spec->rollbackTo->revision);
  }
  if (!in.spec->revisionHistoryLimit) out.spec->revisionHistoryLimit = kBetaHistoryLimit;
  labelAsTemplate(out);
}

void deploymentToV1beta1(const v1::Deployment& in, v1beta1::Deployment& out,
                         ConversionScope& scope) {
  scope.defaultConvert(in, out);
  const String& revision = in.metadata.annotations[kRollbackTo];
  if (!revision.empty()) {
    const auto number = kube::detail::parseNumber<std::int64_t>(revision);
    if (!number) {
      throw Error("the annotation " + std::string(kRollbackTo) +
                  " is not a number: " + revision.str());
    }
    out.spec->rollbackTo->revision = *number;
  }
  out.metadata.annotations.erase(kRollbackTo);
  if (in.spec && !in.spec->revisionHistoryLimit) out.spec->revisionHistoryLimit = kHistoryLimit;
}

void statefulSetToV1(const v1beta1::StatefulSet& in, v1::StatefulSet& out, ConversionScope& scope) {
  scope.defaultConvert(in, out);
  if (!in.spec) return;
  if (in.spec->updateStrategy->type.empty()) out.spec->updateStrategy->type = kOnDelete;
  labelAsTemplate(out);
}

void statefulSetToV1beta1(const v1::StatefulSet& in, v1beta1::StatefulSet& out,
                          ConversionScope& scope) {
  scope.defaultConvert(in, out);
  if (in.spec && in.spec->updateStrategy->type.empty()) {
    out.spec->updateStrategy->type = kRollingUpdate;
  }
}

}  // namespace

void addAppsConversions(Scheme& scheme) {
  scheme.setHub({"apps", "Deployment"}, "v1");
  scheme.setHub({"apps", "StatefulSet"}, "v1");
  scheme.addConversion<v1beta1::Deployment, v1::Deployment>(deploymentToV1);
  scheme.addConversion<v1::Deployment, v1beta1::Deployment>(deploymentToV1beta1);
  scheme.addConversion<v1beta1::StatefulSet, v1::StatefulSet>(statefulSetToV1);
  scheme.addConversion<v1::StatefulSet, v1beta1::StatefulSet>(statefulSetToV1beta1);
}

}  // namespace kube::detail
