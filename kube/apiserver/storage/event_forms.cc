#include "kube/apiserver/storage/event_forms.h"

#include <utility>

namespace kube::apiserver {

eventsv1::Event newForm(const corev1::Event& event) {
  eventsv1::Event result{.metadata = event.metadata,
                         .eventTime = event.eventTime,
                         .reportingController = event.reportingComponent,
                         .reportingInstance = event.reportingInstance,
                         .action = event.action,
                         .reason = event.reason,
                         .regarding = event.involvedObject,
                         .related = event.related,
                         .note = event.message,
                         .type = event.type,
                         .deprecatedSource = event.source,
                         .deprecatedFirstTimestamp = event.firstTimestamp,
                         .deprecatedLastTimestamp = event.lastTimestamp,
                         .deprecatedCount = event.count};
  if (event.series) {
    result.series = eventsv1::EventSeries{event.series->count, event.series->lastObservedTime};
  }
  return result;
}

corev1::Event oldForm(const eventsv1::Event& event) {
  corev1::Event result{.metadata = event.metadata,
                       .involvedObject = event.regarding,
                       .reason = event.reason,
                       .message = event.note,
                       .source = event.deprecatedSource,
                       .firstTimestamp = event.deprecatedFirstTimestamp,
                       .lastTimestamp = event.deprecatedLastTimestamp,
                       .count = event.deprecatedCount,
                       .type = event.type,
                       .eventTime = event.eventTime,
                       .action = event.action,
                       .related = event.related,
                       .reportingComponent = event.reportingController,
                       .reportingInstance = event.reportingInstance};
  if (event.series) {
    result.series = corev1::EventSeries{event.series->count, event.series->lastObservedTime};
  }
  return result;
}

}  // namespace kube::apiserver
