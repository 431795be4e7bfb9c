#include "codegen/write_files.h"

#include <fstream>
#include <sstream>
#include <system_error>

#include "kube/base/error.h"

namespace kube::codegen {

namespace {

bool writeIfChanged(const std::filesystem::path& path, const std::string& content) {
  std::ifstream old(path, std::ios::binary);
  std::stringstream before;
  before << old.rdbuf();
  if (old && before.str() == content) return false;
  std::error_code failed;
  std::filesystem::create_directories(path.parent_path(), failed);
  std::ofstream out(path, std::ios::trunc | std::ios::binary);
  out << content;
  out.close();
  if (!out) throw Error(path.string() + ": cannot be written");
  return true;
}

}  // namespace

std::size_t writeFiles(const std::filesystem::path& folder,
                       const std::vector<GeneratedFile>& files) {
  std::size_t changed = 0;
  for (const GeneratedFile& file : files) {
    changed += writeIfChanged(folder / file.path, file.content) ? 1 : 0;
  }
  return changed;
}

}  // namespace kube::codegen
