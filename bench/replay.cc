#include "bench/replay.h"

#include <fmt/core.h>

#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "bench/seed.h"
#include "kube/base/signal_stop.h"
#include "kube/client/core/v1.h"
#include "kube/http/http_server.h"
#include "kube/rest/kubeconfig.h"
#include "kube/testing/test_ca.h"

namespace kube::bench {

namespace {

constexpr std::string_view kProtobuf = "application/vnd.kubernetes.protobuf";
constexpr std::string_view kJson = "application/json";
constexpr std::string_view kMetadata = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
constexpr std::size_t kPiece = 256 << 10;
// The answer of a server that has no streamed lists.
constexpr const char* kNoInitialEvents =
    R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":)"
    R"("ListOptions.meta.k8s.io is invalid: sendInitialEvents: Forbidden: )"
    R"(sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled",)"
    R"("reason":"Invalid","code":422})";

// A recorded answer of the API server: its file and the requests that it answers.
struct Recorded {
  std::string file, contentType;
  bool metadata = false;
  bool list = true;
};

const std::vector<Recorded>& answers() {
  static const std::vector<Recorded> all = [] {
    const std::string json(kJson), protobuf(kProtobuf), metadata(kMetadata);
    return std::vector<Recorded>{{"pods.json", json},
                                 {"pods.pb", protobuf},
                                 {"metadata.json", json + metadata, true},
                                 {"metadata.pb", protobuf + metadata, true},
                                 {"pod.json", json, false, false},
                                 {"pod.pb", protobuf, false, false}};
  }();
  return all;
}

std::string readFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(path.string() + ": cannot be read; `kubexx-bench record` writes it");
  std::string content(std::filesystem::file_size(path), '\0');
  in.read(content.data(), static_cast<std::streamsize>(content.size()));
  return content;
}

class Replay {
 public:
  explicit Replay(const std::string& folder) {
    for (const Recorded& answer : answers()) {
      bodies_[answer.file] = std::make_shared<const std::string>(
          readFile(std::filesystem::path(folder) / answer.file));
    }
  }

  void handle(const ServerRequest& request, const Responder& responder) const {
    const std::string_view target = request.target;
    const std::string_view path = target.substr(0, target.find('?'));
    const std::string_view query = target.substr(std::min(target.size(), path.size()));
    const bool list = path == "/api/v1/pods";
    const bool one = path.starts_with("/api/v1/namespaces/") && path.find("/pods/") != path.npos;
    if (request.method != "GET" || (!list && !one)) {
      return responder.send({.status = 404, .body = "only pods were recorded\n"});
    }
    const std::string_view accept = request.headers.get("Accept");
    if (query.find("watch=true") != query.npos || query.find("watch=1") != query.npos) {
      if (query.find("sendInitialEvents=true") != query.npos) {
        return responder.send({.status = 422,
                               .headers = {{"Content-Type", std::string(kJson)}},
                               .body = kNoInitialEvents});
      }
      const bool protobuf = prefersProtobuf(accept);
      responder.stream(200,
                       {{"Content-Type",
                         protobuf ? std::string(kProtobuf) + ";stream=watch" : std::string(kJson)}},
                       [](std::string&) { return BodyState::Wait; });
      return;
    }
    const Recorded* answer = find(accept, list);
    const auto body = bodies_.at(answer->file);
    responder.stream(200, {{"Content-Type", answer->contentType}},
                     [body, at = std::size_t{0}](std::string& out) mutable {
                       out.append(*body, at, kPiece);
                       at += kPiece;
                       return at < body->size() ? BodyState::More : BodyState::End;
                     });
  }

 private:
  static bool prefersProtobuf(std::string_view accept) {
    return accept.substr(0, accept.find(',')).find("protobuf") != accept.npos;
  }
  static const Recorded* find(std::string_view accept, bool list) {
    const bool metadata = accept.find("PartialObjectMetadata") != accept.npos;
    const bool protobuf = prefersProtobuf(accept);
    for (const Recorded& answer : answers()) {
      if (answer.list == list && answer.metadata == (metadata && list) &&
          answer.contentType.starts_with(protobuf ? kProtobuf : kJson)) {
        return &answer;
      }
    }
    return &answers().front();
  }

  std::map<std::string, std::shared_ptr<const std::string>> bodies_;
};

}  // namespace

int record(const std::string& folder, int limit) {
  Config config = Config::load();
  config.qps = -1;
  const Clientset clients(config);
  const corev1::Pod pod = makePod(1);
  std::filesystem::create_directories(folder);
  for (const Recorded& answer : answers()) {
    Request request = clients.rest().get();
    request.accept(answer.contentType)
        .absPath(answer.list
                     ? std::string("/api/v1/pods")
                     : fmt::format("/api/v1/namespaces/{}/pods/{}", pod.metadata.namespace_.view(),
                                   pod.metadata.name.view()));
    if (answer.list && limit > 0) request.param("limit", std::to_string(limit));
    const std::string bytes = request.raw();
    std::ofstream out(std::filesystem::path(folder) / answer.file, std::ios::binary);
    if (!(out << bytes).flush()) throw Error(folder + "/" + answer.file + ": cannot be written");
    fmt::print("{{\"impl\":\"kubexx\",\"bench\":\"record\",\"file\":\"{}\",\"bytes\":{}}}\n",
               answer.file, bytes.size());
  }
  return 0;
}

int replay(const std::string& folder, const std::string& kubeconfig) {
  const std::stop_token stop = signalStop();
  const Replay recorded(folder);
  const TestCa ca("kubexx replay CA");
  const HttpServer server({.tls = ServerTls{ca.server({"127.0.0.1", "localhost"})}},
                          [&](const ServerRequest& request, const Responder& responder) {
                            recorded.handle(request, responder);
                          });
  Kubeconfig config;
  config.clusters.write("replay").server = server.url();
  config.clusters.write("replay").certificateAuthorityData = Bytes(ca.certPem());
  config.users.write("replay").token = "anybody";
  config.contexts["replay"] = {.cluster = "replay", .user = "replay", .namespace_ = "default"};
  config.currentContext = "replay";
  config.write(kubeconfig);
  fmt::print("serving {}\n", server.url());
  std::fflush(stdout);

  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  stopped.wait(lock, stop, [] { return false; });
  return 0;
}

}  // namespace kube::bench
