#include "kube/base/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <thread>
#include <vector>

#include "kube/base/error.h"

namespace kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(MetricsTest, TextIsInPrometheusFormat) {
  Metrics metrics;
  auto& requests = metrics.counters("requests_total", "All requests.", {"code", "method"});
  requests.with({"200", "GET"}).add();
  requests.with({"200", "GET"}).add(2);
  requests.with({"404", "GET"}).add();
  metrics.gauge("depth", "How deep.").set(2.5);
  Histogram& took = metrics.histogram("took_seconds", "How long.", {0.1, 1});
  took.observe(0.1);
  took.observe(0.5);
  took.observe(7);
  EXPECT_EQ(metrics.text(),
            "# HELP depth How deep.\n"
            "# TYPE depth gauge\n"
            "depth 2.5\n"
            "# HELP requests_total All requests.\n"
            "# TYPE requests_total counter\n"
            "requests_total{code=\"200\",method=\"GET\"} 3\n"
            "requests_total{code=\"404\",method=\"GET\"} 1\n"
            "# HELP took_seconds How long.\n"
            "# TYPE took_seconds histogram\n"
            "took_seconds_bucket{le=\"0.1\"} 1\n"
            "took_seconds_bucket{le=\"1\"} 2\n"
            "took_seconds_bucket{le=\"+Inf\"} 3\n"
            "took_seconds_sum 7.6\n"
            "took_seconds_count 3\n");
}

TEST(MetricsTest, SpecialCharactersAreEscaped) {
  Metrics metrics;
  metrics.gauges("g", "a\\b\nc \"d\"", {"l"}).with({"a\\b\nc\"d"}).set(1);
  EXPECT_EQ(metrics.text(),
            "# HELP g a\\\\b\\nc \"d\"\n"
            "# TYPE g gauge\n"
            "g{l=\"a\\\\b\\nc\\\"d\"} 1\n");
}

TEST(MetricsTest, NonFiniteValuesHaveNames) {
  Metrics metrics;
  auto& gauges = metrics.gauges("g", "", {"l"});
  gauges.with({"a"}).set(std::numeric_limits<double>::infinity());
  gauges.with({"b"}).set(-std::numeric_limits<double>::infinity());
  gauges.with({"c"}).set(std::numeric_limits<double>::quiet_NaN());
  EXPECT_THAT(metrics.text(), HasSubstr("g{l=\"a\"} +Inf\ng{l=\"b\"} -Inf\ng{l=\"c\"} NaN\n"));
}

TEST(MetricsTest, AskingAgainGivesTheSame) {
  Metrics metrics;
  Counter& first = metrics.counters("c", "one", {"l"}).with({"x"});
  Counter& second = metrics.counters("c", "two", {"l"}).with({"x"});
  EXPECT_EQ(&first, &second);
  EXPECT_NE(&first, &metrics.counters("c", "", {"l"}).with({"y"}));
  EXPECT_THROW(metrics.gauges("c", "", {"l"}), Error);
  EXPECT_THROW(metrics.counters("c", "", {"m"}), Error);
  EXPECT_THROW(metrics.counters("c", "", {"l"}).with({}), Error);
  EXPECT_THROW(metrics.counters("c", "", {"l"}).with({"x", "y"}), Error);
}

TEST(MetricsTest, NamesAreChecked) {
  Metrics metrics;
  EXPECT_THROW(metrics.counter("", ""), Error);
  EXPECT_THROW(metrics.counter("9a", ""), Error);
  EXPECT_THROW(metrics.counter("a-b", ""), Error);
  EXPECT_NO_THROW(metrics.counter("a:b_9", ""));
  EXPECT_THROW(metrics.counters("c", "", {"a:b"}), Error);
  EXPECT_THROW(metrics.counters("c", "", {"__name__"}), Error);
  EXPECT_THROW(metrics.histograms("h", "", {"le"}), Error);
  EXPECT_THROW(metrics.histogram("h", "", {1, 1}), Error);
  EXPECT_THROW(metrics.histogram("h", "", {2, 1}), Error);
  EXPECT_EQ(metrics.text(), "# HELP a:b_9 \n# TYPE a:b_9 counter\na:b_9 0\n");
}

TEST(MetricsTest, AHistogramCountsUpToItsBounds) {
  Histogram histogram({1, 2, std::numeric_limits<double>::infinity()});
  for (const double value : {-5.0, 1.0, 1.5, 2.0, 2.5}) histogram.observe(value);
  EXPECT_THAT(histogram.counts(), ElementsAre(2, 2, 1));
  EXPECT_EQ(histogram.count(), 5U);
  EXPECT_EQ(histogram.sum(), 2.0);
  histogram.observe(std::numeric_limits<double>::quiet_NaN());
  EXPECT_THAT(histogram.counts(), ElementsAre(2, 2, 2));
  EXPECT_THAT(exponentialBuckets(1, 10, 3), ElementsAre(1, 10, 100));
  EXPECT_THAT(linearBuckets(5, 5, 3), ElementsAre(5, 10, 15));
}

TEST(MetricsTest, UpdatesRunBeforeEachReadingUntilDropped) {
  Metrics metrics;
  Gauge& gauge = metrics.gauge("g", "");
  int runs = 0;
  MetricUpdate update = metrics.beforeReading([&] { gauge.set(++runs); });
  MetricUpdate bad = metrics.beforeReading([] { throw Error("no"); });
  EXPECT_THAT(metrics.text(), HasSubstr("g 1\n"));
  MetricUpdate moved = std::move(update);
  EXPECT_THAT(metrics.text(), HasSubstr("g 2\n"));
  moved = MetricUpdate();
  EXPECT_THAT(metrics.text(), HasSubstr("g 2\n"));
}

TEST(MetricsTest, ManyThreadsLoseNothing) {
  Metrics metrics;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        metrics.counters("c", "", {"l"}).with({i % 2 == 0 ? "even" : "odd"}).add();
        metrics.gauge("g", "").add(i % 2 == 0 ? 1 : -1);
        metrics.histogram("h", "", {10}).observe(i % 20);
        if (i % 100 == 0) metrics.text();
      }
    });
  }
  threads.clear();
  EXPECT_EQ(metrics.counters("c", "", {"l"}).with({"even"}).value(), 4000U);
  EXPECT_EQ(metrics.gauge("g", "").value(), 0);
  EXPECT_EQ(metrics.histogram("h", "", {10}).count(), 8000U);
  EXPECT_THAT(metrics.histogram("h", "", {10}).counts(), ElementsAre(4400, 3600));
}

}  // namespace
}  // namespace kube
