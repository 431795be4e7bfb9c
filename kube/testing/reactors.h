// Reactors: functions of a test that see, change or answer requests to an API server.
//
//   const auto reactor = server.react(
//       {.verb = "create", .resource = "pods"}, {.before = [](ReactorCall& call) {
//         auto pod = bodyOf<corev1::Pod>(call.request);
//         pod.metadata.labels["seen"] = "true";
//         setBody(call.request, pod);                       // as a webhook would
//         if (pod.spec->nodeName.empty()) return;           // the server handles it
//         throw ApiError(status::forbidden({"", "pods"}, pod.metadata.name, "no node, please"));
//       }});
//   const auto liar = server.react({.verb = "get", .resource = "nodes"}, {.after = [](auto& call) {
//     call.answer->headers.set("Audit-Id", "7");
//   }});
//
// `before` runs once the user of a request is known, and before the user's rights are checked. If
// it sets an answer, the server does nothing else. `after` sees the answer of a reactor or of the
// server, refusals included, but not the change to another protocol (exec, port-forward). Reactors
// run in the order in which they were added, `after` in the opposite order. The first that answers
// ends the row.
//
// A function that throws an ApiError answers with its Status. Any other exception answers 500, and
// is reported to the test: by ReactorHandle::errors(), and in the log.
//
// Functions run on the threads of the server, several at a time. They must not block for long, and
// not call the server.
//
// Thread safety: handles may be used on any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/internal/mutex.h"
#include "kube/codec/options.h"
#include "kube/http/http_server.h"
#include "kube/meta/any_object.h"
#include "kube/meta/type_info.h"
#include "kube/testing/access.h"
#include "kube/testing/api_request.h"

namespace kube::testing {

/// A request on its way through the server.
struct ReactorCall {
  /// `before` may change its headers and body. A new method or target leads it elsewhere.
  ApiRequest request;
  User user;
  /// None before the handling. Afterwards always set; `after` changes it. The body is empty if it
  /// is written later, as that of a watch: then only status and headers can be changed.
  std::optional<ServerResponse> answer = {};
};

struct Reactor {
  int times = -1;  // the number of requests; negative: no limit
  std::function<void(ReactorCall& call)> before = {};
  std::function<void(ReactorCall& call)> after = {};
};

class ReactorEntry;

/// Decodes a body in any format of the server.
void decodeBody(const TypeInfo& type, void* object, std::string_view body);
/// The object in the body of a request or an answer, in any format of the server. Throws
/// DecodeError.
template <Described T>
T bodyOf(const ApiRequest& request) {
  T object{};
  decodeBody(TypeOf<T>::info, &object, request.http.body);
  return object;
}
template <Described T>
T bodyOf(const ServerResponse& answer) {
  T object{};
  decodeBody(TypeOf<T>::info, &object, answer.body);
  return object;
}

/// Makes the object the body, as JSON.
void setBody(ApiRequest& request, const AnyObject& object);
void setBody(ServerResponse& answer, const AnyObject& object);
template <Described T>
void setBody(ApiRequest& request, const T& object) {
  setBody(request, AnyObject(object));
}
template <Described T>
void setBody(ServerResponse& answer, const T& object) {
  setBody(answer, AnyObject(object));
}
/// An answer with the object as its body.
template <Described T>
ServerResponse answerWith(const T& object, int code = 200) {
  ServerResponse answer{.status = code};
  setBody(answer, AnyObject(object));
  return answer;
}

/// Owns a reactor: it ends with the handle. Afterwards its functions neither run nor are called.
class [[nodiscard]] ReactorHandle {
 public:
  ReactorHandle() = default;
  explicit ReactorHandle(std::shared_ptr<ReactorEntry> entry) : entry_(std::move(entry)) {}
  ReactorHandle(ReactorHandle&&) noexcept = default;
  ReactorHandle& operator=(ReactorHandle&& other) noexcept;
  ~ReactorHandle() { remove(); }

  /// Waits for functions that run, unless one of them calls this.
  void remove() noexcept;
  /// The number of requests that the reactor has taken.
  std::uint64_t calls() const;
  /// The texts of exceptions that its functions have thrown, other than ApiError; the first 100.
  std::vector<std::string> errors() const;

 private:
  std::shared_ptr<ReactorEntry> entry_;
};

/// The reactors of a server.
class Reactors {
 public:
  using Chosen = std::vector<std::shared_ptr<ReactorEntry>>;

  ReactorHandle add(RequestFilter filter, Reactor reactor);
  /// The reactors that match the request, whose use is counted by this.
  Chosen choose(const ApiRequest& request);

  /// Calls the functions `before`, until one sets an answer.
  static void before(const Chosen& reactors, ReactorCall& call);
  /// Calls the functions `after` on the answer.
  static void after(const Chosen& reactors, ReactorCall& call);

 private:
  detail::Mutex entriesMutex_;
  Chosen entries_ KUBE_GUARDED_BY(entriesMutex_);
};

}  // namespace kube::testing
