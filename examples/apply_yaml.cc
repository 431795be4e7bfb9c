// Applies a file of YAML documents to the cluster of the kubeconfig, like kubectl apply
// --server-side, and prints the outcome for each object.
//
//   apply_yaml FILE [NAMESPACE]         ("-": standard input)

#include <fstream>
#include <iostream>
#include <iterator>

#include "kube/client/api_discovery/discovery_rest_mapper.h"
#include "kube/client/manifest.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: apply_yaml FILE [NAMESPACE]\n";
    return 2;
  }
  try {
    std::ifstream file;
    if (std::string_view(argv[1]) != "-") file.open(argv[1]);
    std::istream& in = file.is_open() ? file : std::cin;
    if (std::string_view(argv[1]) != "-" && !file) {
      std::cerr << argv[1] << ": cannot be read\n";
      return 1;
    }
    const std::string text(std::istreambuf_iterator<char>(in), {});

    const auto config = kube::Config::load();
    const kube::RestClient rest(config);
    const auto mapper = kube::discoveryRestMapper(kube::DiscoveryClient(rest));
    const auto report = kube::applyFromYaml(
        kube::DynamicClient(rest), *mapper, text,
        {.namespace_ = argc > 2 ? argv[2] : config.namespace_,
         .fieldManager = "apply-yaml",
         .continueOnError = true,
         .progress = [](const auto& result) { std::cout << toString(result) << std::endl; }});
    return report.ok() ? 0 : 1;
  } catch (const kube::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
