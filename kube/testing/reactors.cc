#include "kube/testing/reactors.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <thread>
#include <utility>

#include "kube/base/log.h"
#include "kube/codec/deserializer.h"
#include "kube/codec/json.h"
#include "kube/codec/protobuf.h"
#include "kube/codec/yaml.h"
#include "kube/meta/api_error.h"

namespace kube::testing {

class ReactorEntry {
 public:
  ReactorEntry(RequestFilter filter, Reactor reactor)
      : filter_(std::move(filter)), reactor_(std::move(reactor)), left_(reactor_.times) {}

  bool removed() const {
    const detail::Lock lock(useMutex_);
    return removed_;
  }

  // Counts the use if the request matches.
  bool take(const ApiRequest& request) {
    if (!filter_.matches(request)) return false;
    const detail::Lock lock(useMutex_);
    if (removed_ || left_ == 0) return false;
    if (left_ > 0) --left_;
    ++calls_;
    return true;
  }

  void before(ReactorCall& call) { run(reactor_.before, call); }
  void after(ReactorCall& call) { run(reactor_.after, call); }
  bool looksAfter() const noexcept { return static_cast<bool>(reactor_.after); }

  void remove() {
    detail::Lock lock(useMutex_);
    removed_ = true;
    // Two functions that remove their reactor would wait for each other.
    if (std::ranges::find(running_, std::this_thread::get_id()) != running_.end()) return;
    ended_.wait(lock, [&]() KUBE_REQUIRES(useMutex_) { return running_.empty(); });
  }

  std::uint64_t calls() const {
    const detail::Lock lock(useMutex_);
    return calls_;
  }
  std::vector<std::string> errors() const {
    const detail::Lock lock(useMutex_);
    return errors_;
  }

 private:
  void run(const std::function<void(ReactorCall&)>& function, ReactorCall& call) {
    if (!function || !enter()) return;
    try {
      function(call);
    } catch (const ApiError& error) {
      call.answer = answerWith(error.status(), error.code());
    } catch (const std::exception& error) {
      fail(call, error.what());
    } catch (...) {
      fail(call, "an exception of an unknown type");
    }
    leave();
  }

  bool enter() {
    const detail::Lock lock(useMutex_);
    if (removed_) return false;
    running_.push_back(std::this_thread::get_id());
    return true;
  }
  void leave() {
    const detail::Lock lock(useMutex_);
    running_.erase(std::ranges::find(running_, std::this_thread::get_id()));
    ended_.notify_all();
  }

  void fail(ReactorCall& call, const std::string& message) {
    constexpr std::size_t kMost = 100;
    Logger("api-server")
        .error("reactor: {} {}: {}", call.request.http.method, call.request.path, message);
    const metav1::Status status = status::internalError("reactor: " + message);
    call.answer = answerWith(status, 500);
    const detail::Lock lock(useMutex_);
    if (errors_.size() < kMost) errors_.push_back(message);
  }

  const RequestFilter filter_;
  const Reactor reactor_;
  mutable detail::Mutex useMutex_;
  std::condition_variable ended_;
  int left_ KUBE_GUARDED_BY(useMutex_);
  bool removed_ KUBE_GUARDED_BY(useMutex_) = false;
  std::uint64_t calls_ KUBE_GUARDED_BY(useMutex_) = 0;
  std::vector<std::string> errors_ KUBE_GUARDED_BY(useMutex_);
  std::vector<std::thread::id> running_ KUBE_GUARDED_BY(useMutex_);
};

void decodeBody(const TypeInfo& type, void* object, std::string_view body) {
  if (isProtobuf(body)) return decodeProtobuf(type, object, body);
  if (body.starts_with('{')) return decodeJson(type, object, body);
  decodeYaml(type, object, body);
}

namespace {

void writeJson(HttpHeaders& headers, std::string& body, const AnyObject& object) {
  headers.set("Content-Type", "application/json");
  headers.erase("Content-Encoding");
  body = encodeObject(object, Format::Json);
}

}  // namespace

void setBody(ApiRequest& request, const AnyObject& object) {
  writeJson(request.http.headers, request.http.body, object);
}

void setBody(ServerResponse& answer, const AnyObject& object) {
  writeJson(answer.headers, answer.body, object);
}

ReactorHandle& ReactorHandle::operator=(ReactorHandle&& other) noexcept {
  if (this == &other) return *this;
  remove();
  entry_ = std::move(other.entry_);
  return *this;
}

void ReactorHandle::remove() noexcept {
  if (entry_) entry_->remove();
}

std::uint64_t ReactorHandle::calls() const { return entry_ ? entry_->calls() : 0; }

std::vector<std::string> ReactorHandle::errors() const {
  return entry_ ? entry_->errors() : std::vector<std::string>();
}

ReactorHandle Reactors::add(RequestFilter filter, Reactor reactor) {
  auto entry = std::make_shared<ReactorEntry>(std::move(filter), std::move(reactor));
  const detail::Lock lock(entriesMutex_);
  std::erase_if(entries_, [](const auto& old) { return old->removed(); });
  entries_.push_back(entry);
  return ReactorHandle(std::move(entry));
}

Reactors::Chosen Reactors::choose(const ApiRequest& request) {
  const detail::Lock lock(entriesMutex_);
  Chosen chosen;
  for (const auto& entry : entries_) {
    if (entry->take(request)) chosen.push_back(entry);
  }
  return chosen;
}

void Reactors::before(const Chosen& reactors, ReactorCall& call) {
  for (const auto& entry : reactors) {
    // A compressed body could not be read.
    if (entry->looksAfter()) call.request.http.headers.erase("Accept-Encoding");
    entry->before(call);
    if (call.answer) return;
  }
}

void Reactors::after(const Chosen& reactors, ReactorCall& call) {
  for (auto entry = reactors.rbegin(); entry != reactors.rend(); ++entry) (*entry)->after(call);
}

}  // namespace kube::testing
