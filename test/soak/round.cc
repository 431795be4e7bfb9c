#include "test/soak/round.h"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <thread>

#include "kube/client/core/v1.h"
#include "kube/client/dynamic_client.h"
#include "kube/http/transport.h"
#include "kube/testing/api_server.h"
#include "test/soak/fault_source.h"
#include "test/soak/subject.h"
#include "test/soak/writers.h"

namespace kube::soak {

namespace {

using namespace std::chrono_literals;
using corev1::ConfigMap;
using metav1::PartialObjectMetadata;

const GroupVersionResource kConfigMaps{"", "v1", "configmaps"};

// Gives a silent server up within half a second instead of 45 seconds.
Config impatient(Config config) {
  config.tweakTransport = [](TransportOptions& options) {
    options.connectTimeout = 500ms;
    options.pingAfter = 200ms;
    options.pingTimeout = 300ms;
  };
  return config;
}

SharedInformerOptions informerOptions(bool streamed, std::int64_t pageSize = 0) {
  return {.streamList = streamed,
          .pageSize = pageSize,
          .backoff = {.initial = 2ms, .factor = 2, .cap = 50ms, .jitter = 1, .resetAfter = 1s},
          .reconnect = {.initial = 1ms, .factor = 2, .cap = 20ms, .jitter = 1},
          .onError = [](const std::exception&) {}};
}

class Round {
 public:
  explicit Round(const RoundOptions& options);
  RoundResult run();

 private:
  template <Cacheable T>
  std::shared_ptr<Subject<T>> add(const std::string& name, const ResourceClient<T>& client,
                                  SharedInformerOptions informer) {
    auto subject =
        std::make_shared<Subject<T>>(name, client, std::move(informer), problems_, histories_);
    subjects_.push_back(subject);
    return subject;
  }
  void stop(AnySubject& subject) { longestStop_ = std::max(longestStop_, subject.stop()); }
  std::string unaware() const;
  void checkAll();

  const RoundOptions options_;
  testing::ApiServer server_{{.historyWindow = 1000}};
  Problems problems_;
  std::atomic<int> histories_{0};
  // Two clients, so that a broken connection does not affect all informers.
  const Clientset first_{impatient(server_.config())}, second_{impatient(server_.config())};
  const ResourceClient<ConfigMap> maps_ = first_.coreV1().configMaps("default");
  std::vector<std::shared_ptr<AnySubject>> subjects_;
  std::chrono::nanoseconds longestStop_{0};
};

Round::Round(const RoundOptions& options) : options_(options) {}

std::string Round::unaware() const {
  const auto now = static_cast<std::uint64_t>(server_.revision());
  std::string text;
  for (const auto& subject : subjects_) {
    if (subject->running() && subject->version() > now) text += subject->describe() + "; ";
  }
  return text;
}

RoundResult Round::run() {
  const auto streamed = add("streamed", maps_, informerOptions(true));
  const auto paged =
      add("paged", second_.coreV1().configMaps("default"), informerOptions(false, 97));
  const auto everywhere = add("everywhere", second_.coreV1().configMaps(), informerOptions(false));
  const auto dynamic =
      add("dynamic", DynamicClient(first_.rest()).resource(kConfigMaps).inNamespace("default"),
          informerOptions(true));
  const auto metadata =
      add("metadata", MetadataClient(second_.rest()).resource(kConfigMaps).inNamespace("default"),
          informerOptions(true));
  const auto before = add("before", maps_, informerOptions(true));
  streamed->observe({.name = "plain"});
  streamed->observe({.name = "slow"}, [n = 0]() mutable {
    if (++n % 100 == 0) std::this_thread::sleep_for(1ms);
  });
  const auto throwing = streamed->observe({.name = "throwing"}, [n = 0]() mutable {
    if (++n % 500 == 0) throw std::runtime_error("on purpose");
  });
  streamed->observe({.name = "removed"});
  paged->observe({.name = "quick", .quick = true});
  everywhere->observe({.name = "plain"});
  dynamic->observe({.name = "quick", .quick = true});
  metadata->observe({.name = "plain"});
  before->observe({.name = "plain"});
  for (const auto& subject : subjects_) subject->start();
  const auto after = add("after", maps_, informerOptions(true));

  Writers writers(impatient(server_.config()),
                  {.seed = options_.seed, .objects = options_.objects, .changes = options_.changes},
                  problems_);
  FaultSource faults(server_, writers, problems_, histories_,
                     {.seed = options_.seed,
                      .newHistories = options_.seed % 2 == 0 ? 1 : 0,
                      .unaware = [this] { return unaware(); }});
  const auto reach = [&](double share) {
    if (!writers.waitFor(share)) problems_.add("the writers make no progress");
  };
  // Meanwhile handlers are added and removed, and an informer ends and another one takes over.
  reach(0.4);
  streamed->removeLast();
  streamed->observe({.name = "late"});
  reach(0.6);
  stop(*before);
  after->fill(before->informer().store().list());
  after->observe({.name = "plain"});
  after->start();
  reach(1);
  faults.stop();
  checkAll();

  RoundResult result{.faults = faults.counts(), .changes = writers.made()};
  for (const auto& subject : subjects_) {
    const InformerStats stats = subject->stats();
    result.lists += stats.source.lists;
    result.watches += stats.source.watches;
    result.errors += stats.source.errors;
    result.calls += subject->calls();
    result.informers.push_back(subject->describe());
    stop(*subject);
  }
  if (throwing.failures() == 0) problems_.add("the throwing handler has never thrown");
  result.problems = problems_.texts();
  result.longestStop = longestStop_;
  return result;
}

void Round::checkAll() {
  ConfigMap last;
  last.metadata.name = "the-last";
  const bool made = eventually([&] {
    try {
      last = maps_.create(last);
    } catch (const ApiError& error) {
      if (!isAlreadyExists(error)) return false;
      last = maps_.get("the-last");
    } catch (const Error&) {
      return false;  // the connection was cut a moment ago
    }
    return true;
  });
  if (!made) return problems_.add("the last object cannot be created");
  for (const auto& subject : subjects_) {
    if (subject->running()) subject->check(keyOf(last), last.metadata.resourceVersion);
  }
}

}  // namespace

RoundResult runRound(const RoundOptions& options) { return Round(options).run(); }

}  // namespace kube::soak
