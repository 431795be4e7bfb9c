// Arbitrary messages from a container: the output is exactly the bytes of stdout and stderr, in
// order, and no byte is counted twice or forgotten. Every message is a length and that many bytes;
// the first byte of the input is the size of the pieces in which messages arrive.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "kube/client/pods/internal/container_channels.h"

namespace container_channels_fuzz {

using kube::detail::ContainerChannels;

void check(bool holds) {
  if (!holds) std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t step = std::max<std::size_t>(data[0], 1);
  std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  ContainerChannels channels;
  std::string said;
  std::size_t fed = 0, done = 0;
  while (!bytes.empty()) {
    const auto length = static_cast<std::uint8_t>(bytes[0]);
    bytes.remove_prefix(1);
    std::string_view message = bytes.substr(0, length);
    bytes.remove_prefix(message.size());
    fed += message.size();
    if (!message.empty() && (message[0] == 1 || message[0] == 2)) said += message.substr(1);
    bool first = true;
    do {
      const std::string piece(message.substr(0, step));
      message.remove_prefix(piece.size());
      done += channels.onData(piece, std::exchange(first, false), message.empty());
    } while (!message.empty());
  }
  channels.onClosed({});
  ContainerChannels::Block block;
  std::string heard;
  while (channels.take(block)) heard += block.bytes;
  check(heard == said);
  check(done + heard.size() == fed);
  check(channels.status().size() <= ContainerChannels::kMaxStatus);
  return 0;
}

}  // namespace container_channels_fuzz
