// Decodes arbitrary bytes as SPDY, on the client's or the server's side, in pieces of any size.
// Nothing crashes, and the events do not depend on the pieces. The first byte selects the side, the
// second the size of the pieces.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "kube/base/error.h"
#include "kube/http/internal/streams/spdy.h"

namespace spdy_fuzz {

using namespace kube::detail;

class Recorder final : public SpdyConnection {
 public:
  using SpdyConnection::SpdyConnection;
  std::string events;  // without the borders of pieces of data

 private:
  void opened(std::uint32_t stream, const SpdyHeaderList& headers, bool last) override {
    events += "open " + std::to_string(stream) + (last ? "!" : "");
    for (const auto& [name, value] : headers) events += name + "=" + value + ";";
    accept(stream);
  }
  void data(std::uint32_t stream, std::string_view bytes, bool last) override {
    if (std::exchange(stream_, stream) != stream) events += "data " + std::to_string(stream);
    events += bytes;
    if (last) events += "!";
  }
  void wasReset(std::uint32_t stream) override { events += "reset " + std::to_string(stream); }
  bool write(std::string_view bytes, const std::stop_token&) override {
    events += bytes;
    return true;
  }
  void writeNow(std::string_view bytes) override { events += bytes; }

  std::uint32_t stream_ = 0;  // the stream of the last data
};

std::string outcome(std::string_view bytes, std::size_t size, SpdyConnection::Side side) {
  Recorder connection(side);
  if (side == SpdyConnection::Side::Client) {
    for (int i = 0; i < 4; ++i) connection.open({{"port", "80"}});
  }
  try {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(size, bytes.size()))) {
      connection.received(std::string(bytes.substr(0, size)));
    }
  } catch (const kube::DecodeError&) {
    connection.events += " failed";
  }
  return connection.events;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto side = data[0] % 2 == 0 ? SpdyConnection::Side::Client : SpdyConnection::Side::Server;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  if (outcome(bytes, std::max<std::size_t>(data[1], 1), side) !=
      outcome(bytes, std::max<std::size_t>(bytes.size(), 1), side)) {
    std::abort();
  }
  return 0;
}

}  // namespace spdy_fuzz
