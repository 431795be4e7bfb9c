#include "kube/controller/internal/process_facts.h"

#include <fmt/core.h>
#include <malloc.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

namespace kube::detail {
namespace {

constexpr std::size_t kKilobyte = 1024;

// Lines of /proc/self/status, with their values.
std::string statusLines() {
  std::string text;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    for (const std::string_view wanted : {"VmHWM:", "VmRSS:", "Threads:"}) {
      if (line.starts_with(wanted)) text += line + "\n";
    }
  }
  return text;
}

std::string heapLines() {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
  const struct mallinfo2 heap = mallinfo2();
  return fmt::format(
      "heap: {} kB in use, {} kB free, {} kB mapped for large blocks; blocks of objects are in "
      "pages besides\n",
      heap.uordblks / kKilobyte, heap.fordblks / kKilobyte, heap.hblkhd / kKilobyte);
#else
  return {};
#endif
}

std::string descriptorLine() {
  std::error_code error;
  const std::filesystem::directory_iterator open("/proc/self/fd", error);
  if (error) return {};
  // The iterator has one itself.
  return fmt::format("descriptors: {}\n", std::distance(begin(open), end(open)) - 1);
}

}  // namespace

std::string describeProcess() { return statusLines() + heapLines() + descriptorLine(); }

}  // namespace kube::detail
