#include "bench/seed.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "bench/measure.h"
#include "kube/client/core/v1.h"

namespace kube::bench {

namespace {

constexpr int kNamespaces = 50;
constexpr int kApps = 500;
constexpr int kNodes = 200;
constexpr int kWriters = 16;

corev1::Container makeContainer(const std::string& app, const std::string& name, int port) {
  corev1::Container c;
  c.name = name;
  c.image = fmt::format("registry.example.com/team/{}-{}:v1.24.3", app, name);
  c.args = {"--listen=:8080", "--log-level=info", "--config=/etc/app/config.yaml"};
  c.ports = {{.name = name + "-http", .containerPort = port, .protocol = "TCP"},
             {.name = name + "-mx", .containerPort = port + 1, .protocol = "TCP"}};
  corev1::EnvVar podName{.name = "POD_NAME"};
  podName.valueFrom->fieldRef->apiVersion = "v1";
  podName.valueFrom->fieldRef->fieldPath = "metadata.name";
  c.env = {podName,
           {.name = "DATABASE_URL", .value = "postgres://db.prod.svc.cluster.local:5432/" + app},
           {.name = "GOMAXPROCS", .value = "2"},
           {.name = "FEATURE_FLAGS", .value = "a,b,c,d"}};
  c.resources->requests["cpu"] = Quantity("100m");
  c.resources->requests["memory"] = Quantity("128Mi");
  c.resources->limits["cpu"] = Quantity("500m");
  c.resources->limits["memory"] = Quantity("512Mi");
  c.volumeMounts = {{.name = "config", .readOnly = true, .mountPath = "/etc/app"},
                    {.name = "tmp", .mountPath = "/tmp"}};
  const auto probe = [](const char* path, IntOrString at, int delay) {
    corev1::Probe probe;
    probe.httpGet->path = path;
    probe.httpGet->port = std::move(at);
    probe.httpGet->scheme = "HTTP";
    probe.initialDelaySeconds = delay;
    probe.timeoutSeconds = 1;
    probe.periodSeconds = 10;
    probe.successThreshold = 1;
    probe.failureThreshold = 3;
    return probe;
  };
  c.livenessProbe = probe("/healthz", IntOrString(name + "-http"), 10);
  c.readinessProbe = probe("/readyz", IntOrString(port), 0);
  return c;
}

void setStatus(corev1::Pod& pod, int i) {
  const Time now = Time::fromUnix(1'700'000'000 + i);
  auto& status = *pod.status;
  status.phase = "Running";
  status.hostIP = fmt::format("10.1.0.{}", i % kNodes);
  status.podIP = fmt::format("10.{}.{}.{}", 2 + (i >> 16 & 255), i >> 8 & 255, i & 255);
  status.podIPs = {{.ip = status.podIP}};
  status.startTime = now;
  for (const char* type : {"Initialized", "Ready", "ContainersReady", "PodScheduled"}) {
    status.conditions.push_back({.type = type, .status = "True", .lastTransitionTime = now});
  }
  for (const corev1::Container& c : std::as_const(pod).spec->containers) {
    corev1::ContainerStatus state{.name = c.name, .ready = true, .image = c.image};
    state.started = true;
    state.imageID =
        "registry.example.com/team/"
        "x@sha256:3b1f9c2a4e5d6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8";
    state.containerID = fmt::format("containerd://{:064x}",
                                    std::uint64_t(i) * 11400714819323198485U + c.name.size());
    state.state->running->startedAt = now;
    status.containerStatuses.push_back(state);
  }
}

// Calls `act` for 0 to count - 1 on several threads. Returns the number of failed calls, and prints
// the errors of the first few.
template <class Act>
int forEach(int count, Act act) {
  std::atomic<int> next = 0;
  std::atomic<int> failed = 0;
  std::vector<std::jthread> writers;
  for (int w = 0; w < kWriters; ++w) {
    writers.emplace_back([&] {
      for (int i; (i = next++) < count;) {
        try {
          act(i);
        } catch (const Error& error) {
          if (isAlreadyExists(error)) continue;
          if (failed++ < 3) fmt::print(stderr, "{}\n", error.what());
        }
      }
    });
  }
  writers.clear();
  return failed;
}

template <class T>
T named(std::string name) {
  T object;
  object.metadata.name = std::move(name);
  return object;
}

}  // namespace

corev1::Pod makePod(int i) {
  const std::string app = fmt::format("app-{}", i % kApps);
  corev1::Pod pod;
  pod.metadata.name = fmt::format("{}-7d4b9c6f5-{:05}", app, i);
  pod.metadata.namespace_ = fmt::format("ns-{}", i % kNamespaces);
  pod.metadata.labels["app"] = app;
  pod.metadata.labels["app.kubernetes.io/name"] = app;
  pod.metadata.labels["app.kubernetes.io/instance"] = app + "-prod";
  pod.metadata.labels["pod-template-hash"] = "7d4b9c6f5";
  pod.metadata.labels["tier"] = "backend";
  pod.metadata.annotations["prometheus.io/scrape"] = "true";
  pod.metadata.annotations["prometheus.io/port"] = "8080";
  pod.metadata.annotations["checksum/config"] =
      "3b1f9c2a4e5d6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8";
  metav1::OwnerReference owner;
  owner.apiVersion = "apps/v1";
  owner.kind = "ReplicaSet";
  owner.name = app + "-7d4b9c6f5";
  owner.uid = fmt::format("0d6f0f0e-8f5a-4f5e-9c55-{:012x}", i % kApps);
  owner.controller = true;
  owner.blockOwnerDeletion = true;
  pod.metadata.ownerReferences = {owner};

  auto& spec = *pod.spec;
  spec.nodeName = fmt::format("node-{}", i % kNodes);
  spec.serviceAccountName = app;
  spec.containers = {makeContainer(app, "main", 8080), makeContainer(app, "sidecar", 9080)};
  corev1::Volume config{.name = "config"};
  config.configMap->name = app + "-config";
  corev1::Volume tmp{.name = "tmp"};
  tmp.emptyDir = corev1::EmptyDirVolumeSource();
  spec.volumes = {config, tmp};
  for (const char* key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    spec.tolerations.push_back({.key = key, .operator_ = "Exists", .effect = "NoExecute"});
  }
  spec.nodeSelector["kubernetes.io/os"] = "linux";
  return pod;
}

int seed(int count) {
  Config config = Config::load();
  config.qps = -1;
  const CoreV1Client core = Clientset(config).coreV1();
  const Stopwatch watch;
  int failed = forEach(kNamespaces, [&](int i) {
    core.namespaces().create(named<corev1::Namespace>(fmt::format("ns-{}", i)));
  });
  failed += forEach(std::min(count, kApps), [&](int i) {
    const corev1::Pod pod = makePod(i);
    core.serviceAccounts(pod.metadata.namespace_)
        .create(named<corev1::ServiceAccount>(pod.spec->serviceAccountName.str()));
  });
  failed += forEach(
      kNodes, [&](int i) { core.nodes().create(named<corev1::Node>(fmt::format("node-{}", i))); });
  // Old servers wait for a controller to make a token that they mount.
  std::atomic<bool> tokens = true;
  const auto create = [&](corev1::Pod pod) {
    if (!tokens) pod.spec->automountServiceAccountToken = false;
    return core.pods().create(pod, {.fieldManager = "kube-controller-manager"});
  };
  const Stopwatch creating;
  failed += forEach(count, [&](int i) {
    const corev1::Pod pod = makePod(i);
    try {
      create(pod);
    } catch (const ApiError& error) {
      if (!isServerTimeout(error)) throw;
      tokens = false;
      create(pod);
    }
  });
  const double created = creating.wall();
  failed += forEach(count, [&](int i) {
    corev1::Pod pod = makePod(i);
    setStatus(pod, i);
    core.pods().updateStatus(pod, {.fieldManager = "kubelet"});
  });
  fmt::print(
      "{{\"impl\":\"kubexx\",\"bench\":\"seed\",\"pods\":{},\"fails\":{},\"wall_s\":{:.6f},"
      "\"create_s\":{:.6f},\"cpu_s\":{:.6f}}}\n",
      count, failed, watch.wall(), created, watch.cpu());
  return failed == 0 ? 0 : 1;
}

}  // namespace kube::bench
