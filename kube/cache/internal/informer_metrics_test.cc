#include "kube/cache/internal/informer_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>

#include "kube/cache/shared_informer.h"
#include "kube/client/clientset.h"
#include "kube/client/core/v1.h"
#include "kube/testing/api_server.h"

namespace kube {
namespace {

using ::testing::HasSubstr;

TEST(InformerMetricsTest, AreThoseOfTheMomentOfReading) {
  Metrics metrics;
  InformerStats now{.objects = 3, .handlers = 2, .pending = 1, .lag = std::chrono::seconds(2)};
  now.source = {.lists = 1, .watches = 4, .events = 9, .errors = 2, .sharedBytes = 77};
  const detail::InformerMetrics pods(metrics, "pods", [&] { return now; });
  EXPECT_THAT(metrics.text(), HasSubstr("informer_objects{name=\"pods\"} 3\n"));
  now.objects = 1;
  now.source.events = 10;
  const std::string text = metrics.text();
  EXPECT_THAT(text, HasSubstr("informer_objects{name=\"pods\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("informer_handlers{name=\"pods\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("informer_pending_notifications{name=\"pods\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("informer_handler_lag_seconds{name=\"pods\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("informer_handler_failures_total{name=\"pods\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("informer_lists_total{name=\"pods\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("informer_watches_total{name=\"pods\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("informer_events_total{name=\"pods\"} 10\n"));
  EXPECT_THAT(text, HasSubstr("informer_errors_total{name=\"pods\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("informer_shared_bytes_total{name=\"pods\"} 77\n"));
}

TEST(InformerMetricsTest, InformersOfTheSameNameAddUp) {
  Metrics metrics;
  const InformerStats now{.objects = 3, .source = {.events = 5}};
  std::optional<detail::InformerMetrics> one;
  one.emplace(metrics, "pods", [&] { return now; });
  const detail::InformerMetrics other(metrics, "pods", [&] { return now; });
  EXPECT_THAT(metrics.text(), HasSubstr("informer_objects{name=\"pods\"} 6\n"));
  one.reset();  // gauges return to 0, counters stay
  EXPECT_THAT(metrics.text(), HasSubstr("informer_objects{name=\"pods\"} 3\n"));
  EXPECT_THAT(metrics.text(), HasSubstr("informer_events_total{name=\"pods\"} 10\n"));
}

TEST(InformerMetricsTest, WhatObjectsHaveInCommonIsCounted) {
  testing::ApiServer server;
  const Clientset clients(server.config());
  for (int i = 0; i < 100; ++i) {
    corev1::ConfigMap map;
    map.metadata.name = "map-" + std::to_string(i);
    map.data["text"] = std::string(1000, 'x');
    clients.coreV1().configMaps("default").create(map);
  }
  const SharedInformer<corev1::ConfigMap> maps(
      ListWatch<corev1::ConfigMap>::fromClient(clients.coreV1().configMaps("default")));
  std::jthread runner([&](const std::stop_token& stop) { maps.run(stop); });
  ASSERT_TRUE(maps.waitForSync());
  EXPECT_GT(maps.stats().source.sharedBytes,
            60'000U);  // the last few dozen are not counted yet
  EXPECT_LT(maps.stats().source.sharedBytes, 120'000U);
  EXPECT_THAT(maps.describe(), HasSubstr(" kB shared; 0 handlers"));
}

TEST(InformerMetricsTest, ARunningInformerHasThem) {
  testing::ApiServer server;
  const Clientset clients(server.config());
  Metrics metrics;
  const SharedInformer<corev1::Namespace> namespaces(
      ListWatch<corev1::Namespace>::fromClient(clients.coreV1().namespaces()),
      {.name = "namespaces", .metrics = &metrics});
  EXPECT_THAT(metrics.text(), Not(HasSubstr("namespaces")));
  {
    std::jthread runner([&](const std::stop_token& stop) { namespaces.run(stop); });
    ASSERT_TRUE(namespaces.waitForSync());
    EXPECT_THAT(metrics.text(), HasSubstr("informer_objects{name=\"namespaces\"} 4\n"));
  }
  EXPECT_THAT(metrics.text(), HasSubstr("informer_objects{name=\"namespaces\"} 0\n"));
  EXPECT_THAT(metrics.text(), HasSubstr("informer_lists_total{name=\"namespaces\"} 1\n"));
}

}  // namespace
}  // namespace kube
