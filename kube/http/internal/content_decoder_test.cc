#include "kube/http/internal/content_decoder.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

#include "kube/base/error.h"
#include "kube/http/internal/gzip_testing.h"

namespace kube::detail {
namespace {

std::string decodeAll(ContentDecoder& decoder, std::string_view input) {
  std::string out;
  for (;;) {
    const std::string_view chunk = decoder.decode(input);
    if (chunk.empty()) return out;
    out += chunk;
  }
}

TEST(ContentDecoderTest, KnowsItsCodings) {
  EXPECT_EQ(ContentDecoder::forCoding(""), nullptr);
  EXPECT_EQ(ContentDecoder::forCoding("identity"), nullptr);
  EXPECT_NE(ContentDecoder::forCoding("gzip"), nullptr);
  EXPECT_NE(ContentDecoder::forCoding("GZIP"), nullptr);
  EXPECT_NE(ContentDecoder::forCoding("deflate"), nullptr);
  EXPECT_THROW(ContentDecoder::forCoding("br"), TransportError);
}

TEST(ContentDecoderTest, DecodesGzipAndDeflateInAnyPieces) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "line " + std::to_string(i) + "\n";
  for (const bool gzip : {true, false}) {
    const std::string packed = compressed(text, gzip);
    for (const std::size_t step : {std::size_t{1}, std::size_t{7}, packed.size()}) {
      ContentDecoder decoder;
      std::string out;
      for (std::size_t at = 0; at < packed.size(); at += step) {
        EXPECT_FALSE(decoder.complete());
        out += decodeAll(decoder, std::string_view(packed).substr(at, step));
      }
      EXPECT_TRUE(decoder.complete());
      EXPECT_EQ(out, text);
    }
  }
}

TEST(ContentDecoderTest, GivesOutOneBufferAtATime) {
  const std::string packed = compressed(std::string(100 << 20, 'x'), true);
  ContentDecoder decoder;
  std::string_view input = packed;
  EXPECT_LE(decoder.decode(input).size(), 64u << 10);
  EXPECT_FALSE(input.empty());
}

TEST(ContentDecoderTest, ReadsMembersInARow) {
  ContentDecoder decoder;
  EXPECT_EQ(decodeAll(decoder, compressed("one, ", true) + compressed("two", true)), "one, two");
  EXPECT_TRUE(decoder.complete());
}

TEST(ContentDecoderTest, RefusesWhatIsDamaged) {
  ContentDecoder garbage;
  EXPECT_THROW(decodeAll(garbage, "this is not compressed"), TransportError);
  std::string packed = compressed(std::string(1000, 'x') + "y", true);
  packed[packed.size() - 6] ^= 1;  // in the checksum
  ContentDecoder damaged;
  EXPECT_THROW(decodeAll(damaged, packed), TransportError);
  ContentDecoder trailed;
  EXPECT_THROW(decodeAll(trailed, compressed("x", true) + "and garbage"), TransportError);
}

}  // namespace
}  // namespace kube::detail
