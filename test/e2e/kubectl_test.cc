// Runs real kubectl against the server, the client that knows best how a server should behave.
// Skipped if there is no kubectl.

#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>

#include "kube/meta/validation/names.h"
#include "test/e2e/server_build.h"
#include "test/soak/patience.h"

namespace kube {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class KubectlTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("command -v kubectl >/dev/null 2>&1") != 0) {
      GTEST_SKIP() << "kubectl is not installed";
    }
    space_ = generateName("kubexx-kubectl-");
    // A home of its own: kubectl's cache would outlive the server.
    home_ = std::filesystem::temp_directory_path() / space_;
    std::filesystem::create_directories(home_);
    ASSERT_THAT(run("create namespace " + space_), HasSubstr("created"));
    run("create serviceaccount default");  // pods need it, and there may be no controller
  }
  void TearDown() override {
    if (space_.empty()) return;
    run("delete namespace " + space_ + " --wait=false");
    std::filesystem::remove_all(home_);
  }

  // A shell command that runs kubectl, for a minute at most.
  std::string command(const std::string& arguments) const {
    return "HOME=" + home_.string() +
           " timeout 60 kubectl --cache-dir=" + (home_ / "cache").string() + " -n " + space_ + " " +
           arguments;
  }

  // Runs kubectl and returns both of its outputs; after a failure, with the exit code in front.
  std::string run(const std::string& arguments, const std::string& input = {}) const {
    const std::filesystem::path file = home_ / "input";
    std::ofstream(file) << input;
    const std::string command = this->command(arguments) + " <" + file.string() + " 2>&1";
    std::FILE* pipe = popen(command.c_str(), "r");
    std::string output;
    std::array<char, 4096> buffer;
    for (std::size_t n; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
      output.append(buffer.data(), n);
    }
    const int status = pclose(pipe);
    if (status == 0) return output;
    return "exit " + std::to_string(WEXITSTATUS(status)) + ": " + output;
  }

  // The embedded server runs no pods, but it has scripted containers.
  static bool embedded() { return std::getenv("KUBEXX_E2E_EMBEDDED") != nullptr; }

  std::string space_;
  std::filesystem::path home_;
};

constexpr const char* kDeployment = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: "nginx:1.27", ports: [{containerPort: 80}]}
)";

constexpr const char* kPod = R"(apiVersion: v1
kind: Pod
metadata: {name: box}
spec:
  automountServiceAccountToken: false
  containers: [{name: main, image: busybox}]
)";

TEST_F(KubectlTest, GetsInEveryForm) {
  run("create configmap a --from-literal=k=v");
  EXPECT_THAT(run("get configmaps a"), ContainsRegex("NAME +DATA +AGE\na +1 +[0-9]+s"));
  run("apply -f -", kDeployment);
  EXPECT_THAT(
      run("get deployments -o wide"),
      AllOf(ContainsRegex("NAME +READY +UP-TO-DATE +AVAILABLE +AGE +CONTAINERS +IMAGES +SELECTOR"),
            ContainsRegex("web +0/2 +0 +0 .*web +nginx:1.27 +app=web")));
  EXPECT_THAT(run("get configmap a -o yaml"),
              AllOf(StartsWith("apiVersion: v1\ndata:\n  k: v\n"), HasSubstr("kind: ConfigMap")));
  EXPECT_THAT(run("get configmap a -o json"), HasSubstr("\"k\": \"v\""));
  EXPECT_EQ(run("get configmap a -o jsonpath={.data.k}"), "v");
  EXPECT_EQ(run("get deployment web -o name"), "deployment.apps/web\n");
  EXPECT_THAT(run("get configmaps,deployments"),
              AllOf(HasSubstr("configmap/a"), HasSubstr("deployment.apps/web")));
  EXPECT_THAT(run("get configmaps --field-selector metadata.name=a -o name"), "configmap/a\n");
  EXPECT_THAT(run("get deployments -l app=other"), HasSubstr("No resources found"));
  EXPECT_THAT(run("get configmap none"),
              AllOf(StartsWith("exit 1"), HasSubstr("configmaps \"none\" not found")));
  EXPECT_THAT(run("get namespaces"), AllOf(HasSubstr("default"), HasSubstr("Active")));
  EXPECT_THAT(run("describe deployment web"), HasSubstr("RollingUpdateStrategy"));
}

TEST_F(KubectlTest, WatchesChanges) {
  // The watch ends after 4 s. The changes are made once it has printed the existing objects.
  run("create configmap before --from-literal=k=v");
  const std::string shown = (home_ / "shown").string();
  const std::string seen = run("get configmaps -w --output-watch-events --request-timeout=4s >" +
                               shown + " 2>&1 & until grep -qs before " + shown +
                               " || ! kill -0 $!; do sleep 0.02; done; kubectl -n " + space_ +
                               " create configmap seen --from-literal=k=v >/dev/null; kubectl -n " +
                               space_ + " delete configmap seen >/dev/null; wait; cat " + shown);
  EXPECT_THAT(seen, AllOf(ContainsRegex("ADDED +seen"), ContainsRegex("DELETED +seen")));
}

TEST_F(KubectlTest, ASecondApplyChangesNothing) {
  EXPECT_EQ(run("apply -f -", kDeployment), "deployment.apps/web created\n");
  EXPECT_EQ(run("apply -f -", kDeployment), "deployment.apps/web unchanged\n");
  std::string changed = kDeployment;
  changed.replace(changed.find("1.27"), 4, "1.28");
  EXPECT_EQ(run("apply -f -", changed), "deployment.apps/web configured\n");
  EXPECT_THAT(run("diff -f -", kDeployment), HasSubstr("nginx:1.27"));
  const std::string before = run("get deployment web -o jsonpath={.metadata.resourceVersion}");
  EXPECT_EQ(run("apply --server-side --force-conflicts -f -", changed),
            "deployment.apps/web serverside-applied\n");
  const std::string applied = run("get deployment web -o jsonpath={.metadata.resourceVersion}");
  EXPECT_NE(applied, before);
  run("apply --server-side --force-conflicts -f -", changed);
  EXPECT_EQ(run("get deployment web -o jsonpath={.metadata.resourceVersion}"), applied);
  EXPECT_THAT(run("apply --server-side --field-manager=other -f -", kDeployment),
              AllOf(StartsWith("exit 1"), HasSubstr("conflict")));
  EXPECT_THAT(run("apply --dry-run=server -f -", kDeployment), HasSubstr("(server dry run)"));
}

TEST_F(KubectlTest, RefusesInvalidObjects) {
  std::string wrong = kDeployment;
  wrong.replace(wrong.find("replicas"), 8, "replicaz");
  EXPECT_THAT(run("apply -f -", wrong),
              AllOf(StartsWith("exit 1"), ContainsRegex("unknown field \"(spec.)?replicaz\"")));
  std::string invalid = kPod;
  invalid.replace(invalid.find("name: main"), 10, "name: Main");
  EXPECT_THAT(
      run("create -f -", invalid),
      AllOf(StartsWith("exit 1"), HasSubstr("spec.containers[0].name: Invalid value: \"Main\"")));
}

TEST_F(KubectlTest, ChangesObjects) {
  run("create -f -", kDeployment);
  EXPECT_EQ(
      run(R"(patch deployment web -p '{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"nginx:2"}]}}}}')"),
      "deployment.apps/web patched\n");
  EXPECT_EQ(run("get deployment web -o "
                "jsonpath={.spec.template.spec.containers[0].ports[0].containerPort}"),
            "80");
  EXPECT_EQ(run(R"(patch deployment web --type=merge -p '{"spec":{"paused":true}}')"),
            "deployment.apps/web patched\n");
  EXPECT_EQ(run(R"(patch deployment web --type=json -p '[{"op":"remove","path":"/spec/paused"}]')"),
            "deployment.apps/web patched\n");
  EXPECT_EQ(run("label deployment web tier=front"), "deployment.apps/web labeled\n");
  EXPECT_EQ(run("annotate deployment web note=x"), "deployment.apps/web annotated\n");
  EXPECT_EQ(run("scale deployment web --replicas=5"), "deployment.apps/web scaled\n");
  EXPECT_EQ(run("get deployment web -o "
                "jsonpath={.spec.replicas}/{.metadata.labels.tier}/{.metadata.annotations.note}"),
            "5/front/x");
  EXPECT_EQ(run("set image deployment/web web=nginx:3"), "deployment.apps/web image updated\n");
  EXPECT_THAT(run("delete deployment web --wait=true"), HasSubstr("\"web\" deleted"));
  EXPECT_THAT(run("get deployment web"), HasSubstr("not found"));
}

TEST_F(KubectlTest, DiscoversResources) {
  EXPECT_THAT(run("api-resources"),
              AllOf(ContainsRegex("deployments +deploy +apps/v1 +true +Deployment"),
                    ContainsRegex("nodes +no +v1 +false +Node")));
  EXPECT_THAT(run("api-versions"), AllOf(HasSubstr("apps/v1\n"), HasSubstr("\nv1\n")));
  EXPECT_THAT(run("explain pods.spec"),
              AllOf(HasSubstr("KIND:"), HasSubstr("containers"), HasSubstr("nodeName")));
  EXPECT_THAT(run("version"), HasSubstr("Server Version"));
  EXPECT_THAT(run("auth can-i create pods"), StartsWith("yes"));
}

TEST_F(KubectlTest, WaitsForConditions) {
  run("create -f -", kPod);
  EXPECT_THAT(run("wait --for=condition=Ready pod/box --timeout=1s"), StartsWith("exit 1"));
  run(R"(patch pod box --subresource=status --type=merge -p '{"status":{"conditions":[{"type":"Ready","status":"True"}]}}')");
  EXPECT_THAT(run("wait --for=condition=Ready pod/box --timeout=10s"), HasSubstr("condition met"));
  EXPECT_EQ(run("delete pod box --wait=true"), "pod \"box\" deleted\n");
}

TEST_F(KubectlTest, LooksIntoContainers) {
  if (!embedded()) GTEST_SKIP() << "that takes a kubelet";
  run("create -f -", kPod);
  run(R"(patch pod box --subresource=status --type=merge -p '{"status":{"phase":"Running"}}')");
  EXPECT_EQ(run("exec box -- echo a b"), "a b\n");
  EXPECT_EQ(run("exec -i box -- cat", "what came in"), "what came in");
  EXPECT_THAT(run("exec box -- sh -c 'exit 3'"), StartsWith("exit 3"));
  EXPECT_THAT(run("exec box -c none -- true"), AllOf(StartsWith("exit 1"), HasSubstr("none")));
  EXPECT_THAT(run("logs box"), Not(StartsWith("exit")));
  EXPECT_THAT(run("logs none"), HasSubstr("not found"));
}

TEST_F(KubectlTest, CopiesFiles) {
  if (!embedded()) GTEST_SKIP() << "that takes a kubelet";
  run("create -f -", R"(apiVersion: v1
kind: Pod
metadata: {name: box}
spec:
  automountServiceAccountToken: false
  containers: [{name: host, image: busybox}]
)");
  run(R"(patch pod box --subresource=status --type=merge -p '{"status":{"phase":"Running"}}')");
  const auto read = [](const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  std::string bytes(3'000'000, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * i >> 7);
  const std::filesystem::path folder = home_ / "folder", back = home_ / "back";
  std::filesystem::create_directories(folder / "in");
  std::ofstream(folder / "large", std::ios::binary) << bytes;
  std::ofstream(folder / "in" / "a b") << "small";

  EXPECT_EQ(run("cp " + folder.string() + " box:/tmp/copied"), "");
  EXPECT_EQ(run("exec box -- cat '/tmp/copied/in/a b'"), "small");
  EXPECT_THAT(run("cp box:/tmp/copied " + back.string()), Not(StartsWith("exit")));
  EXPECT_TRUE(read(back / "large") == bytes);
  EXPECT_EQ(read(back / "in" / "a b"), "small");
}

constexpr const char* kScheduledPod = R"(apiVersion: v1
kind: Pod
metadata: {name: box}
spec:
  nodeName: here
  automountServiceAccountToken: false
  containers: [{name: main, image: busybox}]
)";

TEST_F(KubectlTest, AttachesToContainers) {
  if (!embedded()) GTEST_SKIP() << "that takes a kubelet";
  run("create -f -", kScheduledPod);
  run(R"(patch pod box --subresource=status --type=merge -p '{"status":{"phase":"Running"}}')");
  EXPECT_THAT(run("attach -i box", "what came in"), HasSubstr("what came in"));
  EXPECT_THAT(run("attach -i box -c none"), AllOf(StartsWith("exit 1"), HasSubstr("none")));
  EXPECT_THAT(run("attach none"), HasSubstr("not found"));
}

// A kubectl process that runs until the destructor ends it.
class Forwarding {
 public:
  explicit Forwarding(const std::string& command) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      dup2(ends[1], 1);
      dup2(ends[1], 2);
      const std::string script = "exec env " + command;
      execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
      _exit(127);
    }
    close(ends[1]);
    output_ = fdopen(ends[0], "r");
  }
  ~Forwarding() {
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
    fclose(output_);
  }

  // Reads the next line of its output; empty at the end.
  std::string line() {
    std::array<char, 4096> buffer;
    return fgets(buffer.data(), buffer.size(), output_) != nullptr ? buffer.data() : "";
  }

 private:
  pid_t pid_ = -1;
  std::FILE* output_ = nullptr;
};

// Sends text to a local port, and returns the answer: as many bytes as were sent, or fewer if the
// connection ends.
std::string heardFrom(int port, const std::string& sent) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval patience{.tv_sec = 30, .tv_usec = 0};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string received;
  if (connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    const std::jthread writer([&] {
      for (std::size_t done = 0; done < sent.size();) {
        const ssize_t n = send(socket, sent.data() + done, sent.size() - done, MSG_NOSIGNAL);
        if (n <= 0) return;
        done += static_cast<std::size_t>(n);
      }
    });
    std::array<char, 4096> buffer;
    while (received.size() < sent.size()) {
      const ssize_t n = recv(socket, buffer.data(), buffer.size(), 0);
      if (n <= 0) break;
      received.append(buffer.data(), static_cast<std::size_t>(n));
    }
    shutdown(socket, SHUT_RDWR);
  }
  close(socket);
  return received;
}

TEST_F(KubectlTest, ForwardsPorts) {
  if (!embedded()) GTEST_SKIP() << "that takes a kubelet";
  run("create -f -", kScheduledPod);
  run(R"(patch pod box --subresource=status --type=merge -p '{"status":{"phase":"Running"}}')");
  Forwarding kubectl(command("port-forward --address 127.0.0.1 pod/box :7 :99"));
  int echo = 0, nobody = 0;
  const std::string first = kubectl.line(), second = kubectl.line();
  ASSERT_EQ(sscanf(first.c_str(), "Forwarding from 127.0.0.1:%d -> 7", &echo), 1) << first;
  ASSERT_EQ(sscanf(second.c_str(), "Forwarding from 127.0.0.1:%d -> 99", &nobody), 1) << second;

  EXPECT_EQ(heardFrom(echo, "hello"), "hello");
  std::string much;
  for (int i = 0; much.size() < 300'000; ++i) much += std::to_string(i) + ",";
  EXPECT_EQ(heardFrom(echo, much), much);
  EXPECT_THAT(kubectl.line(), StartsWith("Handling connection for"));
  EXPECT_THAT(kubectl.line(), StartsWith("Handling connection for"));

  EXPECT_EQ(heardFrom(nobody, "hello"), "");
  std::string complaint = kubectl.line();
  while (!complaint.empty() && complaint.find("refused") == std::string::npos) {
    complaint = kubectl.line();
  }
  EXPECT_THAT(complaint, HasSubstr("connection refused"));
}

TEST_F(KubectlTest, RefusesToForwardToAMissingPod) {
  EXPECT_THAT(run("port-forward pod/none :7"), AllOf(StartsWith("exit 1"), HasSubstr("not found")));
}

TEST_F(KubectlTest, ShowsEvents) {
  EXPECT_THAT(run("create -f -",
                  "apiVersion: v1\nkind: Event\nmetadata: {name: e}\n"
                  "involvedObject: {kind: Pod, name: box, namespace: " +
                      space_ +
                      "}\n"
                      "reason: Started\nmessage: it has started\ntype: Normal\n"
                      "lastTimestamp: 2024-01-01T00:00:00Z\n"),
              HasSubstr("created"));
  EXPECT_THAT(run("get events"), ContainsRegex("Normal +Started +pod/box +it has started"));
}

TEST_F(KubectlTest, DefinesAndUsesItsOwnResources) {
  if (e2e::fallsOverCustomResources(RestClient(Config::load()))) {
    GTEST_SKIP() << "this build of the server crashes when a custom resource is written";
  }
  const std::string definition = R"(apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: networks.sample.example.com}
spec:
  group: sample.example.com
  scope: Namespaced
  names: {plural: networks, singular: network, kind: Network, shortNames: [net]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    additionalPrinterColumns: [{name: CIDR, type: string, jsonPath: .spec.cidr}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [cidr]
            properties:
              cidr: {type: string, pattern: '^[0-9./]+$'}
              mtu: {type: integer, default: 1500, maximum: 9000}
)";
  const std::string network = R"(apiVersion: sample.example.com/v1
kind: Network
metadata: {name: a}
spec: {cidr: 10.0.0.0/8}
)";
  EXPECT_THAT(run("apply -f -", definition), HasSubstr("created"));
  EXPECT_THAT(run("wait --for=condition=Established crd/networks.sample.example.com --timeout=10s"),
              HasSubstr("condition met"));
  EXPECT_EQ(run("apply -f -", network), "network.sample.example.com/a created\n");
  EXPECT_EQ(run("apply -f -", network), "network.sample.example.com/a unchanged\n");
  EXPECT_THAT(run("get net"), ContainsRegex("NAME +CIDR\na +10.0.0.0/8"));
  EXPECT_EQ(run("get net a -o jsonpath={.spec.mtu}"), "1500");
  // The schema of a definition is published a moment later.
  std::string explained;
  soak::eventually([&] {
    explained = run("explain network.spec");
    return explained.find("cidr") != std::string::npos;
  });
  EXPECT_THAT(explained, AllOf(HasSubstr("cidr"), HasSubstr("mtu")));
  EXPECT_THAT(run(R"(patch net a --type=merge -p '{"spec":{"mtu":9001}}')"),
              HasSubstr("should be less than or equal to 9000"));
  EXPECT_THAT(run("delete crd networks.sample.example.com"), HasSubstr("deleted"));
  EXPECT_THAT(run("get net"), AnyOf(HasSubstr("the server doesn't have a resource type"),
                                    HasSubstr("could not find the requested resource")));
}

TEST_F(KubectlTest, DeletesANamespaceWithItsObjects) {
  if (!embedded()) GTEST_SKIP() << "that takes a controller manager";
  const std::string other = space_ + "-2";
  run("create namespace " + other);
  run("create configmap a --from-literal=k=v -n " + other);
  EXPECT_THAT(run("delete namespace " + other), HasSubstr("deleted"));
  EXPECT_THAT(run("get configmap a -n " + other), HasSubstr("not found"));
}

}  // namespace
}  // namespace kube
