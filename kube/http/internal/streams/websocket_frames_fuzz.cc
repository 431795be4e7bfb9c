// Decodes arbitrary bytes as frames of a WebSocket, sent by a server or by a client, in pieces of
// any size. The result is the same as for one piece, or both fail. The first byte selects the
// sender, the second the size of the pieces.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kube/base/error.h"
#include "kube/http/internal/streams/websocket_frames.h"

namespace websocket_frames_fuzz {

using namespace kube::detail;
using Event = WebSocketFrames::Event;

void check(bool holds) {
  if (!holds) std::abort();
}

// The content of the frames, regardless of how it was cut.
std::string outcome(std::string_view bytes, std::size_t size, WebSocketFrames::From from) {
  WebSocketFrames frames(from);
  std::string said;
  const auto take = [&](const WebSocketFrames::Part& part) {
    if (part.event == Event::Data) {
      if (part.first) said += '<';
      said += part.payload;
      if (part.last) said += '>';
      return;
    }
    check(part.payload.size() <= WebSocketFrames::kMaxControl);
    said += static_cast<char>('a' + static_cast<int>(part.event));
    if (part.event == Event::Close) {
      const WebSocketClose close = WebSocketClose::parse(part.payload);
      check(close.payload() == part.payload);
    }
    said += part.payload;
  };
  try {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(size, bytes.size()))) {
      std::string piece(bytes.substr(0, size));
      if (from == WebSocketFrames::From::Client) {
        std::span<char> rest(piece);
        while (const auto part = frames.next(rest)) take(*part);
        check(rest.empty());
      } else {
        std::string_view rest = piece;
        while (const auto part = frames.next(rest)) take(*part);
        check(rest.empty());
      }
    }
  } catch (const kube::DecodeError&) {
    said += " failed";
  }
  return said;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto from =
      data[0] % 2 == 0 ? WebSocketFrames::From::Server : WebSocketFrames::From::Client;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  check(outcome(bytes, std::max<std::size_t>(data[1], 1), from) ==
        outcome(bytes, std::max<std::size_t>(bytes.size(), 1), from));
  return 0;
}

}  // namespace websocket_frames_fuzz
