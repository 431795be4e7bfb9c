#include "kube/apiserver/server/pod_streams.h"

#include <fmt/core.h>

#include <algorithm>

#include "kube/apiserver/pods/pod_containers.h"
#include "kube/apiserver/pods/pod_port_forward.h"
#include "kube/apiserver/pods/pod_process.h"
#include "kube/base/internal/text.h"
#include "kube/base/joined.h"
#include "kube/meta/api_error.h"

namespace kube::apiserver {

namespace {

[[noreturn]] void badRequest(std::string_view reason) {
  throw ApiError(status::badRequest(reason));
}

std::string podKey(const corev1::Pod& pod) {
  return fmt::format("{}/{}", pod.metadata.namespace_, pod.metadata.name);
}

std::vector<std::string> containersOf(const corev1::Pod& pod) {
  std::vector<std::string> names;
  for (const auto& one : pod.spec->initContainers) names.push_back(one.name.str());
  for (const auto& one : pod.spec->containers) names.push_back(one.name.str());
  for (const auto& one : pod.spec->ephemeralContainers) names.push_back(one.name.str());
  return names;
}

std::string containerOf(const corev1::Pod& pod, const String& wanted) {
  const std::vector<std::string> names = containersOf(pod);
  if (wanted.empty()) {
    if (pod.spec->containers.size() == 1) return pod.spec->containers[0].name.str();
    badRequest(fmt::format("a container name must be specified for pod {}, choose one of: [{}]",
                           pod.metadata.name, joined(names, " ")));
  }
  if (std::ranges::find(names, wanted.view()) == names.end()) {
    badRequest(fmt::format("container {} is not valid for pod {}", wanted, pod.metadata.name));
  }
  return wanted.str();
}

// The variables with literal values. References to other objects are not resolved.
std::map<std::string, std::string> envOf(const corev1::Pod& pod, std::string_view container) {
  std::map<std::string, std::string> env;
  for (const auto& one : pod.spec->containers) {
    if (one.name != container) continue;
    for (const corev1::EnvVar& variable : one.env) env[variable.name.str()] = variable.value.str();
  }
  return env;
}

[[noreturn]] void notScheduled(const corev1::Pod& pod) {
  badRequest(fmt::format("pod {} does not have a host assigned", pod.metadata.name));
}

void check(const corev1::PodLogOptions& options, std::string_view pod) {
  FieldErrors errors;
  const auto positive = [&](std::string_view name, const std::optional<std::int64_t>& value) {
    if (value && *value < 1) {
      errors.push_back(FieldError::invalid(ErrorPath(name), *value, "must be greater than 0"));
    }
  };
  if (options.tailLines && *options.tailLines < 0) {
    errors.push_back(FieldError::invalid(ErrorPath("tailLines"), *options.tailLines,
                                         "must be greater than or equal to 0"));
  }
  positive("limitBytes", options.limitBytes);
  if (options.sinceSeconds && options.sinceTime) {
    errors.push_back(FieldError::forbidden(
        ErrorPath(""), "at most one of `sinceTime` or `sinceSeconds` may be specified"));
  } else {
    positive("sinceSeconds", options.sinceSeconds);
  }
  if (options.stream) {
    const std::string_view stream = *options.stream;
    if (stream != "All" && stream != "Stdout" && stream != "Stderr") {
      errors.push_back(
          FieldError::notSupported(ErrorPath("stream"), stream, {"All", "Stderr", "Stdout"}));
    } else if (stream != "All" && options.tailLines) {
      errors.push_back(FieldError::forbidden(
          ErrorPath(""), "`tailLines` and specific `stream` are mutually exclusive for now"));
    }
  }
  if (errors.empty()) return;
  List<metav1::StatusCause> causes;
  for (const FieldError& error : errors) causes.push_back(error.cause());
  throw ApiError(status::invalid({"", "PodLogOptions"}, pod, causes));
}

// The log of a container without a script.
std::shared_ptr<PodLog> defaultLog(const corev1::Pod& pod, std::string_view container) {
  const auto log = std::make_shared<PodLog>();
  const Clock::WallTime time = pod.metadata.creationTimestamp.timePoint();
  for (const std::string_view line : {"starting", "ready", "nothing runs here"}) {
    log->append(fmt::format("{}/{}: {}\n", pod.metadata.name, container, line),
                testing::Containers::Stream::Stdout, time);
  }
  log->end();
  return log;
}

// The body of an answer that follows a log.
struct LogBody {
  LogBody(std::shared_ptr<PodLog> from, PodLogReader as)
      : log(std::move(from)), reader(std::move(as)) {}
  ~LogBody() {
    if (id != 0) log->unlisten(id);
  }

  BodyState fill(std::string& out) {
    switch (reader.read(out)) {
      case PodLogReader::State::More:
        return BodyState::More;
      case PodLogReader::State::Wait:
        return BodyState::Wait;
      case PodLogReader::State::End:
        break;
    }
    return BodyState::End;
  }

  const std::shared_ptr<PodLog> log;
  PodLogReader reader;
  std::uint64_t id = 0;
};

// The default for attach: echoes stdin, or shows the log if there is no stdin.
testing::Program attachTo(std::shared_ptr<PodLog> log) {
  return [log = std::move(log)](testing::Process& process) {
    if (process.call().stdin_) return runBuiltIn(process);
    if (!log) return 0;
    std::size_t at = log->size();
    for (;;) {
      log->wait(at, process.stop());
      const bool ended = log->ended();
      const std::vector<PodLog::Piece> pieces = log->pieces(at, 64 << 10);
      if (process.stop().stop_requested() || (pieces.empty() && ended)) return 0;
      at += pieces.size();
      for (const PodLog::Piece& piece : pieces) {
        piece.stream == testing::Containers::Stream::Stdout ? process.write(piece.text)
                                                            : process.writeError(piece.text);
      }
    }
  };
}

std::vector<std::uint16_t> portsOf(const testing::ApiRequest& request) {
  std::vector<std::uint16_t> ports;
  for (const auto& [key, value] : request.query) {
    if (key != "ports") continue;
    for (std::size_t begin = 0; begin <= value.size();) {
      const std::size_t end = std::min(value.find(',', begin), value.size());
      const auto port = kube::detail::parseNumber<std::uint16_t>(
          std::string_view(value).substr(begin, end - begin));
      if (!port) badRequest(fmt::format("unable to parse \"{}\" as a port", value));
      if (*port == 0) badRequest(fmt::format("port \"{}\" must be > 0", value));
      ports.push_back(*port);
      begin = end + 1;
    }
  }
  return ports;
}

}  // namespace

corev1::Pod PodStreams::podOf(const VerbCall& call) const {
  Target target = call.target;
  target.subresource = {};
  const AnyObject object = store_.get(target);
  return *object.as<corev1::Pod>();
}

void PodStreams::log(const VerbCall& call) {
  const auto options = call.request.options<corev1::PodLogOptions>();
  check(options, call.target.name);
  const corev1::Pod pod = podOf(call);
  const std::string container = containerOf(pod, options.container);
  std::shared_ptr<PodLog> log = containers_.log(podKey(pod), container, options.previous);
  const bool scheduled = !pod.spec->nodeName.empty();
  if (!log && scheduled && options.previous) {
    badRequest(fmt::format("previous terminated container \"{}\" in pod \"{}\" not found",
                           container, pod.metadata.name));
  }
  if (!log && !scheduled) return call.reply.body(200, "text/plain", "");
  if (!log) log = defaultLog(pod, container);

  const auto body =
      std::make_shared<LogBody>(log, PodLogReader(log, options, containers_.clock().wallNow()));
  HttpHeaders headers{{"Content-Type", "text/plain"}, {"Cache-Control", "no-cache, private"}};
  const BodyHandle handle = call.reply.responder().stream(
      200, std::move(headers), [body](std::string& out) { return body->fill(out); });
  if (!options.follow) return;
  body->id = log->listen([handle] { handle.wake(); });
  handle.wake();  // for lines that came before listen()
}

void PodStreams::run(const VerbCall& call, bool attach) {
  testing::ContainerCall wanted;
  // Both have the same options, but attach has no command.
  const auto options = call.request.options<corev1::PodExecOptions>();
  const corev1::Pod pod = podOf(call);
  wanted.container = containerOf(pod, options.container);
  const std::string key = podKey(pod);
  testing::Program program =
      attach ? containers_.attach(key, wanted.container) : containers_.exec(key, wanted.container);
  if (!program) {
    if (pod.spec->nodeName.empty()) notScheduled(pod);
    program = attach ? attachTo(containers_.log(key, wanted.container))
                     : testing::Program(testing::runBuiltIn);
  }
  const ServerRequest& http = call.request.http;
  if (!detail::ServerWebSocket::asked(http)) badRequest("Upgrade request required");
  wanted.namespace_ = pod.metadata.namespace_.str();
  wanted.pod = pod.metadata.name.str();
  if (!attach) {
    for (const String& word : options.command) wanted.command.push_back(word.str());
    if (wanted.command.empty()) {
      badRequest("you must specify at least 1 command for the container");
    }
  }
  wanted.stdin_ = options.stdin;
  wanted.stdout_ = options.stdout;
  wanted.stderr_ = options.stderr && !options.tty;
  wanted.tty = options.tty;
  if (!wanted.stdin_ && !wanted.stdout_ && !wanted.stderr_) {
    badRequest("you must specify at least 1 of stdin, stdout, stderr");
  }
  wanted.env = envOf(pod, wanted.container);
  const auto protocol = detail::ServerWebSocket::choose(http, execProtocols());
  if (!protocol) return call.reply.responder().send({.status = 403});
  if (containers_.full()) throw ApiError(status::tooManyRequests("too many programs run", 1));
  WebSocketProcess::run(http, call.reply.responder(), *protocol, std::move(wanted),
                        std::move(program), containers_);
}

void PodStreams::forward(const VerbCall& call) {
  const corev1::Pod pod = podOf(call);
  const std::string key = podKey(pod);
  if (pod.spec->nodeName.empty() && !containers_.hasPorts(key)) notScheduled(pod);
  const ServerRequest& http = call.request.http;
  if (!detail::ServerWebSocket::asked(http)) badRequest("Upgrade request required");
  const auto protocol = detail::ServerWebSocket::choose(http, forwardProtocols());
  if (!protocol) return call.reply.responder().send({.status = 403});
  if (containers_.full()) throw ApiError(status::tooManyRequests("too many connections", 1));
  const std::vector<std::uint16_t> ports = portsOf(call.request);
  if (ports.empty() && !protocol->starts_with("SPDY/")) {  // SPDY names the ports later
    badRequest("query parameter \"ports\" is required");
  }
  forwardPorts(http, call.reply.responder(), *protocol, key, ports, containers_);
}

bool PodStreams::answer(VerbCall& call) {
  if (call.target.resource->name != GroupResource{"", "pods"}) return false;
  const std::string_view sub = call.target.subresource;
  if (sub == "log") {
    log(call);
  } else if (sub == "exec" || sub == "attach") {
    run(call, sub == "attach");
  } else if (sub == "portforward") {
    forward(call);
  } else {
    return false;
  }
  return true;
}

}  // namespace kube::apiserver
