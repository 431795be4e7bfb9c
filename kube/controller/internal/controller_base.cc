#include "kube/controller/internal/controller_base.h"

#include <fmt/core.h>

#include <string_view>
#include <utility>

#include "kube/controller/internal/controller_run.h"
#include "kube/controller/internal/function_source.h"
#include "kube/controller/internal/informer_source.h"
#include "kube/controller/internal/kind_source.h"
#include "kube/controller/key_channel.h"

namespace kube::detail {
namespace {

const std::vector<double>& reconcileBuckets() {
  static const std::vector<double> bounds{
      0.005, 0.01, 0.025, 0.05, 0.1,  0.15, 0.2,  0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6,
      0.7,   0.8,  0.9,   1,    1.25, 1.5,  1.75, 2,    2.5, 3,    3.5, 4,    4.5, 5,
      6,     7,    8,     9,    10,   15,   20,   25,   30,  40,   50,  60};
  return bounds;
}

std::string_view groupOf(std::string_view apiVersion) {
  const std::size_t slash = apiVersion.find('/');
  return slash == std::string_view::npos ? std::string_view() : apiVersion.substr(0, slash);
}

Counter& counterOf(Metrics& metrics, std::string_view what, std::string_view help,
                   const std::string& controller) {
  return metrics
      .counters(fmt::format("controller_runtime_{}", what),
                fmt::format("Total number of {} per controller", help), {"controller"})
      .with({controller});
}

}  // namespace

ControllerBase::Counts::Counts(Metrics& metrics, const std::string& name)
    : totals(metrics.counters("controller_runtime_reconcile_total",
                              "Total number of reconciliations per controller",
                              {"controller", "result"})),
      success(totals.with({name, "success"})),
      error(totals.with({name, "error"})),
      requeue(totals.with({name, "requeue"})),
      requeueAfter(totals.with({name, "requeue_after"})),
      errors(counterOf(metrics, "reconcile_errors_total", "reconciliation errors", name)),
      givenUp(counterOf(metrics, "terminal_reconcile_errors_total",
                        "terminal reconciliation errors", name)),
      panics(counterOf(metrics, "reconcile_panics_total", "reconciliation panics", name)),
      timeouts(counterOf(metrics, "reconcile_timeouts_total", "reconciliation timeouts", name)),
      seconds(metrics
                  .histograms("controller_runtime_reconcile_time_seconds",
                              "Length of time per reconciliation per controller", {"controller"},
                              reconcileBuckets())
                  .with({name})),
      workers(metrics
                  .gauges("controller_runtime_max_concurrent_reconciles",
                          "Maximum number of concurrent reconciles per controller", {"controller"})
                  .with({name})),
      active(metrics
                 .gauges("controller_runtime_active_workers",
                         "Number of currently used workers per controller", {"controller"})
                 .with({name})) {}

ControllerBase::ControllerBase(std::string name, Clock* clock, Metrics* metrics, GroupKind kind,
                               bool namespaced)
    : name_(std::move(name)),
      clock_(orReal(clock)),
      metrics_(metrics),
      kind_(std::move(kind)),
      namespaced_(namespaced),
      log_(Logger("controller").with("controller", name_)),
      counts_(std::make_unique<Counts>(orDefault(metrics), name_)) {}
ControllerBase::~ControllerBase() = default;

std::vector<ObjectKey> ControllerBase::ownersOf(const metav1::ObjectMeta& object,
                                                OwnerMatch match) const {
  std::vector<ObjectKey> owners;
  for (const metav1::OwnerReference& owner : object.ownerReferences) {
    if (match == OwnerMatch::Controller && !owner.controller.value_or(false)) continue;
    if (owner.kind != kind_.kind) continue;
    if (groupOf(owner.apiVersion) != kind_.group) continue;
    owners.push_back({namespaced_ ? object.namespace_ : String(), owner.name});
  }
  return owners;
}

std::string ControllerBase::nameOfWorker() const {
  return fmt::format("a worker of controller \"{}\"", name_);
}

template class ControllerIntake<ObjectKey>;
template class ControllerSources<ObjectKey>;
template class SourceHandler<ObjectKey>;
template class InformerSource<ObjectKey>;
template class KindSource<ObjectKey>;
template class FunctionSource<ObjectKey>;
template class ChannelState<ObjectKey>;
template class ChannelSource<ObjectKey>;
template class KeyedController<ObjectKey>;

void ControllerBase::run(const std::stop_token& stop) { runBlocking(runTask(), stop); }
Task<void> AsyncController::run() const { return controller_->runTask(); }

}  // namespace kube::detail
