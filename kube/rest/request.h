// One request to an API server, built part by part and then sent.
//
//   auto pod = rest.get().namespace_("book").resource("pods").name("example").into<corev1::Pod>();
//   rest.post().namespace_("book").resource("pods").body(pod).into<corev1::Pod>(stop);
//   auto text = rest.get().absPath("/healthz").raw();
//
// Bodies and answers of built-in types are protobuf, others JSON, unless the Config says otherwise.
// The content type of an answer decides how it is decoded. Lists are decoded while they arrive.
//
// Errors: an answer other than 2xx is an ApiError with the server's Status (or one made from the
// code), whose message begins with the operation and object. Other errors are those of
// ApiConnection: TransportError, TimeoutError, CanceledError, ConfigError; and DecodeError for a
// malformed answer. A request that cannot be sent, such as one with a slash in its name, throws
// Error.
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
class AsyncRequest;
struct ClientDefaults;

class Request {
 public:
  /// `prefix` begins every path of the client: "/apis/apps/v1".
  Request(std::shared_ptr<ApiConnection> connection, std::string verb, std::string prefix);
  Request(Request&&) noexcept = default;
  Request& operator=(Request&&) noexcept = default;
  ~Request();

  Request& namespace_(std::string_view name);  ///< empty: none
  Request& resource(std::string_view plural);
  Request& name(std::string_view name);
  /// One or several segments: "proxy/metrics". A slash at the end is kept.
  Request& subresource(std::string_view path);
  /// Replaces all of the above. Throws Error unless the path begins with a slash; otherwise it
  /// would continue the server's name.
  Request& absPath(std::string_view path);
  Request& param(std::string_view name, std::string_view value);
  /// Adds a parameter for each option that is set.
  template <Described Options>
  Request& options(const Options& options) {
    addOptions(TypeOf<Options>::info, &options);
    return *this;
  }
  Request& header(std::string name, std::string value);
  /// Sets the content types to accept, instead of those that fit the type of the answer.
  Request& accept(std::string types);
  Request& body(std::string bytes, std::string contentType);
  /// Sets an object as body. It must not change before the request is sent.
  template <Described T>
  Request& body(const T& object) {
    setBody(TypeOf<T>::info, &object);
    return *this;
  }
  /// Limits the whole call with all its tries. The server is told the limit.
  Request& timeout(std::chrono::nanoseconds time);
  /// A client-side deadline, used only if neither timeout() nor Config::timeout is set. The server
  /// is not told. For watches, which the server ends by itself.
  Request& giveUpAfter(std::chrono::nanoseconds time);
  /// Limits how often the request is sent again, after a Retry-After or a broken connection.
  Request& maxRetries(int n);
  /// See RestClient::withWriteGuard().
  Request& writeGuard(std::function<std::string()> guard);
  /// For options() and DeleteOptions in body() from now on; see RestClient::withDefaults().
  Request& defaults(std::shared_ptr<const ClientDefaults> defaults);

  /// Returns the path and query of the request.
  const std::string& url();

  template <Described T>
  T into(const std::stop_token& stop = {}, const DecodeOptions& options = {}) {
    T result{};
    decodeInto(TypeOf<T>::info, &result, stop, options);
    return result;
  }
  /// Returns the items of a list of any kind.
  template <Described T>
  ObjectList<T> intoList(const std::stop_token& stop = {}, const DecodeOptions& options = {}) {
    static constexpr FieldInfo kItems = detail::makeField<List<T>>("items", 0, 2);
    ObjectList<T> list;
    decodeItems(kItems, &list.items, list.metadata, stop, options);
    return list;
  }
  /// Passes the items of a list to `use` one by one, as they arrive; after an error the items
  /// passed before are incomplete. Returns the list's metadata. Equal parts of items share memory
  /// through the given pool, or through a pool of the list.
  template <Described T>
  metav1::ListMeta eachItem(std::function<void(T&&)> use, const std::stop_token& stop = {},
                            Pool* pool = nullptr) {
    detail::ItemSink<T> items(std::move(use));
    return eachItem(TypeOf<T>::info, items, stop, pool);
  }
  /// The same without the C++ type.
  metav1::ListMeta eachItem(const TypeInfo& type, detail::ObjectSink& items,
                            const std::stop_token& stop = {}, Pool* pool = nullptr);
  /// Decodes the answer into a default-constructed object of that type. After an exception the
  /// object is unusable.
  void decodeInto(const TypeInfo& type, void* object, const std::stop_token& stop = {},
                  const DecodeOptions& options = {});
  /// Returns the body of the answer, undecoded.
  std::string raw(const std::stop_token& stop = {});
  /// Returns the whole answer.
  HttpResponse response(const std::stop_token& stop = {});
  /// Returns the answer when its headers have arrived; its body is read as it arrives.
  HttpStream stream(const std::stop_token& stop = {});
  /// Opens a WebSocket with one of these protocols. A refusal throws as for other requests; any
  /// other answer is a TransportError.
  WebSocket webSocket(const std::vector<std::string>& protocols,
                      const std::shared_ptr<WebSocketListener>& listener,
                      const std::stop_token& stop = {});
  /// The awaitable forms of the functions that send.
  AsyncRequest async() &&;

  /// Describes the request for messages: `get pods "web" in namespace "book"`.
  std::string doing() const;
  /// The same without names: `get pods`.
  std::string operation() const;
  /// Adds watch=true. Equal parts of objects share memory through the given pool, or through a pool
  /// of the watch.
  template <Described T>
  WatchStream<T> watch(const std::stop_token& stop = {}, Pool* pool = nullptr) {
    return WatchStream<T>(openWatch(TypeOf<T>::info, stop), stop, pool);
  }
  /// The same without the type and the decoding, which detail::WatchReader does.
  HttpStream openWatch(const TypeInfo& type, const std::stop_token& stop);

 private:
  friend class AsyncRequest;

  // ---- Both forms. The request outlives the task, as do the objects that are passed by reference.

  Task<void> decodeTask(const TypeInfo& type, void* object, const DecodeOptions& options);
  Task<void> itemsTask(const FieldInfo& items, void* list, metav1::ListMeta& metadata,
                       const DecodeOptions& options);
  Task<metav1::ListMeta> eachItemTask(const TypeInfo& type, detail::ObjectSink& items, Pool* pool);
  Task<HttpResponse> responseTask(const TypeInfo* type = nullptr);
  Task<HttpStream> streamTask(const TypeInfo* type, bool wholeOnly);
  template <class Decoder>
  Task<void> feed(HttpStream& answer, Decoder& decoder);
  Task<HttpStream> watchTask(const TypeInfo& type);
  Task<WebSocket> webSocketTask(const std::vector<std::string>& protocols,
                                const std::shared_ptr<WebSocketListener>& listener);

  void decodeItems(const FieldInfo& items, void* list, metav1::ListMeta& metadata,
                   const std::stop_token& stop, const DecodeOptions& options);
  void addOptions(const TypeInfo& type, const void* options);
  void setBody(const TypeInfo& type, const void* object);
  HttpRequest assemble(std::string_view accept, bool protobufBody);
  template <class Answer, class Go>
  Task<Answer> exchange(const TypeInfo* answerType, Go go);
  [[noreturn]] void fail(int status, const HttpHeaders& headers, std::string_view body) const;

  std::shared_ptr<ApiConnection> connection_;
  std::string verb_;
  std::string prefix_;
  std::string namespaceName_, resourceName_, objectName_, subresourceName_;
  std::string path_;   // from absPath()
  std::string query_;  // "?a=b&c=d"
  std::string url_;
  HttpHeaders headers_;
  std::string accept_;
  std::string body_;
  std::string contentType_;
  std::function<void(std::string& out, bool protobuf)>
      encode_;  // encodes the body, if it is an object
  const TypeInfo* bodyType_ = nullptr;
  std::chrono::nanoseconds timeout_{0}, patience_{0};
  int maxRetries_ = 10;
  std::function<std::string()> writeGuard_;
  std::shared_ptr<const ClientDefaults> defaults_;
};

/// The awaitable forms of a Request's functions, with the same options and errors. The tasks own
/// the request.
class AsyncRequest {
 public:
  explicit AsyncRequest(Request request) : request_(std::move(request)) {}

  template <Described T>
  Task<T> into(DecodeOptions options = {}) && {
    return intoTask<T>(std::move(request_), options);
  }
  template <Described T>
  Task<ObjectList<T>> intoList(DecodeOptions options = {}) && {
    return intoListTask<T>(std::move(request_), options);
  }
  /// The pool outlives the task.
  template <Described T>
  Task<metav1::ListMeta> eachItem(std::function<void(T&&)> use, Pool* pool = nullptr) && {
    return eachItemTask<T>(std::move(request_), std::move(use), pool);
  }
  template <Described T>
  Task<AsyncWatchStream<T>> watch(Pool* pool = nullptr) && {
    return watchTask<T>(std::move(request_), pool);
  }
  /// The same without the C++ type. The sink outlives the task.
  Task<metav1::ListMeta> eachItem(const TypeInfo& type, detail::ObjectSink& items,
                                  Pool* pool = nullptr) &&;
  Task<HttpStream> openWatch(const TypeInfo& type) &&;
  Task<std::string> raw() &&;
  Task<HttpResponse> response() &&;
  Task<HttpStream> stream() &&;
  Task<WebSocket> webSocket(std::vector<std::string> protocols,
                            std::shared_ptr<WebSocketListener> listener) &&;

  /// Sends an object as body, which the task owns.
  template <Described Answer, Described Body>
  Task<Answer> intoWith(Body body, DecodeOptions options = {}) && {
    return intoWithTask<Answer>(std::move(request_), std::move(body), options);
  }

 private:
  template <class T>
  static Task<T> intoTask(Request request, DecodeOptions options) {
    T result{};
    co_await request.decodeTask(TypeOf<T>::info, &result, options);
    co_return result;
  }
  template <class Answer, class Body>
  static Task<Answer> intoWithTask(Request request, Body body, DecodeOptions options) {
    Answer result{};
    request.body(body);
    co_await request.decodeTask(TypeOf<Answer>::info, &result, options);
    co_return result;
  }
  template <class T>
  static Task<ObjectList<T>> intoListTask(Request request, DecodeOptions options) {
    static constexpr FieldInfo kItems = detail::makeField<List<T>>("items", 0, 2);
    ObjectList<T> list;
    co_await request.itemsTask(kItems, &list.items, list.metadata, options);
    co_return list;
  }
  template <class T>
  static Task<metav1::ListMeta> eachItemTask(Request request, std::function<void(T&&)> use,
                                             Pool* pool) {
    detail::ItemSink<T> items(std::move(use));
    co_return co_await request.eachItemTask(TypeOf<T>::info, items, pool);
  }
  template <class T>
  static Task<AsyncWatchStream<T>> watchTask(Request request, Pool* pool) {
    HttpStream stream = co_await request.watchTask(TypeOf<T>::info);
    co_return AsyncWatchStream<T>(std::move(stream), pool);
  }
  static Task<metav1::ListMeta> untypedItemsTask(Request request, const TypeInfo& type,
                                                 detail::ObjectSink& items, Pool* pool);
  static Task<HttpStream> openWatchTask(Request request, const TypeInfo& type);
  static Task<std::string> rawTask(Request request);
  static Task<HttpResponse> responseTask(Request request);
  static Task<HttpStream> streamTask(Request request);
  static Task<WebSocket> webSocketTask(Request request, std::vector<std::string> protocols,
                                       std::shared_ptr<WebSocketListener> listener);

  Request request_;
};

inline AsyncRequest Request::async() && { return AsyncRequest(std::move(*this)); }

}  // namespace kube
