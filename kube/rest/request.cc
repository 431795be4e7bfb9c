#include "kube/rest/request.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "kube/base/internal/text.h"
#include "kube/codec/internal/list_decode.h"
#include "kube/codec/json.h"
#include "kube/codec/protobuf.h"
#include "kube/http/websocket.h"
#include "kube/meta/api_error.h"
#include "kube/meta/v1.h"
#include "kube/rest/api_connection.h"
#include "kube/rest/client_defaults.h"
#include "kube/rest/internal/query.h"
#include "kube/rest/internal/request_text.h"

namespace kube {

namespace {

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kProtobuf = "application/vnd.kubernetes.protobuf";
constexpr std::string_view kDryRunAll = "All";
constexpr std::size_t kMaxErrorBytes = 64 << 10;  // of the body of a failure
constexpr std::size_t kMaxItemBytes = 64 << 20;

bool isSuccess(int status) { return status >= 200 && status < 300; }

std::string acceptFor(const Config& config, const TypeInfo* type) {
  if (!config.acceptContentTypes.empty()) return config.acceptContentTypes;
  if (type == nullptr) return "*/*";
  const bool json = config.contentType == kJson || !hasProtobuf(*type);
  return json ? std::string(kJson) : fmt::format("{},{}", kProtobuf, kJson);
}

// Returns the Status in the body of a failure, if there is one.
std::optional<metav1::Status> statusIn(std::string_view body) {
  metav1::Status status;
  try {
    if (isProtobuf(body)) {
      decodeProtobuf(TypeOf<metav1::Status>::info, &status, body);
    } else {
      if (!body.starts_with('{')) return std::nullopt;
      decodeJson(TypeOf<metav1::Status>::info, &status, body);
    }
  } catch (const DecodeError&) {
    return std::nullopt;
  }
  if (status.status != "Failure" && status.reason.empty()) return std::nullopt;
  return status;
}

Task<std::string> failureBody(HttpResponse& answer) { co_return std::move(answer.body); }
Task<std::string> failureBody(HttpStream& answer) {
  std::string body;
  while (body.size() < kMaxErrorBytes) {
    const auto chunk = co_await answer.readAsync();
    if (!chunk) break;
    body += chunk->substr(0, kMaxErrorBytes - body.size());
  }
  co_return body;
}

void decodeObject(const TypeInfo& type, void* object, std::string_view body,
                  const DecodeOptions& options) {
  if (isProtobuf(body)) {
    decodeProtobuf(type, object, body, options);
  } else {
    decodeJson(type, object, body, options);
  }
}

}  // namespace

Request::Request(std::shared_ptr<ApiConnection> connection, std::string verb, std::string prefix)
    : connection_(std::move(connection)), verb_(std::move(verb)), prefix_(std::move(prefix)) {}

Request::~Request() = default;

Request& Request::namespace_(std::string_view name) {
  namespaceName_ = name;
  return *this;
}
Request& Request::resource(std::string_view plural) {
  resourceName_ = plural;
  return *this;
}
Request& Request::name(std::string_view name) {
  if (name.empty()) {
    throw Error(fmt::format("{}: the name may not be empty", resourceName_));
  }
  objectName_ = name;
  return *this;
}
Request& Request::subresource(std::string_view path) {
  if (!subresourceName_.empty()) subresourceName_ += '/';
  subresourceName_ += path;
  return *this;
}
Request& Request::absPath(std::string_view path) {
  if (!path.starts_with('/')) {
    throw Error(fmt::format("{} \"{}\": the path has to begin with '/'", verb_, path));
  }
  path_ = path;
  return *this;
}
Request& Request::param(std::string_view name, std::string_view value) {
  detail::appendParam(query_, name, value);
  return *this;
}
Request& Request::header(std::string name, std::string value) {
  headers_.add(std::move(name), std::move(value));
  return *this;
}
Request& Request::accept(std::string types) {
  accept_ = std::move(types);
  return *this;
}
Request& Request::body(std::string bytes, std::string contentType) {
  body_ = std::move(bytes);
  contentType_ = std::move(contentType);
  encode_ = nullptr;
  return *this;
}
Request& Request::timeout(std::chrono::nanoseconds time) {
  timeout_ = time;
  return *this;
}
Request& Request::giveUpAfter(std::chrono::nanoseconds time) {
  patience_ = time;
  return *this;
}
Request& Request::writeGuard(std::function<std::string()> guard) {
  writeGuard_ = std::move(guard);
  return *this;
}

Request& Request::defaults(std::shared_ptr<const ClientDefaults> defaults) {
  defaults_ = std::move(defaults);
  return *this;
}

Request& Request::maxRetries(int n) {
  maxRetries_ = n;
  return *this;
}

void Request::addOptions(const TypeInfo& type, const void* options) {
  const std::size_t begin = query_.size();
  detail::appendOptions(query_, type, options);
  if (!defaults_) return;
  const auto fill = [&](const FieldInfo& field, std::string_view name, std::string_view value) {
    if (field.name != name || value.empty()) return;
    const std::string_view given = std::string_view(query_).substr(begin);
    const std::string set = fmt::format("{}=", name);
    if (given.find("&" + set) != given.npos || given.find("?" + set) != given.npos) return;
    detail::appendParam(query_, name, value);
  };
  for (const FieldInfo& field : type.fields) {
    fill(field, "fieldManager", defaults_->fieldManager);
    fill(field, "fieldValidation", defaults_->fieldValidation);
    fill(field, "dryRun", defaults_->dryRun ? kDryRunAll : "");
  }
}

void Request::setBody(const TypeInfo& type, const void* object) {
  bodyType_ = &type;
  if (&type == &TypeOf<metav1::DeleteOptions>::info && defaults_ && defaults_->dryRun) {
    // The server reads these options from the body alone.
    encode_ = [object](std::string& out, bool protobuf) {
      auto options = *static_cast<const metav1::DeleteOptions*>(object);
      if (options.dryRun.empty()) options.dryRun.push_back(kDryRunAll);
      out += protobuf ? toProtobuf(options) : toJson(options);
    };
    return;
  }
  encode_ = [&type, object](std::string& out, bool protobuf) {
    if (protobuf) {
      encodeProtobuf(type, object, out);
    } else {
      encodeJson(type, object, out);
    }
  };
}

const std::string& Request::url() {
  url_.clear();
  if (!path_.empty()) {
    url_ = path_;
  } else {
    const auto segment = [&](std::string_view what, std::string_view text) {
      if (text.empty()) return;
      if (const std::string_view problem = detail::pathSegmentProblem(text); !problem.empty()) {
        throw Error(fmt::format("{}: the {} \"{}\" {}", doing(), what, text, problem));
      }
      url_ += '/';
      detail::appendEscaped(url_, text);
    };
    url_ = prefix_;
    if (!namespaceName_.empty()) {
      url_ += "/namespaces";
      segment("namespace", namespaceName_);
    }
    segment("resource", resourceName_);
    segment("name", objectName_);
    for (std::string_view rest = subresourceName_; !rest.empty();) {
      segment("subresource", detail::cut(rest, '/'));
    }
    if (subresourceName_.ends_with('/')) url_ += '/';
  }
  if (url_.empty()) url_ = '/';
  url_ += query_;
  if (timeout_.count() > 0) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(timeout_).count();
    detail::appendParam(url_, "timeout", fmt::format("{}s", seconds));
  }
  return url_;
}

std::string Request::operation() const {
  std::string text = verb_ == "POST" ? "create" : verb_ == "PUT" ? "update" : detail::lower(verb_);
  if (!path_.empty()) return text;
  // The verbs of RBAC.
  if (objectName_.empty() && subresourceName_.empty()) {
    if (verb_ == "GET") text = query_.find("watch=true") == std::string::npos ? "list" : "watch";
    if (verb_ == "DELETE") text = "deletecollection";
  }
  text += ' ' + resourceName_;
  if (!subresourceName_.empty()) text += '/' + subresourceName_;
  return text;
}

std::string Request::doing() const {
  std::string text = operation();
  if (!path_.empty()) return text + " " + path_;
  if (!objectName_.empty()) text += fmt::format(" \"{}\"", objectName_);
  if (!namespaceName_.empty()) text += fmt::format(" in namespace \"{}\"", namespaceName_);
  return text;
}

HttpRequest Request::assemble(std::string_view accept, bool protobufBody) {
  HttpRequest request{.method = verb_, .url = url(), .headers = headers_, .timeout = timeout_};
  if (timeout_.count() == 0 && connection_->config().timeout.count() == 0) {
    request.timeout = patience_;
  }
  if (!request.headers.has("Accept")) request.headers.add("Accept", std::string(accept));
  if (encode_) {
    encode_(request.body, protobufBody);
    request.headers.set("Content-Type", std::string(protobufBody ? kProtobuf : kJson));
  } else if (!contentType_.empty()) {
    request.body = body_;
    request.headers.set("Content-Type", contentType_);
  }
  return request;
}

// Sends the request. A server that refuses protobuf is sent JSON.
template <class Answer, class Go>
Task<Answer> Request::exchange(const TypeInfo* answerType, Go go) {
  const Config& config = connection_->config();
  const std::string accept = !accept_.empty() ? accept_ : acceptFor(config, answerType);
  bool protobuf = encode_ && config.contentType != kJson && hasProtobuf(*bodyType_);
  for (;;) {
    ApiConnection::Call call{.request = assemble(accept, protobuf),
                             .doing = [this] { return doing(); },
                             .operation = [this] { return operation(); },
                             .maxRetries = maxRetries_,
                             .writeGuard = writeGuard_};
    Answer answer = co_await go(std::move(call));
    const int status = detail::statusOf(answer);
    if (isSuccess(status)) co_return answer;
    if (status == 415 && std::exchange(protobuf, false)) continue;
    const std::string body = co_await failureBody(answer);
    fail(status, detail::headersOf(answer), body);
  }
}

void Request::fail(int code, const HttpHeaders& headers, std::string_view body) const {
  if (auto status = statusIn(body)) {
    if (status->code == 0) status->code = code;
    throw ApiError(std::move(*status), doing(), detail::auditIdOf(headers));
  }
  const int seconds = detail::parseNumber<int>(headers.get("Retry-After")).value_or(0);
  constexpr std::size_t kShown = 2048;
  std::string_view text = body.substr(0, kShown);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  const std::size_t slash = prefix_.rfind('/');
  const GroupResource resource{
      prefix_.starts_with("/apis/") ? prefix_.substr(6, std::max<std::size_t>(slash, 6) - 6) : "",
      resourceName_};
  throw ApiError(status::fromResponse(code, verb_, resource, objectName_,
                                      text.empty() ? "unknown" : text, seconds, true),
                 doing(), detail::auditIdOf(headers));
}

Task<HttpResponse> Request::responseTask(const TypeInfo* type) {
  return exchange<HttpResponse>(
      type, [this](ApiConnection::Call call) { return connection_->send(std::move(call)); });
}

Task<HttpStream> Request::streamTask(const TypeInfo* type, bool wholeOnly) {
  return exchange<HttpStream>(type, [this, wholeOnly](ApiConnection::Call call) {
    call.request.wholeOnly = wholeOnly;
    return connection_->open(std::move(call));
  });
}

Task<WebSocket> Request::webSocketTask(const std::vector<std::string>& protocols,
                                       const std::shared_ptr<WebSocketListener>& listener) {
  const std::string what = doing();
  ApiConnection::Call call{.request = assemble(accept_.empty() ? "*/*" : accept_, false),
                           .doing = [what] { return what; },
                           .operation = [this] { return operation(); },
                           .maxRetries = maxRetries_,
                           .writeGuard = writeGuard_};
  WebSocket socket = co_await connection_->webSocket(std::move(call), protocols, listener);
  if (socket.status() == 101) co_return socket;
  if (!isSuccess(socket.status())) fail(socket.status(), socket.headers(), socket.body());
  throw TransportError(fmt::format(
      "{}: the server answered {} instead of switching to a WebSocket: it, or a proxy before it, "
      "does not support them here",
      what, socket.status()));
}

HttpResponse Request::response(const std::stop_token& stop) {
  return detail::runBlocking(responseTask(), stop);
}

std::string Request::raw(const std::stop_token& stop) { return response(stop).body; }

HttpStream Request::stream(const std::stop_token& stop) {
  return detail::runBlocking(streamTask(nullptr, false), stop);
}

WebSocket Request::webSocket(const std::vector<std::string>& protocols,
                             const std::shared_ptr<WebSocketListener>& listener,
                             const std::stop_token& stop) {
  return detail::runBlocking(webSocketTask(protocols, listener), stop);
}

namespace {

// Limits the memory of a list in proportion to its compressed size, so that a malicious body is
// refused long before the absolute limit. Real lists compress at most a hundredfold, when all
// objects are alike.
constexpr std::uint64_t kMaxRatio = 200;
constexpr std::uint64_t kSmallList = std::uint64_t{256} << 20;

class AnswerBudget final : public ListBudget {
 public:
  AnswerBudget(const Request& request, const HttpStream& answer, std::uint64_t most)
      : ListBudget(most == 0 ? kSmallList : std::min(most, kSmallList)),
        request_(request),
        answer_(answer),
        most_(most == 0 ? std::numeric_limits<std::uint64_t>::max() : most) {}

 private:
  void exceeded() override {
    limit_ = std::min(most_, std::max(kSmallList, kMaxRatio * answer_.wireBytes()));
    if (spent() <= limit_) return;
    const auto fail = [this](const std::string& why) {
      throw TransportError(fmt::format("{}: {}", request_.doing(), why), true, true);
    };
    if (spent() > most_) {
      fail(
          fmt::format("the list takes more than the {} bytes that Config::maxListBytes allows: "
                      "raise that, or ask for pages (ListOptions::limit)",
                      most_));
    }
    fail(
        fmt::format("the list takes {} bytes, more than {} times the {} received, as if made to "
                    "fill the memory; to read it all the same, set Config::disableCompression",
                    spent(), kMaxRatio, answer_.wireBytes()));
  }

  const Request& request_;
  const HttpStream& answer_;
  const std::uint64_t most_;
};

}  // namespace

// Decodes a list while it arrives.
template <class Decoder>
Task<void> Request::feed(HttpStream& answer, Decoder& decoder) {
  std::size_t bytes = 0;
  for (;;) {
    const auto chunk = co_await answer.readAsync();
    if (!chunk) break;
    bytes += chunk->size();
    decoder.feed(*chunk);
  }
  connection_->countAnswer(verb_, bytes);
}

Task<metav1::ListMeta> Request::eachItemTask(const TypeInfo& type, detail::ObjectSink& items,
                                             Pool* pool) {
  HttpStream answer = co_await streamTask(&type, true);
  AnswerBudget budget(*this, answer, connection_->config().maxListBytes);
  const StreamOptions options{.pool = pool, .budget = &budget};
  detail::ObjectStream decoder(detail::ObjectStream::Mode::List, type, options, items);
  co_await feed(answer, decoder);
  co_return decoder.finish();
}

Task<HttpStream> Request::watchTask(const TypeInfo& type) {
  if (query_.find("watch=") == std::string::npos) detail::appendParam(query_, "watch", "true");
  return streamTask(&type, false);
}

Task<void> Request::decodeTask(const TypeInfo& type, void* object, const DecodeOptions& options) {
  if (!detail::isListType(type)) {
    const HttpResponse answer = co_await responseTask(&type);
    decodeObject(type, object, answer.body, options);
    co_return;
  }
  auto* fields = static_cast<std::byte*>(object);
  const FieldInfo& items = *type.field("items");
  auto& metadata = *reinterpret_cast<metav1::ListMeta*>(fields + type.field("metadata")->offset);
  co_await itemsTask(items, fields + items.offset, metadata, options);
}

Task<void> Request::itemsTask(const FieldInfo& items, void* list, metav1::ListMeta& metadata,
                              const DecodeOptions& options) {
  HttpStream answer = co_await streamTask(items.type, true);
  AnswerBudget budget(*this, answer, connection_->config().maxListBytes);
  detail::ListBody body(items, list, metadata, options, kMaxItemBytes, &budget);
  co_await feed(answer, body);
  body.finish();
}

metav1::ListMeta Request::eachItem(const TypeInfo& type, detail::ObjectSink& items,
                                   const std::stop_token& stop, Pool* pool) {
  return detail::runBlocking(eachItemTask(type, items, pool), stop);
}

HttpStream Request::openWatch(const TypeInfo& type, const std::stop_token& stop) {
  return detail::runBlocking(watchTask(type), stop);
}

void Request::decodeInto(const TypeInfo& type, void* object, const std::stop_token& stop,
                         const DecodeOptions& options) {
  detail::runBlocking(decodeTask(type, object, options), stop);
}

void Request::decodeItems(const FieldInfo& items, void* list, metav1::ListMeta& metadata,
                          const std::stop_token& stop, const DecodeOptions& options) {
  detail::runBlocking(itemsTask(items, list, metadata, options), stop);
}

Task<metav1::ListMeta> AsyncRequest::untypedItemsTask(Request request, const TypeInfo& type,
                                                      detail::ObjectSink& items, Pool* pool) {
  co_return co_await request.eachItemTask(type, items, pool);
}
Task<HttpStream> AsyncRequest::openWatchTask(Request request, const TypeInfo& type) {
  co_return co_await request.watchTask(type);
}
Task<std::string> AsyncRequest::rawTask(Request request) {
  HttpResponse answer = co_await request.responseTask();
  co_return std::move(answer.body);
}
Task<HttpResponse> AsyncRequest::responseTask(Request request) {
  co_return co_await request.responseTask();
}
Task<HttpStream> AsyncRequest::streamTask(Request request) {
  co_return co_await request.streamTask(nullptr, false);
}
Task<WebSocket> AsyncRequest::webSocketTask(Request request, std::vector<std::string> protocols,
                                            std::shared_ptr<WebSocketListener> listener) {
  co_return co_await request.webSocketTask(protocols, listener);
}

Task<metav1::ListMeta> AsyncRequest::eachItem(const TypeInfo& type, detail::ObjectSink& items,
                                              Pool* pool) && {
  return untypedItemsTask(std::move(request_), type, items, pool);
}
Task<HttpStream> AsyncRequest::openWatch(const TypeInfo& type) && {
  return openWatchTask(std::move(request_), type);
}
Task<std::string> AsyncRequest::raw() && { return rawTask(std::move(request_)); }
Task<HttpResponse> AsyncRequest::response() && { return responseTask(std::move(request_)); }
Task<HttpStream> AsyncRequest::stream() && { return streamTask(std::move(request_)); }
Task<WebSocket> AsyncRequest::webSocket(std::vector<std::string> protocols,
                                        std::shared_ptr<WebSocketListener> listener) && {
  return webSocketTask(std::move(request_), std::move(protocols), std::move(listener));
}

}  // namespace kube
