#include "kube/cache/internal/client_source.h"

#include <deque>
#include <utility>

#include "kube/codec/stream.h"
#include "kube/meta/api_error.h"
#include "kube/meta/resource_version.h"
#include "kube/meta/unstructured.h"

namespace kube::detail {

namespace {

struct MakeSourceEvent {
  using Event = SourceEvent;
  void* operator()(Event& event) const {
    event.object = make();
    return event.object.get();
  }
  MakeObject make;
};
using DecodedEvents = EventCollector<MakeSourceEvent>;

class ClientSource final : public ObjectSource {
 public:
  ClientSource(ClientQueries queries, const TypeInfo& type, MakeObject make)
      : queries_(std::move(queries)), type_(type), make_(make) {}

  Executor executor() const override { return queries_.executor(); }
  Task<metav1::ListMeta> list(const metav1::ListOptions& options, const Use& use,
                              Pool& pool) override {
    DecodedEvents items([&](SourceEvent&& event) { use(std::move(event.object)); }, {make_});
    co_return co_await queries_.list(options).async().eachItem(type_, items, &pool);
  }
  Task<void> openWatch(const metav1::ListOptions& options, Pool& pool) override {
    const std::stop_token stop = co_await taskStop();
    HttpStream stream = co_await queries_.watch(options).async().openWatch(type_);
    watch_ = std::make_unique<Watch>(*this, std::move(stream), stop, pool);
  }
  void closeWatch() override { watch_.reset(); }
  bool take(SourceEvent& event) override {
    if (watch_->events.empty()) return false;
    event = std::move(watch_->events.front());
    watch_->events.pop_front();
    return true;
  }
  Task<bool> wait() override { return watch_->reader.read(); }
  Task<bool> hasReached(const String& version) override { return queries_.hasReached(version); }

 private:
  struct Watch {
    Watch(const ClientSource& of, HttpStream stream, const std::stop_token& stop, Pool& pool)
        : decoded([this](SourceEvent&& event) { events.push_back(std::move(event)); }, {of.make_}),
          reader(std::move(stream), stop, of.type_, &pool, decoded) {}

    std::deque<SourceEvent> events;
    DecodedEvents decoded;
    WatchReader reader;
  };

  const ClientQueries queries_;
  const TypeInfo& type_;
  const MakeObject make_;
  std::unique_ptr<Watch> watch_;
};

}  // namespace

std::unique_ptr<ObjectSource> clientSource(ClientQueries queries, const TypeInfo& type,
                                           MakeObject make) {
  return std::make_unique<ClientSource>(std::move(queries), type, make);
}

ClientQueries::ClientQueries(const ResourceRequests& requests, Tweak tweak)
    : requests_(requests.forCaches().withMaxRetries(0)), tweak_(std::move(tweak)) {}

metav1::ListOptions ClientQueries::narrowed(metav1::ListOptions options) const {
  if (tweak_) tweak_(options);
  return options;
}

Request ClientQueries::list(const metav1::ListOptions& options) const {
  Request request = requests_.list();
  request.options(narrowed(options));
  return request;
}

Request ClientQueries::watch(const metav1::ListOptions& options) const {
  return requests_.watch(narrowed(options));
}

Task<String> currentVersion(ResourceRequests requests, metav1::ListOptions options) {
  const ResourceName& resource = requests.resource();
  const String& namespaceName = requests.namespaceName();
  // Servers find one object of one namespace by its key. No object can have the name "-".
  const bool anywhere = namespaceName.empty() && resource.scope == RestScope::Namespace;
  options.fieldSelector = "metadata.name=-";
  Request request = requests.rest().get();
  request.namespace_(anywhere ? "default" : namespaceName.view()).resource(resource.plural);
  request.options(options);
  const auto list = co_await std::move(request).async().intoList<Unstructured>();
  co_return list.metadata.resourceVersion;
}

Task<bool> ClientQueries::hasReached(const String& version) const {
  try {
    metav1::ListOptions atLeast{.resourceVersion = version};
    atLeast.resourceVersionMatch = "NotOlderThan";
    bool lags = false;
    try {
      // The server's memory is usually new enough, and this costs it nothing.
      co_await currentVersion(requests_, atLeast);
    } catch (const ApiError& error) {
      if (!isTooLargeVersion(error)) throw;
      lags = true;
    }
    if (!lags) co_return true;
    // The memory may lag behind the storage.
    const metav1::ListOptions latest;
    const String text = co_await currentVersion(requests_, latest);
    const auto order = tryCompareResourceVersions(text, version);
    co_return !order || *order >= 0;
  } catch (const ApiError& error) {
    // If the server refuses the question, the version cannot be known. Other failures are retried.
    if (isTooManyRequests(error) || error.code() >= 500) throw;
    co_return true;
  } catch (const DecodeError&) {
    co_return true;
  }
}

}  // namespace kube::detail
