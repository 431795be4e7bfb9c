// SPDY/3.1, either side of it, as far as Kubernetes' port-forward uses it: streams that a client
// opens, data in both directions, pings, resets.
//
//   class Session : public SpdyConnection { ... };      // says what to do with streams
//   session.received(bytes);                             // what comes, in any pieces
//
// Windows are not kept, as Kubernetes' own implementation keeps none: neither side of it ever opens
// them again. The connection below holds back who sends too much.
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

/// Packs and unpacks blocks of headers, each on the base of all before it.
class SpdyHeaders {
 public:
  SpdyHeaders();
  ~SpdyHeaders();

  /// Throws DecodeError for what is no block, or unpacks into more than 64 KiB.
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

  /// Throws DecodeError for what is not SPDY; the connection has to be closed then, after goAway().
  void received(std::string_view bytes);

  /// Waits for room; false when the client is gone or the token triggered.
  bool sendData(std::uint32_t stream, std::string_view bytes, bool last,
                const std::stop_token& stop);
  void sendReset(std::uint32_t stream, Reset why);
  /// Because of an error of the other side's.
  void goAway();
  /// A client's new stream, with names of headers in lower case; 0 where the connection takes no
  /// more.
  std::uint32_t open(const SpdyHeaderList& headers);

 protected:
  /// A client's new one: accept() or sendReset().
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
  std::string head_;      // of the frame that is coming
  std::string body_;      // of it, if it is a control frame
  std::size_t left_ = 0;  // of it
  bool inFrame_ = false, isControl_ = false;
  std::uint16_t type_ = 0;
  std::uint8_t flags_ = 0;
  std::uint32_t stream_ = 0;
  std::uint32_t lastStream_ = 0;  // that was opened
  bool leaving_ = false;
};

}  // namespace kube::detail
