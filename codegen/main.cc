// kubexx-codegen SCHEMA-FOLDER PROJECT-FOLDER: writes kube/api, and what is
// generated of kube/meta and kube/client.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "codegen/generate.h"

namespace {

// Unchanged files keep their time, so that nothing is rebuilt for them.
bool writeIfChanged(const std::filesystem::path& path, const std::string& content) {
  std::ifstream old(path);
  std::stringstream before;
  before << old.rdbuf();
  if (old && before.str() == content) return false;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::trunc);
  out << content;
  out.close();
  if (!out) throw std::runtime_error(path.string() + ": cannot be written");
  return true;
}

}  // namespace

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
      for (const auto& file : generated) {
        ++files;
        changed += writeIfChanged(project / file.path, file.content) ? 1 : 0;
      }
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
