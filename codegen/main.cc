// kubexx-codegen SCHEMA-FOLDER PROJECT-FOLDER: writes kube/api, and the generated files of
// kube/meta, kube/client and kube/cache.
#include <cstdio>
#include <filesystem>

#include "codegen/generate.h"
#include "codegen/write_files.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: kubexx-codegen SCHEMA-FOLDER PROJECT-FOLDER\n");
    return 2;
  }
  try {
    const kube::codegen::Schema schema = kube::codegen::readSchema(argv[1]);
    const std::filesystem::path project(argv[2]);
    std::size_t files = 0;
    std::size_t changed = 0;
    const auto write = [&](const std::vector<kube::codegen::GeneratedFile>& generated) {
      files += generated.size();
      changed += kube::codegen::writeFiles(project, generated);
    };
    for (const auto& [name, package] : schema) {
      write(kube::codegen::generatePackage(schema, package));
    }
    write(kube::codegen::generateRegistry(schema));
    write(kube::codegen::generatePackages(schema));
    write(kube::codegen::generateClients(schema));
    write(kube::codegen::generateInformers(schema));
    std::printf("%zu packages, %zu files, %zu changed\n", schema.size(), files, changed);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kubexx-codegen: %s\n", error.what());
    return 1;
  }
}
