// Lists and watches under arbitrary bytes, in chunks of any size: decoding gives the same result as
// for the whole body, or both fail. The first byte picks list or watch and the limit for items, the
// next four the sizes of the chunks, which repeat.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/error.h"
#include "kube/codec/internal/every_kind_testing.h"
#include "kube/codec/json.h"
#include "kube/codec/protobuf.h"
#include "kube/codec/stream.h"

namespace stream_fuzz {

using namespace kube;
using everykind::Widget;

void check(bool holds) {
  if (!holds) std::abort();
}

struct Outcome {
  std::vector<std::string> objects;
  bool failed = false;
};

template <class Stream>
void feed(Stream& stream, std::string_view body, const std::array<std::size_t, 4>& sizes) {
  for (std::size_t i = 0; !body.empty(); ++i) {
    // A separate copy, so that reading past its end is detected.
    const std::string chunk(body.substr(0, sizes[i % sizes.size()]));
    stream.feed(chunk);
    body.remove_prefix(chunk.size());
  }
}

Outcome list(std::string_view body, const std::array<std::size_t, 4>& sizes,
             const StreamOptions& options) {
  Outcome outcome;
  try {
    ListDecoder<Widget> stream(
        [&](Widget&& widget) { outcome.objects.push_back(toProtobuf(widget)); }, options);
    feed(stream, body, sizes);
    outcome.objects.push_back(toProtobuf(stream.finish()));
  } catch (const DecodeError&) {
    outcome.failed = true;
  }
  return outcome;
}

Outcome watch(std::string_view body, const std::array<std::size_t, 4>& sizes,
              const StreamOptions& options) {
  Outcome outcome;
  try {
    WatchDecoder<Widget> stream(
        [&](WatchEvent<Widget>&& event) {
          outcome.objects.push_back(std::string(toString(event.type)) + " " +
                                    toProtobuf(event.object) + toProtobuf(event.status));
        },
        options);
    feed(stream, body, sizes);
    stream.finish();
  } catch (const DecodeError&) {
    outcome.failed = true;
  }
  return outcome;
}

void checkAlike(const Outcome& a, const Outcome& b) {
  check(a.failed == b.failed);
  check(a.failed || a.objects.size() == b.objects.size());
  // Either stream may have decoded more objects than the other before it failed.
  const auto common = static_cast<std::ptrdiff_t>(std::min(a.objects.size(), b.objects.size()));
  check(std::equal(a.objects.begin(), a.objects.begin() + common, b.objects.begin()));
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 5) return 0;
  const std::string_view body(reinterpret_cast<const char*>(data) + 5, size - 5);
  std::array<std::size_t, 4> sizes{};
  for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] = std::size_t{data[i + 1]} + 1;
  const std::array<std::size_t, 4> whole{body.size(), body.size(), body.size(), body.size()};

  StreamOptions options{.ownPool = (data[0] & 2) == 0};
  if ((data[0] & 4) != 0) options.maxItemBytes = std::size_t{data[0]} >> 3;
  const auto run = (data[0] & 1) == 0 ? &list : &watch;
  const Outcome atOnce = run(body, whole, options);
  const Outcome inParts = run(body, sizes, options);
  checkAlike(atOnce, inParts);
  if (body.size() < 2048) checkAlike(atOnce, run(body, {1, 1, 1, 1}, options));
  options.ownPool = !options.ownPool;
  const Outcome otherPool = run(body, sizes, options);
  check(inParts.failed == otherPool.failed && inParts.objects == otherPool.objects);
  return 0;
}

}  // namespace stream_fuzz
