// Decoding time of JSON lists and watches made of repeated text: eight times as much text takes not
// much more than eight times as long, whatever the chunks. The first bytes pick list or watch and
// the chunk size, and where the repeated text begins and ends.
#include <time.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kube/base/error.h"
#include "kube/codec/internal/every_kind_testing.h"
#include "kube/codec/stream.h"

namespace stream_time_fuzz {

using namespace kube;
using everykind::Widget;

constexpr std::size_t kMaxItem = 256 << 10;

double processorSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Case {
  bool watch;
  std::size_t chunk;
  std::string_view before, repeated, after;

  std::string body(std::size_t size) const {
    std::string text(before);
    while (!repeated.empty() && text.size() < size) text.append(repeated);
    return text.append(after);
  }

  template <class Stream>
  void feed(Stream& stream, std::string_view text) const {
    try {
      for (; !text.empty(); text.remove_prefix(std::min(chunk, text.size()))) {
        stream.feed(text.substr(0, chunk));
      }
      stream.finish();
    } catch (const DecodeError&) {
      // Errors take time too.
    }
  }

  double seconds(std::size_t size) const {
    const std::string text = body(size);
    const StreamOptions options{.ownPool = false, .maxItemBytes = kMaxItem};
    const double begun = processorSeconds();
    if (watch) {
      WatchDecoder<Widget> stream([](WatchEvent<Widget>&&) {}, options);
      feed(stream, text);
    } else {
      ListDecoder<Widget> stream([](Widget&&) {}, options);
      feed(stream, text);
    }
    return processorSeconds() - begun;
  }
};

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4 || size > 4096) return 0;
  constexpr std::array<std::size_t, 4> kChunks = {32, 1000, 16 << 10, std::size_t{1} << 30};
  const std::string_view text(reinterpret_cast<const char*>(data) + 3, size - 3);
  const std::size_t from = std::min<std::size_t>(data[1] * 8U, text.size());
  const std::size_t length = std::min<std::size_t>(data[2] * 8U + 1, text.size() - from);
  const Case tried{.watch = (data[0] & 1) != 0,
                   .chunk = kChunks[(data[0] >> 1) % kChunks.size()],
                   .before = text.substr(0, from),
                   .repeated = text.substr(from, length),
                   .after = text.substr(from + length)};
  constexpr std::size_t kSmall = 192 << 10;
  double small = tried.seconds(kSmall), large = tried.seconds(8 * kSmall);
  // Disturbances make a measurement longer, so the shortest of a few counts.
  for (int i = 0; i < 5 && large > 24 * small + 0.1; ++i) {
    small = std::max(small, tried.seconds(kSmall));
    large = std::min(large, tried.seconds(8 * kSmall));
  }
  if (large > 24 * small + 0.1) std::abort();
  return 0;
}

}  // namespace stream_time_fuzz
