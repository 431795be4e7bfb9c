// One request to an API server, put together part by part and then sent.
//
//   auto pod = rest.get().namespace_("book").resource("pods").name("example").into<corev1::Pod>();
//   rest.post().namespace_("book").resource("pods").body(pod).into<corev1::Pod>(stop);
//   auto text = rest.get().absPath("/healthz").raw();
//
// Bodies and answers of built-in types travel as protobuf, others as JSON, unless the Config says
// otherwise. An answer's own content type decides how it is read. Lists are decoded while they
// arrive.
//
// Errors: an answer that is not 2xx is an ApiError with the server's Status (or what the code
// means, if there is none), whose message begins with what was tried. The rest is ApiConnection's:
// TransportError, TimeoutError, CanceledError, ConfigError; DecodeError for an answer that makes no
// sense. A request that cannot be sent as put together, such as one whose name has a slash in it,
// throws Error.
//
// Thread safety: a Request is built and sent by one thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kube/codec/object_list.h"
#include "kube/codec/options.h"
#include "kube/codec/stream.h"
#include "kube/http/http.h"
#include "kube/http/transport.h"
#include "kube/http/websocket.h"
#include "kube/meta/type_info.h"
#include "kube/rest/watch_stream.h"

namespace kube {

class ApiConnection;

class Request {
 public:
  /// `prefix` is what every path of the client begins with: "/apis/apps/v1".
  Request(std::shared_ptr<ApiConnection> connection, std::string verb, std::string prefix);
  Request(Request&&) noexcept = default;
  Request& operator=(Request&&) noexcept = default;
  ~Request();

  Request& namespace_(std::string_view name);  ///< empty: none
  Request& resource(std::string_view plural);
  Request& name(std::string_view name);
  /// Also several at once: "proxy/metrics". A slash at the end stays.
  Request& subresource(std::string_view path);
  /// Instead of all of the above. Throws Error unless it begins with a slash: what comes before
  /// that would belong to the server's name.
  Request& absPath(std::string_view path);
  Request& param(std::string_view name, std::string_view value);
  /// A parameter for each option that is set.
  template <Described Options>
  Request& options(const Options& options) {
    addOptions(TypeOf<Options>::info, &options);
    return *this;
  }
  Request& header(std::string name, std::string value);
  /// Content types to accept, instead of those that fit what the answer is decoded into.
  Request& accept(std::string types);
  Request& body(std::string bytes, std::string contentType);
  /// The object must not change before the request is sent.
  template <Described T>
  Request& body(const T& object) {
    setBody(TypeOf<T>::info, &object);
    return *this;
  }
  /// For the whole call with all its tries; the server is told as well.
  Request& timeout(std::chrono::nanoseconds time);
  /// The same where neither that nor the Config sets a time, without telling the server: for what
  /// it has its own reason to end by then.
  Request& giveUpAfter(std::chrono::nanoseconds time);
  /// How often it is sent again where the server asks for that, or a connection breaks.
  Request& maxRetries(int n);
  /// See RestClient::withWriteGuard().
  Request& writeGuard(std::function<std::string()> guard);

  /// The path and query that it would be sent to.
  const std::string& url();

  template <Described T>
  T into(const std::stop_token& stop = {}, const DecodeOptions& options = {}) {
    T result{};
    decodeInto(TypeOf<T>::info, &result, stop, options);
    return result;
  }
  /// The items of a list, whatever its own kind is called.
  template <Described T>
  ObjectList<T> intoList(const std::stop_token& stop = {}, const DecodeOptions& options = {}) {
    static constexpr FieldInfo kItems = detail::makeField<List<T>>("items", 0, 2);
    ObjectList<T> list;
    decodeItems(kItems, &list.items, list.metadata, stop, options);
    return list;
  }
  /// Hands over the items of a list one by one, as they arrive: what was handed over before an
  /// error is not the whole. Returns what the list says of itself. Items share equal parts through
  /// the given pool, or one of the list's own.
  template <Described T>
  metav1::ListMeta eachItem(std::function<void(T&&)> use, const std::stop_token& stop = {},
                            Pool* pool = nullptr) {
    detail::ItemSink<T> items(std::move(use));
    return eachItem(TypeOf<T>::info, items, stop, pool);
  }
  /// The same without the type.
  metav1::ListMeta eachItem(const TypeInfo& type, detail::ObjectSink& items,
                            const std::stop_token& stop = {}, Pool* pool = nullptr);
  /// Into a default-constructed object of that type, to be thrown away if it throws.
  void decodeInto(const TypeInfo& type, void* object, const std::stop_token& stop = {},
                  const DecodeOptions& options = {});
  /// The answer's body, as it is.
  std::string raw(const std::stop_token& stop = {});
  /// The whole answer.
  HttpResponse response(const std::stop_token& stop = {});
  /// The answer's body as it comes.
  HttpStream stream(const std::stop_token& stop = {});
  /// Offers these protocols. Throws as others do where the server refuses, and TransportError where
  /// it answers something else.
  WebSocket webSocket(const std::vector<std::string>& protocols,
                      const std::shared_ptr<WebSocketListener>& listener,
                      const std::stop_token& stop = {});
  /// What it is about, for messages: `get pods "web" in namespace "book"`.
  std::string doing() const;
  /// Adds watch=true. What it decodes shares equal parts through a pool of its own or the given
  /// one.
  template <Described T>
  WatchStream<T> watch(const std::stop_token& stop = {}, Pool* pool = nullptr) {
    return WatchStream<T>(openWatch(TypeOf<T>::info, stop), stop, pool);
  }
  /// The same without the type, and not decoded: a detail::WatchReader does that.
  HttpStream openWatch(const TypeInfo& type, const std::stop_token& stop);

 private:
  void decodeItems(const FieldInfo& items, void* list, metav1::ListMeta& metadata,
                   const std::stop_token& stop, const DecodeOptions& options);
  void addOptions(const TypeInfo& type, const void* options);
  void setBody(const TypeInfo& type, const void* object);
  HttpStream openList(const TypeInfo* itemType, const std::stop_token& stop);
  HttpRequest assemble(std::string_view accept, bool protobufBody);
  template <class Answer, class Go>
  Answer exchange(const TypeInfo* answerType, Go go);
  [[noreturn]] void fail(int status, const HttpHeaders& headers, std::string_view body) const;

  std::shared_ptr<ApiConnection> connection_;
  std::string verb_;
  std::string prefix_;
  std::string namespaceName_, resourceName_, objectName_, subresourceName_;
  std::string path_;   // absPath's
  std::string query_;  // "?a=b&c=d"
  std::string url_;
  HttpHeaders headers_;
  std::string accept_;
  std::string body_;
  std::string contentType_;
  std::function<void(std::string& out, bool protobuf)> encode_;  // the body, if it is an object
  const TypeInfo* bodyType_ = nullptr;
  std::chrono::nanoseconds timeout_{0}, patience_{0};
  int maxRetries_ = 10;
  std::function<std::string()> writeGuard_;
};

}  // namespace kube
