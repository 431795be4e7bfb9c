#include "kube/http/internal/content_decoder.h"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <climits>
#include <new>

#include "kube/base/error.h"
#include "kube/http/http.h"

namespace kube::detail {
namespace {

constexpr std::size_t kOutputBytes = 64 << 10;
constexpr int kEitherHeader = 32 + MAX_WBITS;  // detects gzip and zlib headers

}  // namespace

struct ContentDecoder::Inflater {
  Inflater() {
    if (inflateInit2(&stream, kEitherHeader) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream); }

  z_stream stream{};
};

std::unique_ptr<ContentDecoder> ContentDecoder::forCoding(std::string_view contentEncoding) {
  if (contentEncoding.empty() || equalIgnoringCase(contentEncoding, "identity")) return nullptr;
  if (equalIgnoringCase(contentEncoding, "gzip") || equalIgnoringCase(contentEncoding, "x-gzip") ||
      equalIgnoringCase(contentEncoding, "deflate")) {
    return std::make_unique<ContentDecoder>();
  }
  throw TransportError(
      fmt::format("the answer has a Content-Encoding that was not asked for: \"{}\"",
                  contentEncoding.substr(0, 100)),
      true, true);
}

ContentDecoder::ContentDecoder()
    : inflater_(std::make_unique<Inflater>()), output_(kOutputBytes, '\0') {}
ContentDecoder::~ContentDecoder() = default;

std::string_view ContentDecoder::decode(std::string_view& input) {
  z_stream& stream = inflater_->stream;
  stream.next_out = reinterpret_cast<Bytef*>(output_.data());
  stream.avail_out = static_cast<uInt>(output_.size());
  // Even without input there may be output of earlier input.
  do {
    const std::size_t given = std::min<std::size_t>(input.size(), UINT_MAX);
    if (complete_) {
      if (given == 0) break;
      inflateReset(&stream);  // another gzip member, as Go's reader accepts
      complete_ = false;
    }
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    stream.avail_in = static_cast<uInt>(given);
    const int result = inflate(&stream, Z_NO_FLUSH);
    input.remove_prefix(given - stream.avail_in);
    if (result == Z_STREAM_END) {
      complete_ = true;
    } else if (result == Z_BUF_ERROR) {
      break;  // needs more input
    } else if (result != Z_OK) {
      throw TransportError(fmt::format("the answer's compressed body is damaged: {}",
                                       stream.msg != nullptr ? stream.msg : zError(result)),
                           true, true);
    }
  } while (!input.empty() && stream.avail_out != 0);
  return {output_.data(), output_.size() - stream.avail_out};
}

}  // namespace kube::detail
