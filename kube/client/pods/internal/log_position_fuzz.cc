// Arbitrary lines of a log, cut at any line and read again from the second of the last line: a log
// with lines in order is returned without losses or repetitions. The first byte is the number of
// lines after which the log is cut.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "kube/client/pods/internal/log_position.h"

namespace log_position_fuzz {

using kube::detail::LogPosition;

void check(bool holds) {
  if (!holds) std::abort();
}

// Makes a line from each byte, that many tenths of a second after the line before.
std::vector<std::string> inOrder(std::string_view steps) {
  std::vector<std::string> lines;
  unsigned tenths = 0;
  for (const char step : steps.substr(0, 300)) {
    tenths += static_cast<unsigned char>(step) % 8;
    const unsigned seconds = tenths / 10;
    std::string stamp = "2024-01-02T0" + std::to_string(seconds / 3600) + ":";
    const auto two = [](unsigned n) { return (n < 10 ? "0" : "") + std::to_string(n); };
    stamp += two(seconds / 60 % 60) + ":" + two(seconds % 60);
    if (tenths % 10 != 0) stamp += "." + std::to_string(tenths % 10);
    lines.push_back(stamp + "Z " + std::to_string(lines.size()));
  }
  return lines;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  LogPosition any(false);
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t end = std::min(bytes.find('\n', at), bytes.size());
    if (end % 7 == 3) any.resume();
    if (const auto line = any.accept(bytes.substr(at, end - at))) check(line->size() <= end - at);
    at = end + 1;
  }

  const std::vector<std::string> lines = inOrder(bytes);
  const std::size_t step = data[0] % 16 + 1;
  LogPosition position(false);
  std::size_t next = 0;
  for (int connection = 0; next < lines.size() && connection < 1000; ++connection) {
    if (connection > 0) position.resume();
    std::size_t came = 0;
    for (const std::string& line : lines) {
      kube::Time time;
      check(kube::Time::tryParse(line.substr(0, line.find(' ')), time));
      if (time < position.since()) continue;  // the server leaves out older lines
      const auto text = position.accept(line);
      if (!text) continue;
      check(*text == std::to_string(next));
      ++next;
      if (++came == step) break;
    }
    check(came > 0);
  }
  return 0;
}

}  // namespace log_position_fuzz
