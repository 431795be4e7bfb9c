// Runs every fuzzer on its corpus: fuzz_corpus FOLDER. The folder has a folder for each fuzzer. A
// fuzzer that finds a problem ends the program.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" {
#define FUZZER(name) int name(const std::uint8_t* data, std::size_t size);
FUZZERS
#undef FUZZER
}

namespace {

using Fuzzer = int(const std::uint8_t* data, std::size_t size);

int run(const char* name, Fuzzer* fuzzer, const std::filesystem::path& folder) {
  int count = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder / name)) {
    std::ifstream in(file.path(), std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), {});
    std::printf("%s %s\n", name, file.path().filename().c_str());
    std::fflush(stdout);  // names the file if the fuzzer ends the program
    fuzzer(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    ++count;
  }
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: fuzz_corpus FOLDER\n");
    return 2;
  }
  int least = 1;
#define FUZZER(name) least = std::min(least, run(#name, name, argv[1]));
  FUZZERS
#undef FUZZER
  return least > 0 ? 0 : 1;  // every fuzzer has a corpus
}
