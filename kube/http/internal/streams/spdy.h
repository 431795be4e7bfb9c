// SPDY/3.1, client and server side, as far as Kubernetes' port-forward uses it: streams that a
// client opens, data in both directions, pings, resets.
//
//   class Session : public SpdyConnection { ... };  // decides what to do with streams
//   session.received(bytes);                        // received data, in any pieces
//
// No flow control windows are kept, as in Kubernetes' own implementation: neither side of that ever
// opens them again. The connection below slows a fast sender down.
//
// Thread safety: received(), open() and the virtual functions belong to the connection's strand;
// the other functions that send may be called from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube::detail {

using SpdyHeaderList = std::vector<std::pair<std::string, std::string>>;

/// Compresses and decompresses blocks of headers, each with the state of all blocks before it.
class SpdyHeaders {
 public:
  SpdyHeaders();
  ~SpdyHeaders();

  /// Throws DecodeError for a malformed block and for more than 64 KiB of headers.
  SpdyHeaderList unpack(std::string_view block);
  std::string pack(const SpdyHeaderList& headers);

  static const std::string& dictionary();

 private:
  struct Streams;
  std::unique_ptr<Streams> streams_;
};

class SpdyConnection {
 public:
  enum class Reset : std::uint32_t { Protocol = 1, InvalidStream = 2, Refused = 3, Cancel = 5 };

  enum class Side : unsigned char { Client, Server };

  explicit SpdyConnection(Side side) : isClient_(side == Side::Client) {}
  virtual ~SpdyConnection() = default;

  /// Throws DecodeError for malformed data; then the connection has to be closed, after goAway().
  void received(std::string_view bytes);

  /// Waits for room. Returns false if the client is gone or the token is triggered.
  bool sendData(std::uint32_t stream, std::string_view bytes, bool last,
                const std::stop_token& stop);
  void sendReset(std::uint32_t stream, Reset why);
  /// Sends GOAWAY, after an error of the other side.
  void goAway();
  /// Opens a stream of a client, with header names in lower case. Returns 0 if the connection takes
  /// no more.
  std::uint32_t open(const SpdyHeaderList& headers);

 protected:
  /// Called for a new stream of a client; has to call accept() or sendReset().
  virtual void opened(std::uint32_t stream, const SpdyHeaderList& headers, bool last);
  virtual void data(std::uint32_t stream, std::string_view bytes, bool last) = 0;
  virtual void wasReset(std::uint32_t stream) = 0;
  virtual bool write(std::string_view bytes, const std::stop_token& stop) = 0;
  virtual void writeNow(std::string_view bytes) = 0;

  void accept(std::uint32_t stream);

 private:
  void control(std::string_view body);
  void streamOpened(std::string_view body);

  const bool isClient_;
  SpdyHeaders headers_;
  std::string head_;      // of the current frame
  std::string body_;      // of the current frame, if it is a control frame
  std::size_t left_ = 0;  // of the current frame
  bool inFrame_ = false, isControl_ = false;
  std::uint16_t type_ = 0;
  std::uint8_t flags_ = 0;
  std::uint32_t stream_ = 0;
  std::uint32_t lastStream_ = 0;  // the last one opened
  bool leaving_ = false;
};

}  // namespace kube::detail
