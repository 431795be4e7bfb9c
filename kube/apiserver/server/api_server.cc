#include "kube/testing/api_server.h"
#include "kube/base/internal/mutex.h"

#include <fmt/core.h>

#include <list>

#include "kube/api/core/v1.h"
#include "kube/apiserver/pods/pod_containers.h"
#include "kube/apiserver/server/pod_streams.h"
#include "kube/apiserver/server/resource_verbs.h"
#include "kube/apiserver/server/server_documents.h"
#include "kube/apiserver/storage/background.h"
#include "kube/apiserver/storage/collector.h"
#include "kube/apiserver/storage/definitions.h"
#include "kube/apiserver/storage/object_store.h"
#include "kube/base/log.h"
#include "kube/codec/json.h"
#include "kube/codec/unstructured.h"
#include "kube/codec/yaml.h"
#include "kube/meta/api_error.h"
#include "kube/rest/kubeconfig.h"
#include "kube/testing/test_ca.h"

namespace kube::testing {

// ApiServer is a face: everything behind it is there.
using namespace apiserver;

namespace {

constexpr std::string_view kAdmin = "kubexx-admin";

metav1::Status unknownPath() {
  return {.status = "Failure",
          .message = "the server could not find the requested resource",
          .reason = "NotFound",
          .details = metav1::StatusDetails{},
          .code = 404};
}

AccessOptions accessOf(const ApiServerOptions& options) {
  AccessOptions access = options.access;
  if (!options.tls) access.nobody = {.name = "system:unsecured", .groups = {"system:masters"}};
  return access;
}

std::optional<WatchFault> parseWatchFault(std::string_view name) {
  constexpr std::pair<std::string_view, WatchFault> kNames[] = {
      {"end", WatchFault::End},
      {"cut", WatchFault::Cut},
      {"cutInFrame", WatchFault::CutInFrame},
      {"garbage", WatchFault::Garbage},
      {"silence", WatchFault::Silence},
      {"expire", WatchFault::Expire}};
  for (const auto& [known, fault] : kNames) {
    if (known == name) return fault;
  }
  return std::nullopt;
}

}  // namespace

class ApiServer::State {
 public:
  explicit State(ApiServerOptions options);
  ~State();

  Kubeconfig kubeconfig(std::optional<std::string_view> token) const;
  std::size_t failWatches(WatchFault fault, std::string_view resource);
  void restart(bool newHistory);

  const ApiServerOptions options;
  Clock& clock;
  const std::string token;
  Storage storage;
  ResourceTable resources;
  Access access;
  ObjectStore store;
  Containers containers;
  PodStreams podStreams;
  ResourceVerbs verbs;
  Faults faults;
  Reactors reactors;
  RequestLog requests;
  ServerDocuments documents;
  Background background;
  Collector collector;
  Definitions definitions;
  // Also stops the background if a later member cannot be constructed: it must not outlive its
  // listeners.
  const std::shared_ptr<void> backgroundEnd{nullptr, [this](void*) { background.stop(); }};
  TestCa ca;
  KeyPair adminKeys;
  std::optional<HttpServer> http;

 private:
  void addNamespaces();
  void addManifest(const std::string& text);
  void checkAddress() const;
  std::optional<ServerResponse> screen(const ServerRequest& head) const;
  void handle(ServerRequest http, const Responder& responder);
  void serve(const ApiRequest& request, const Responder& responder,
             const std::optional<Fault>& fault);
  void react(const Reactors::Chosen& chosen, const ApiRequest& request, const Responder& responder);
  void answerOrFail(const ApiRequest& request, Reply& reply);
  void answer(const ApiRequest& request, Reply& reply);
  void control(const ApiRequest& request, Reply& reply);

  detail::Mutex waitingMutex_;
  std::map<std::uint64_t, Timer> waiting_
      KUBE_GUARDED_BY(waitingMutex_);  // requests that are delayed
  std::uint64_t nextWaiting_ KUBE_GUARDED_BY(waitingMutex_) = 0;
  std::list<Responder> hanging_ KUBE_GUARDED_BY(waitingMutex_);  // requests that are never answered
};

ApiServer::State::State(ApiServerOptions given)
    : options(std::move(given)),
      clock(orReal(options.clock)),
      token(options.token.empty() ? newToken() : options.token),
      storage(options.historyWindow),
      resources(storage),
      access(accessOf(options)),
      store(storage, resources, clock),
      containers(clock),
      podStreams(store, containers),
      verbs(store, access, podStreams, options.bookmarkPeriod),
      requests(options.keptRequests, access),
      documents(resources),
      background(storage),
      collector(store, background, options.garbageCollector),
      definitions(store, resources, background),
      ca("kubexx CA"),
      adminKeys(ca.client(std::string(kAdmin), {"system:masters"})) {
  checkAddress();
  access.addToken(token, {.name = "admin", .groups = {"system:masters"}});
  background.start();
  addNamespaces();
  for (const std::string& manifest : options.manifests) addManifest(manifest);
  HttpServerOptions server{.http2 = options.http2,
                           .address = options.address,
                           .port = options.port,
                           .threads = options.threads,
                           .screen = [this](const ServerRequest& head) { return screen(head); }};
  if (options.tls) {
    std::vector<std::string> names{"127.0.0.1", "localhost", "kubernetes.default.svc"};
    if (options.address != "127.0.0.1") names.push_back(options.address);
    server.tls = ServerTls{ca.server(names), ca.certPem()};
  }
  http.emplace(std::move(server), [this](ServerRequest request, const Responder& responder) {
    handle(std::move(request), responder);
  });
}

ApiServer::State::~State() {
  {
    const detail::Lock lock(waitingMutex_);
    hanging_.clear();
  }
  http->stop();
  std::map<std::uint64_t, Timer> waiting;
  {
    const detail::Lock lock(waitingMutex_);
    waiting.swap(waiting_);
  }
  waiting.clear();
  containers.state().stop();  // their connections have ended by now
}

void ApiServer::State::addNamespaces() {
  const ResourcePtr namespaces = resources.find({"", "namespaces"});
  for (const char* name : {"default", "kube-node-lease", "kube-public", "kube-system"}) {
    corev1::Namespace space;
    space.metadata.name = name;
    store.create({.resource = namespaces, .version = &namespaces->stored()}, AnyObject(space),
                 {.manager = "kube-apiserver"});
  }
}

void ApiServer::State::addManifest(const std::string& text) {
  for (const YamlDocument& document : splitYaml(text, {.expandLists = true})) {
    background.waitIdle();  // for kinds that a definition before this document adds
    const YamlDocument::Type type = document.type();
    const GroupVersion version = GroupVersion::parse(type.apiVersion);
    const ResourcePtr resource = resources.findKind({version.group, type.kind});
    const ApiVersion* served = resource ? resource->version(version.version) : nullptr;
    if (served == nullptr) {
      throw Error(fmt::format("line {}: this server has no kind {} of {}", document.line, type.kind,
                              type.apiVersion));
    }
    Target target{.resource = resource, .version = served};
    AnyObject object = fromValue(target, document.value());
    if (resource->namespaced) {
      const String space = metaOf(object).namespace_;
      target.namespace_ = space.empty() ? "default" : space;
    }
    store.create(target, std::move(object), {.manager = "kubexx-serve"});
  }
  background.waitIdle();
}

void ApiServer::State::checkAddress() const {
  const bool loopback = options.address.starts_with("127.") || options.address == "::1";
  if (options.tls || loopback || options.allowAnonymousAdmin) return;
  throw ConfigError(
      fmt::format("API server without TLS on {}: every client that reaches this address would be "
                  "the admin, without credentials; use TLS, listen on 127.0.0.1, or set "
                  "allowAnonymousAdmin",
                  options.address));
}

// Refuses a request by its head, so that the client need not send the body.
std::optional<ServerResponse> ApiServer::State::screen(const ServerRequest& head) const {
  try {
    ServerRequest copy{.method = head.method,
                       .target = head.target,
                       .headers = head.headers,
                       .body = {},
                       .peer = head.peer};
    const ApiRequest request = ApiRequest::parse(std::move(copy));
    access.authorize(access.authenticate(request), request);
    return std::nullopt;
  } catch (const ApiError& error) {
    return ServerResponse{.status = error.code(),
                          .headers = {{"Content-Type", "application/json"}},
                          .body = toJson(error.status())};
  }
}

void ApiServer::State::handle(ServerRequest raw, const Responder& responder) {
  auto request = std::make_shared<ApiRequest>();
  try {
    *request = ApiRequest::parse(std::move(raw));
  } catch (const ApiError& error) {
    return Reply(*request, responder).status(error.status());
  }
  const bool mayFail = !request->path.starts_with("/kubexx/");
  if (mayFail) requests.add(request);
  const std::optional<Fault> fault = mayFail ? faults.take(*request) : std::nullopt;
  if (!fault || fault->delay.count() == 0) return serve(*request, responder, fault);
  const detail::Lock lock(waitingMutex_);
  const std::uint64_t id = nextWaiting_++;
  waiting_[id] = clock.callAfter(fault->delay, [this, request, responder, fault, id] {
    serve(*request, responder, fault);
    const detail::Lock done(waitingMutex_);
    waiting_.erase(id);
  });
}

void ApiServer::State::serve(const ApiRequest& request, const Responder& responder,
                             const std::optional<Fault>& fault) {
  const bool damages = fault && fault->damages();
  const Responder out = !damages ? responder : responder.changing([fault](BodySource body) {
    return damaged(*fault, std::move(body));
  });
  Reply reply(request, out);
  if (fault && fault->hang) {
    const detail::Lock lock(waitingMutex_);
    hanging_.push_back(responder);
    return;
  }
  if (fault && fault->status != 0) {
    return reply.status(statusOf(*fault, request));
  }
  const Reactors::Chosen chosen = reactors.choose(request);
  if (!chosen.empty()) return react(chosen, request, out);
  answerOrFail(request, reply);
}

void ApiServer::State::react(const Reactors::Chosen& chosen, const ApiRequest& request,
                             const Responder& responder) {
  const auto call = std::make_shared<ReactorCall>();
  call->request = request;
  try {
    call->user = access.authenticate(request);
  } catch (const ApiError& error) {
    return Reply(request, responder).status(error.status());
  }
  Reactors::before(chosen, *call);
  // The target of the request follows from its path.
  if (!call->answer && (call->request.http.target != request.http.target ||
                        call->request.http.method != request.http.method)) {
    try {
      call->request = ApiRequest::parse(std::move(call->request.http));
    } catch (const ApiError& error) {
      call->answer = answerWith(error.status(), error.code());
    }
  }
  const Responder out = responder.answering([chosen, call](ServerResponse& answer) {
    call->answer = std::move(answer);
    Reactors::after(chosen, *call);
    answer = std::move(call->answer).value_or(ServerResponse{.status = 500});
  });
  if (call->answer) return out.send(std::move(*call->answer));
  Reply reply(call->request, out);
  answerOrFail(call->request, reply);
}

void ApiServer::State::answerOrFail(const ApiRequest& request, Reply& reply) {
  try {
    answer(request, reply);
  } catch (const ApiError& error) {
    reply.status(error.status());
  } catch (const DecodeError& error) {
    reply.status(status::badRequest(error.what()));
  } catch (const Error& error) {
    Logger("api-server").warning("{} {}: {}", request.http.method, request.path, error.what());
    reply.status(status::internalError(error.what()));
  }
}

void ApiServer::State::answer(const ApiRequest& request, Reply& reply) {
  const User user = access.authenticate(request);
  access.authorize(user, request);
  if (request.isResource()) return verbs.handle(request, user, reply);
  if (request.path == "/healthz" || request.path == "/livez" || request.path == "/readyz") {
    return reply.body(200, "text/plain; charset=utf-8", "ok");
  }
  if (request.path.starts_with("/kubexx/")) return control(request, reply);
  if (documents.answer(request, reply)) return;
  throw ApiError(unknownPath());
}

// Answers the requests that inject faults from another process.
void ApiServer::State::control(const ApiRequest& request, Reply& reply) {
  const std::string& method = request.http.method;
  const auto done = [&](Value value) { reply.body(200, "application/json", toJson(value) + "\n"); };
  if (request.path == "/kubexx/faults") {
    if (method == "GET") return done(faults.toValue());
    if (method == "POST") {
      const FaultId id = faults.add(Faults::fromValue(parseJson(request.http.body)));
      return done(Value::Object{{"id", id}});
    }
    if (method == "DELETE") {
      faults.clear();
      return done(Value::Object{});
    }
  }
  if (method == "POST" && request.path == "/kubexx/fail-watches") {
    const std::string_view name = request.param("fault").value_or("cut");
    const auto fault = parseWatchFault(name);
    if (!fault) {
      throw ApiError(
          status::badRequest("fault is one of end, cut, cutInFrame, garbage, silence and expire"));
    }
    return done(
        Value::Object{{"failed", failWatches(*fault, request.param("resource").value_or(""))}});
  }
  if (method == "POST" && request.path == "/kubexx/expire-revisions") {
    storage.compactAll();
    return done(Value::Object{});
  }
  if (method == "POST" && request.path == "/kubexx/restart") {
    done(Value::Object{});
    return restart(request.flag("newHistory"));
  }
  throw ApiError(unknownPath());
}

std::size_t ApiServer::State::failWatches(WatchFault fault, std::string_view resource) {
  std::size_t failed = 0;
  for (const auto& watch : verbs.watches()) {
    if (!resource.empty() && watch->resource().name.resource != resource) continue;
    watch->fail(fault);
    ++failed;
  }
  return failed;
}

void ApiServer::State::restart(bool newHistory) {
  if (newHistory) storage.rewindRevision(std::max<std::int64_t>(storage.revision() / 2, 1));
  http->dropConnections();
  // Requests that are still delayed are dropped. They are destroyed after the lock, which they may
  // take.
  std::map<std::uint64_t, Timer> waiting;
  std::list<Responder> hanging;
  const detail::Lock lock(waitingMutex_);
  waiting.swap(waiting_);
  hanging.swap(hanging_);
}

Kubeconfig ApiServer::State::kubeconfig(std::optional<std::string_view> bearer) const {
  Kubeconfig config;
  Kubeconfig::Cluster& cluster = config.clusters.write("kubexx");
  cluster.server = http->url();
  if (options.tls) cluster.certificateAuthorityData = Bytes(ca.certPem());
  Kubeconfig::User& user = config.users.write("kubexx");
  if (bearer) {
    user.token = *bearer;
  } else if (options.tls) {
    user.clientCertificateData = Bytes(adminKeys.certPem);
    user.clientKeyData = Bytes(adminKeys.keyPem);
  } else {
    user.token = token;
  }
  Kubeconfig::Context& context = config.contexts.write("kubexx");
  context.cluster = "kubexx";
  context.user = "kubexx";
  context.namespace_ = "default";
  config.currentContext = "kubexx";
  return config;
}

// --- The public class.

ApiServer::ApiServer(ApiServerOptions options)
    : state_(std::make_unique<State>(std::move(options))) {}
ApiServer::~ApiServer() = default;

std::string ApiServer::url() const { return state_->http->url(); }
std::uint16_t ApiServer::port() const { return state_->http->port(); }
std::string ApiServer::kubeconfig() const { return state_->kubeconfig(std::nullopt).toYaml(); }
std::string ApiServer::kubeconfig(std::string_view token) const {
  return state_->kubeconfig(token).toYaml();
}
Config ApiServer::config() const {
  Config config = Config::fromKubeconfig(state_->kubeconfig(std::nullopt));
  config.qps = -1;  // no other clients to protect
  return config;
}
Config ApiServer::config(std::string_view token) const {
  Config config = Config::fromKubeconfig(state_->kubeconfig(token));
  config.bearerToken = token;  // set even without TLS, where clients refuse to send it
  config.qps = -1;
  return config;
}
const std::string& ApiServer::adminToken() const { return state_->token; }
std::string ApiServer::caPem() const { return state_->ca.certPem(); }

FaultId ApiServer::inject(Fault fault) { return state_->faults.add(std::move(fault)); }
void ApiServer::forget(FaultId id) { state_->faults.remove(id); }
void ApiServer::forgetAll() { state_->faults.clear(); }
ReactorHandle ApiServer::react(RequestFilter filter, Reactor reactor) {
  return state_->reactors.add(std::move(filter), std::move(reactor));
}
std::vector<ReceivedRequest> ApiServer::requests(const RequestFilter& filter) const {
  return state_->requests.list(filter);
}
void ApiServer::forgetRequests() { state_->requests.clear(); }
std::uint64_t ApiServer::faultsHit() const { return state_->faults.hits(); }
std::size_t ApiServer::failWatches(WatchFault fault, std::string_view resource) {
  return state_->failWatches(fault, resource);
}
void ApiServer::expireRevisions() { state_->storage.compactAll(); }
void ApiServer::restart(bool newHistory) { state_->restart(newHistory); }
void ApiServer::goSilent(bool silent) { state_->http->setSilent(silent); }
std::int64_t ApiServer::revision() const { return state_->storage.revision(); }
HttpServerStats ApiServer::stats() const { return state_->http->stats(); }
Containers& ApiServer::containers() noexcept { return state_->containers; }
void ApiServer::settle() const { state_->background.waitIdle(); }

}  // namespace kube::testing
