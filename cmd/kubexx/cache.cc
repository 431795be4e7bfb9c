// kubexx cache: fills an informer, and shows its statistics.
#include <fmt/core.h>

#include <unistd.h>
#include <chrono>
#include <fstream>
#include <memory>
#include <optional>
#include <ostream>

#include "cmd/kubexx/command.h"
#include "cmd/kubexx/commands.h"
#include "cmd/kubexx/invocation.h"
#include "cmd/kubexx/resources.h"
#include "cmd/kubexx/terminal_text.h"
#include "kube/base/clock.h"
#include "kube/cache/resource_informer_factory.h"

namespace kube::cmd {

namespace {

using namespace std::chrono_literals;

struct CacheCommand {
  std::vector<std::string> words = {};
  bool allNamespaces = false;
  std::string duration = "0";
};

// The resident memory of the process.
std::size_t residentBytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

double megabytes(std::size_t bytes) { return static_cast<double>(bytes) / (1 << 20); }
double seconds(Clock::Duration time) { return std::chrono::duration<double>(time).count(); }

class Report {
 public:
  Report(Invocation& invocation, std::string name, SharedInformer<Unstructured> informer)
      : invocation_(invocation), name_(std::move(name)), informer_(std::move(informer)) {}

  void filled(std::size_t before, Clock::Duration took) const {
    const InformerStats stats = informer_.stats();
    const std::size_t now = residentBytes();
    const std::size_t grown = now > before ? now - before : 0;
    invocation_.out << fmt::format(
                           "{}: filled with {} objects in {:.3f} s, {:.1f} MB ({} bytes each)\n",
                           name_, stats.objects, seconds(took), megabytes(grown),
                           stats.objects == 0 ? 0 : grown / stats.objects)
                    << std::flush;
  }

  void line(Clock::Duration since) {
    const InformerStats stats = informer_.stats();
    const double rate = static_cast<double>(stats.source.events - lastEvents_) / seconds(since);
    lastEvents_ = stats.source.events;
    const std::string text = fmt::format(
        "{}: {} objects, {:.1f} events/s ({} in all), {:.1f} MB resident, {} lists, {} watches, {} "
        "errors",
        name_, stats.objects, rate, stats.source.events, megabytes(residentBytes()),
        stats.source.lists, stats.source.watches, stats.source.errors);
    if (invocation_.terminal) {
      invocation_.out << OwnText{"\r"} << text << OwnText{"\x1b[K"} << std::flush;
    } else {
      invocation_.out << text << '\n' << std::flush;
    }
  }

 private:
  Invocation& invocation_;
  const std::string name_;
  const SharedInformer<Unstructured> informer_;
  std::uint64_t lastEvents_ = 0;
};

void cache(Invocation& invocation, const CacheCommand& command) {
  if (command.words.size() != 1)
    throw UsageError("expected the name of one resource, such as pods");
  const auto duration = parseTimeout("--for", command.duration);
  const RestMapping mapping = invocation.resources().find(command.words[0]);
  const bool namespaced = mapping.scope == RestScope::Namespace && !command.allNamespaces;
  const std::stop_token& stop = invocation.stop();
  Clock& clock = realClock();

  const std::size_t before = residentBytes();
  const auto begun = clock.now();
  DynamicInformerFactory factory(
      DynamicClient(invocation.rest()),
      {.namespace_ = namespaced ? invocation.namespaceName() : String()});
  const auto informer = factory.forResource(mapping.gvr);
  factory.start(stop);
  if (!informer.waitForSync(stop)) return;
  Report report(invocation, mapping.gvr.resource.str(), informer);
  report.filled(before, clock.now() - begun);

  const auto end = duration.count() > 0 ? clock.deadlineAfter(duration) : Clock::noDeadline;
  auto last = clock.now();
  while (!stop.stop_requested() && clock.now() < end) {
    clock.sleepUntil(std::min(last + 1s, end), stop);
    const auto now = clock.now();
    report.line(now - last);
    last = now;
  }
  if (invocation.terminal) invocation.out << '\n';
}

}  // namespace

void addCache(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<CacheCommand>();
  Command(app, "cache", "Fill an informer, and show counts, memory and events per second")
      .arguments("resource", options->words, "The resource")
      .flag("-A,--all-namespaces", options->allNamespaces, "Read objects of all namespaces")
      .option("--for", options->duration, "The duration, such as 10s or 5m; 0 for no limit")
      .run([&invocation, options] { cache(invocation, *options); });
}

}  // namespace kube::cmd
