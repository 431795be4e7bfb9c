// A plugin that contains kubexx, for a program that knows nothing of kubexx. It exports one plain
// function.
#include <kube/api/core/v1.h>
#include <kube/base/error.h>
#include <kube/codec/json.h>
#include <kube/codec/yaml.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace {

// Makes and frees objects of all sizes, some on another thread than the one that made them.
int decodePods(int rounds) {
  kube::List<kube::corev1::Pod> pods;
  for (int i = 0; i < rounds; ++i) {
    pods.push_back(kube::fromYaml<kube::corev1::Pod>(
        "metadata: {name: web-" + std::to_string(i) +
        ", labels: {app: web}}\nspec: {containers: [{name: main, image: nginx}]}\n"));
  }
  int good = 0;
  std::jthread([&good, pods = std::move(pods)] {
    for (const auto& pod : pods) {
      good += kube::fromJson<kube::corev1::Pod>(kube::toJson(pod)) == pod ? 1 : 0;
    }
  }).join();
  return good;
}

}  // namespace

/// Returns the number of pods that survived a round trip; -1 if a DecodeError was not thrown.
extern "C" [[gnu::visibility("default")]] int pluginRun(int threads, int rounds) {
  std::atomic<int> good = 0;
  {
    std::vector<std::jthread> running;
    for (int i = 0; i < threads; ++i) running.emplace_back([&] { good += decodePods(rounds); });
  }
  try {
    kube::fromJson<kube::corev1::Pod>("{");
    return -1;
  } catch (const kube::DecodeError&) {
    return good;
  }
}
