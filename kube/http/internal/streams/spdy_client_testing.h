// The client's side of SPDY/3.1, for tests.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "kube/http/internal/streams/spdy.h"

namespace kube::detail {

class SpdyPeer {
 public:
  struct Frame {
    std::uint16_t type = 0;  // 0: data
    std::uint8_t flags = 0;
    std::uint32_t stream = 0;  // or the first number of another frame
    std::uint32_t status = 0;  // of a reset
    std::string body = {};
  };

  SpdyPeer() {
    const std::string& words = SpdyHeaders::dictionary();
    deflateInit(&out_, Z_BEST_COMPRESSION);
    deflateSetDictionary(&out_, reinterpret_cast<const Bytef*>(words.data()),
                         static_cast<uInt>(words.size()));
  }
  ~SpdyPeer() { deflateEnd(&out_); }
  SpdyPeer(const SpdyPeer&) = delete;
  SpdyPeer& operator=(const SpdyPeer&) = delete;

  static std::string number(std::uint32_t value) {
    std::string out;
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
    return out;
  }
  std::string packText(std::string text) {
    std::string packed(text.size() + 1000, '\0');
    out_.next_in = reinterpret_cast<Bytef*>(text.data());
    out_.avail_in = static_cast<uInt>(text.size());
    out_.next_out = reinterpret_cast<Bytef*>(packed.data());
    out_.avail_out = static_cast<uInt>(packed.size());
    EXPECT_EQ(deflate(&out_, Z_SYNC_FLUSH), Z_OK);
    packed.resize(packed.size() - out_.avail_out);
    return packed;
  }
  std::string pack(const SpdyHeaderList& headers) {
    std::string text = number(static_cast<std::uint32_t>(headers.size()));
    for (const auto& [name, value] : headers) {
      text += number(static_cast<std::uint32_t>(name.size())) + name;
      text += number(static_cast<std::uint32_t>(value.size())) + value;
    }
    return packText(std::move(text));
  }

  static std::string control(std::uint16_t type, const std::string& body, std::uint8_t flags = 0) {
    return number(0x80030000U | type) +
           number(static_cast<std::uint32_t>(flags) << 24 |
                  static_cast<std::uint32_t>(body.size())) +
           body;
  }
  std::string open(std::uint32_t stream, const SpdyHeaderList& headers, bool last = false) {
    return control(1, number(stream) + number(0) + std::string(2, '\0') + pack(headers),
                   last ? 1 : 0);
  }
  static std::string data(std::uint32_t stream, const std::string& bytes, bool last = false) {
    return number(stream) +
           number((last ? 1U << 24 : 0U) | static_cast<std::uint32_t>(bytes.size())) + bytes;
  }
  static std::string reset(std::uint32_t stream) { return control(3, number(stream) + number(5)); }
  static std::string settings() { return control(4, number(1) + number(7) + number(65536)); }
  static std::string ping(std::uint32_t id) { return control(6, number(id)); }
  static std::string goAway() { return control(7, number(0) + number(0)); }
  static std::string windowUpdate(std::uint32_t stream) {
    return control(9, number(stream) + number(1000));
  }

  // --- The frames of the server.
  void hear(std::string_view bytes) { heard_.append(bytes); }
  bool has() const { return heard_.size() >= 8 && heard_.size() >= 8 + length(); }
  Frame next() {
    EXPECT_TRUE(has());
    const std::uint32_t first = read(0);
    Frame frame{.flags = static_cast<std::uint8_t>(heard_[4]), .body = heard_.substr(8, length())};
    if (first >> 31 == 0) {
      frame.stream = first;
    } else {
      frame.type = static_cast<std::uint16_t>(first);
      frame.stream = read(8);
      if (frame.type == 3) frame.status = read(12);
    }
    heard_.erase(0, 8 + length());
    return frame;
  }

 private:
  std::uint32_t read(std::size_t at) const {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      value = value << 8 | static_cast<std::uint8_t>(heard_.at(at + i));
    }
    return value;
  }
  std::size_t length() const { return read(4) & 0xffffffU; }

  z_stream out_{};
  std::string heard_;
};

}  // namespace kube::detail
