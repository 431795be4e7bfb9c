#include "kube/controller/internal/event_correlator.h"

#include <fmt/core.h>

#include <functional>
#include <initializer_list>
#include <string_view>
#include <tuple>
#include <utility>

#include "kube/codec/patch/patch.h"
#include "kube/controller/internal/event_name.h"

namespace kube {
namespace {

std::string join(std::initializer_list<std::string_view> parts) {
  std::string key;
  for (const std::string_view part : parts) key.append(part).append(1, '\0');
  return key;
}

// Identifies the source, the object and the type of an event.
std::string spamKey(const corev1::Event& event) {
  const corev1::ObjectReference& about = *event.involvedObject;
  return join({event.source->component, event.source->host, about.kind, about.namespace_,
               about.name, about.uid, about.apiVersion, event.type});
}

// Identifies everything but the message.
std::string similarKey(const corev1::Event& event) {
  return spamKey(event) + join({event.reason, event.reportingComponent, event.reportingInstance});
}

std::string sameKey(const corev1::Event& event) {
  return spamKey(event) + join({event.involvedObject->fieldPath, event.reason, event.message});
}

}  // namespace

detail::EventSpamFilter::EventSpamFilter(const EventCorrelatorOptions& options, Clock& clock)
    : rate_{.qps = options.spamQps, .burst = options.spamBurst},
      clock_(clock),
      buckets_(options.cacheSize) {
  const TokenBucket checked(rate_, clock);
}

bool detail::EventSpamFilter::accepts(const std::string& key) {
  if (auto* bucket = buckets_.find(key)) return (*bucket)->tryAccept();
  auto bucket = std::make_unique<TokenBucket>(rate_, clock_);
  bucket->tryAccept();
  buckets_.put(key, std::move(bucket));
  return true;
}

EventCorrelator::EventCorrelator(const EventCorrelatorOptions& options, Clock& clock)
    : options_(options),
      clock_(clock),
      similar_(options.cacheSize),
      observed_(options.cacheSize),
      spam_(options, clock) {}

std::pair<corev1::Event, std::string> EventCorrelator::aggregate(const corev1::Event& event) {
  const auto now = clock_.now();
  auto [key, member] = options_.similarKey ? options_.similarKey(event)
                                           : EventCorrelatorOptions::SimilarKey{
                                                 similarKey(event), event.message.str()};
  Similar* similar = similar_.find(key);
  if (similar == nullptr || now - similar->last > options_.similarInterval) {
    similar_.put(key, {});
    similar = similar_.find(key);
  }
  similar->last = now;
  similar->messages.insert(std::hash<std::string>{}(member));
  if (similar->messages.size() < options_.maxSimilarEvents) return {event, sameKey(event)};
  similar->messages.erase(similar->messages.begin());  // keeps the set at its limit

  corev1::Event combined = event;
  combined.metadata = {};
  combined.metadata.name = eventName(event.involvedObject->name, clock_);
  combined.metadata.namespace_ = event.metadata.namespace_;
  combined.message = options_.combinedMessage ? String(options_.combinedMessage(event))
                                              : "(combined from similar events): " + event.message;
  combined.count = 1;
  combined.firstTimestamp = combined.lastTimestamp = Time(clock_.wallNow());
  return {std::move(combined), std::move(key)};
}

EventCorrelator::Result EventCorrelator::correlate(const corev1::Event& event) {
  Result result;
  std::tie(result.event, result.key) = aggregate(event);
  if (const Observed* before = observed_.find(result.key)) {
    result.event.metadata.name = before->name;
    result.event.firstTimestamp = before->firstTimestamp;
    result.event.count = before->count + 1;
    corev1::Event old = result.event;
    old.count = 0;
    old.lastTimestamp = Time::fromUnix(0);
    old.message = "";
    result.patch = createTwoWayMergePatch(old, result.event);
  }
  written(result.key, result.event);
  result.skip =
      !spam_.accepts(options_.spamKey ? options_.spamKey(result.event) : spamKey(result.event)) ||
      (options_.skip && options_.skip(result.event));
  return result;
}

void EventCorrelator::written(const std::string& key, const corev1::Event& event) {
  observed_.put(key, {event.count, event.firstTimestamp, event.metadata.name});
}

}  // namespace kube
