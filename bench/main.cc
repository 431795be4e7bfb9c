// kubexx-bench: measures the library. Every result is one JSON line with the keys that the peers'
// programs print, so that runs can be compared.
//
//   decode FILE [--no-pool] [--shuffle] [--stream]   a saved PodList, JSON or protobuf
//   encode FILE TYPE                                 TYPE: application/json, ...protobuf
//   seed N                                           creates the peers' N pods on a server
//   list MODE [--raw]                                lists all of them, or only reads the bytes
//   get MODE [--count N] [--threads N]               GETs of one of them
//   sync MODE [--paged]                              fills an informer of pods
//   dynsync, metasync [--paged]                      without structs, or of metadata only
//   events MODE N                                    N updates after that, which churn makes
//   churn N                                          N updates
//   latency MODE FILE [--seconds 10]                 notes when events reach their handler
//   paced RATE [--seconds 10] [--acks FILE]          makes the events, and notes when each was made
//   awaited N [--in-flight 1000] [--blocking]        N GETs by coroutines on one thread
//   stall MODE                                       how long handlers keep an io_context busy
//   configmaps N, informers N                        N informers, each of its own namespace
//   watchers N [--watchers 10]                       N changes, seen by all watchers
//   store [--threads N]                              adds to and reads from the store of a cache
//   queue [--workers 1,4] [--object-keys] [--named]  a work queue
//   reconcile N [--workers N]                        the sample operator, until all N are ready
//   reconciles N [--workers N] [--in-flight N]       a controller that waits, without a server
//   networks N                                       creates the N Networks, meanwhile or before
//   exec [--mb N]                                    N MB through exec, each way; cancellation
//   record FOLDER, replay FOLDER --kubeconfig FILE   a server that sends recorded answers
//
// MODE is proto or json. decode, encode and list repeat their work --rounds times (3). The server
// is the one of $KUBECONFIG.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "bench/awaited.h"
#include "bench/exec.h"
#include "bench/get.h"
#include "bench/informers.h"
#include "bench/latency.h"
#include "bench/many.h"
#include "bench/measure.h"
#include "bench/queue.h"
#include "bench/reconcile.h"
#include "bench/reconciles.h"
#include "bench/replay.h"
#include "bench/seed.h"
#include "bench/store.h"
#include "kube/api/core/v1.h"
#include "kube/codec/json.h"
#include "kube/codec/protobuf.h"
#include "kube/codec/stream.h"

namespace {

using namespace kube::bench;
using kube::corev1::Pod;
using kube::corev1::PodList;

std::string readFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(path + ": cannot be read");
  std::string content(std::filesystem::file_size(path), '\0');
  in.read(content.data(), static_cast<std::streamsize>(content.size()));
  return content;
}

// Returns the same list with its items in a random order, which is the same in every run.
std::string shuffled(const std::string& bytes) {
  PodList list =
      kube::isProtobuf(bytes) ? kube::fromProtobuf<PodList>(bytes) : kube::fromJson<PodList>(bytes);
  std::vector<Pod> pods(std::as_const(list).items.begin(), std::as_const(list).items.end());
  std::shuffle(pods.begin(), pods.end(), std::mt19937_64(1));
  list.items = kube::List<Pod>(pods.begin(), pods.end());
  return kube::isProtobuf(bytes) ? kube::toProtobuf(list) : kube::toJson(list);
}

int decode(const std::string& path, bool pooled, bool shuffle, bool stream, int rounds) {
  std::string bytes = readFile(path);
  const std::string name = std::filesystem::path(path).filename().string();
  if (shuffle) {
    // Written to a file for another process, so that the memory of shuffling does not count.
    const std::string content = shuffled(bytes);
    const std::string file = path + ".shuffled";
    std::ofstream(file, std::ios::binary) << content;
    fmt::print("{{\"impl\":\"kubexx\",\"bench\":\"shuffle\",\"file\":\"{}\"}}\n", file);
    return 0;
  }
  for (int round = 0; round < rounds; ++round) {
    const long before = statusKb("VmRSS:");
    resetPeak();
    Stopwatch watch;
    std::size_t items = 0;
    PodList list;
    if (stream) {
      kube::ListDecoder<Pod> in([&](Pod&&) { ++items; });
      for (std::size_t at = 0; at < bytes.size(); at += 64 << 10) {
        in.feed(std::string_view(bytes).substr(at, 64 << 10));
      }
      in.finish();
    } else {
      const kube::DecodeOptions options{.pool = nullptr, .shareItems = pooled};
      list = kube::isProtobuf(bytes) ? kube::fromProtobuf<PodList>(bytes, options)
                                     : kube::fromJson<PodList>(bytes, options);
      items = list.items.size();
    }
    const double wall = watch.wall();
    const double cpu = watch.cpu();
    const long grown = statusKb("VmRSS:") - before;
    fmt::print(
        "{{\"impl\":\"kubexx\",\"bench\":\"decode\",\"file\":\"{}\",\"items\":{},\"bytes\":{},"
        "\"wall_s\":{:.6f},\"cpu_s\":{:.6f},\"mb_per_s\":{},\"pool\":{},\"stream\":{},"
        "\"rss_kb\":{},\"grown_kb\":{},\"peak_rss_kb\":{},\"peak_growth_kb\":{},"
        "\"bytes_per_item\":{}}}\n",
        name, items, bytes.size(), wall, cpu, static_cast<long>(bytes.size() / 1e6 / wall), pooled,
        stream, statusKb("VmRSS:"), grown, statusKb("VmHWM:"), statusKb("VmHWM:") - before,
        items == 0 ? 0 : grown * 1024 / static_cast<long>(items));
  }
  return 0;
}

int encode(const std::string& path, const std::string& type, int rounds) {
  const std::string bytes = readFile(path);
  const PodList list =
      kube::isProtobuf(bytes) ? kube::fromProtobuf<PodList>(bytes) : kube::fromJson<PodList>(bytes);
  for (int round = 0; round < rounds; ++round) {
    Stopwatch watch;
    const std::string out =
        type.find("protobuf") != std::string::npos ? kube::toProtobuf(list) : kube::toJson(list);
    const double wall = watch.wall();
    fmt::print(
        "{{\"impl\":\"kubexx\",\"bench\":\"encode\",\"type\":\"{}\",\"bytes\":{},\"wall_s\":{:.6f},"
        "\"mb_per_s\":{},\"rss_kb\":{}}}\n",
        type, out.size(), wall, static_cast<long>(out.size() / 1e6 / wall), statusKb("VmRSS:"));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  const auto has = [&](std::string_view flag) {
    return std::find(args.begin(), args.end(), flag) != args.end();
  };
  // The number after a flag.
  const auto number = [&](std::string_view flag, int otherwise) {
    const auto at = std::find(args.begin(), args.end(), flag);
    return at == args.end() || at + 1 == args.end() ? otherwise : std::stoi(at[1]);
  };
  const auto text = [&](std::string_view flag, const std::string& otherwise) {
    const auto at = std::find(args.begin(), args.end(), flag);
    return at == args.end() || at + 1 == args.end() ? otherwise : at[1];
  };
  const auto numbers = [&](std::string_view flag, const std::string& otherwise) {
    std::vector<int> all;
    std::stringstream in(text(flag, otherwise));
    for (std::string one; std::getline(in, one, ',');) all.push_back(std::stoi(one));
    return all;
  };
  const int rounds = number("--rounds", 3);
  try {
    if (args.size() >= 2 && args[0] == "decode") {
      return decode(args[1], !has("--no-pool"), has("--shuffle"), has("--stream"), rounds);
    }
    if (args.size() >= 3 && args[0] == "encode") return encode(args[1], args[2], rounds);
    if (args.size() >= 2 && args[0] == "seed") return seed(std::stoi(args[1]));
    if (args.size() >= 2 && args[0] == "get") {
      return get(args[1], number("--count", 3000), number("--threads", 1));
    }
    if (args.size() >= 2 && args[0] == "list") {
      return has("--raw") ? rawList(args[1], rounds) : list(args[1], rounds);
    }
    if (args.size() >= 2 && args[0] == "sync") return sync(args[1], has("--paged"));
    if (!args.empty() && args[0] == "dynsync") return sync("dynamic", has("--paged"));
    if (!args.empty() && args[0] == "metasync") return sync("metadata", has("--paged"));
    if (args.size() >= 3 && args[0] == "events") return events(args[1], std::stoi(args[2]));
    if (args.size() >= 3 && args[0] == "latency") {
      return latency(args[1], number("--seconds", 10), args[2]);
    }
    if (args.size() >= 2 && args[0] == "paced") {
      return pacedWrites(std::stoi(args[1]), number("--seconds", 10), text("--acks", "acks"));
    }
    if (args.size() >= 2 && args[0] == "awaited") {
      return awaitedGets(std::stoi(args[1]), number("--in-flight", 1000), has("--blocking"));
    }
    if (args.size() >= 2 && args[0] == "stall") return stall(args[1]);
    if (args.size() >= 2 && args[0] == "churn") return churn(std::stoi(args[1]));
    if (!args.empty() && args[0] == "store") return store(number("--threads", 1));
    if (args.size() >= 2 && args[0] == "networks") return createNetworks(std::stoi(args[1]));
    if (args.size() >= 2 && args[0] == "reconcile") {
      return reconcile(std::stoi(args[1]), number("--workers", 8));
    }
    if (args.size() >= 2 && args[0] == "reconciles") {
      return reconciles(std::stoi(args[1]), number("--workers", 2), number("--in-flight", 0));
    }
    if (!args.empty() && args[0] == "exec") {
      return kube::bench::exec(static_cast<std::size_t>(number("--mb", 1024)));
    }
    if (!args.empty() && args[0] == "queue") {
      return queue(has("--object-keys"), has("--named"), numbers("--workers", "1,4"));
    }
    if (args.size() >= 2 && args[0] == "configmaps") return createConfigMaps(std::stoi(args[1]));
    if (args.size() >= 2 && args[0] == "informers") return informers(std::stoi(args[1]));
    if (args.size() >= 2 && args[0] == "watchers") {
      return watchers(std::stoi(args[1]), number("--watchers", 10));
    }
    if (args.size() >= 2 && args[0] == "record") return record(args[1], number("--limit", 0));
    if (args.size() >= 2 && args[0] == "replay") {
      return replay(args[1], text("--kubeconfig", "replay.kubeconfig"));
    }
    fmt::print(stderr,
               "usage: kubexx-bench decode FILE [--rounds N] [--no-pool] [--stream] [--shuffle]\n"
               "       kubexx-bench encode FILE TYPE [--rounds N]\n"
               "       kubexx-bench seed N\n"
               "       kubexx-bench get proto|json [--count N] [--threads N]\n"
               "       kubexx-bench list proto|json [--raw] [--rounds N]\n"
               "       kubexx-bench sync proto|json [--paged] | dynsync | metasync\n"
               "       kubexx-bench events proto|json N\n"
               "       kubexx-bench churn N\n"
               "       kubexx-bench latency proto|json FILE [--seconds S]\n"
               "       kubexx-bench paced RATE [--seconds S] [--acks FILE]\n"
               "       kubexx-bench awaited N [--in-flight N] [--blocking]\n"
               "       kubexx-bench stall proto|json\n"
               "       kubexx-bench store [--threads N]\n"
               "       kubexx-bench queue [--workers N,N...] [--object-keys] [--named]\n"
               "       kubexx-bench configmaps N | informers N\n"
               "       kubexx-bench watchers N [--watchers N]\n"
               "       kubexx-bench reconcile N [--workers N] | networks N\n"
               "       kubexx-bench reconciles N [--workers N] [--in-flight N]\n"
               "       kubexx-bench exec [--mb N]\n"
               "       kubexx-bench record FOLDER [--limit N] | replay FOLDER --kubeconfig FILE\n");
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "kubexx-bench: {}\n", error.what());
    return 1;
  }
}
