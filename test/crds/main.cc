// Tries the code that was generated from definitions. The arguments are their files or folders.
#include <fmt/core.h>

#include "crds.h"
#include "test/crds/round_trip.h"

int main(int argc, char** argv) {
  try {
    kube::Scheme scheme;
    addAllToScheme(scheme);
    const auto result = kube::crds::roundTrip(scheme, {argv + 1, argv + argc});
    for (const std::string& problem : result.problems) fmt::print(stderr, "{}\n", problem);
    fmt::print("{} definitions, {} versions, {} problems\n", result.definitions, result.versions,
               result.problems.size());
    return result.problems.empty() && result.definitions > 0 ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "known-crds: {}\n", error.what());
    return 1;
  }
}
