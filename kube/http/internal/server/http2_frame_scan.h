// Finds the heads of frames in the bytes of an HTTP/2 client. nghttp2 does not report the frames
// that it ignores, so a flood of those is found here.
//
// Thread safety: one thread at a time.
#pragma once

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kube::detail {

class Http2FrameScan {
 public:
  static constexpr std::size_t kHeadBytes = 9;

  struct Head {
    unsigned type = 0;
    unsigned flags = 0;
    std::size_t size = 0;  // of the payload
    std::int32_t stream = 0;
  };

  /// Calls `visit` for every head that these bytes complete. They begin where the last call ended.
  template <class Visit>
  void scan(std::string_view bytes, Visit visit) {
    for (;;) {
      const std::size_t skipped = std::min(untilFrame_, bytes.size());
      untilFrame_ -= skipped;
      bytes.remove_prefix(skipped);
      if (bytes.empty()) return;
      const std::size_t taken = std::min(kHeadBytes - head_.size(), bytes.size());
      head_.append(bytes.substr(0, taken));
      bytes.remove_prefix(taken);
      if (head_.size() < kHeadBytes) return;
      const Head head{.type = number(3, 1),
                      .flags = number(4, 1),
                      .size = number(0, 3),
                      .stream = static_cast<std::int32_t>(number(5, 4) & 0x7fffffff)};
      untilFrame_ = head.size;
      head_.clear();
      visit(head);
    }
  }

 private:
  std::uint32_t number(std::size_t at, std::size_t size) const {
    std::uint32_t value = 0;
    for (const char c : std::string_view(head_).substr(at, size)) {
      value = value << 8 | static_cast<unsigned char>(c);
    }
    return value;
  }

  std::string head_;  // as far as received
  std::size_t untilFrame_ = NGHTTP2_CLIENT_MAGIC_LEN;
};

}  // namespace kube::detail
