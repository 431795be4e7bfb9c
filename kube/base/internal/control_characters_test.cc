// No threads.

#include "kube/base/internal/control_characters.h"

#include <gtest/gtest.h>

namespace kube::detail {
namespace {

TEST(ControlCharactersTest, AreShownInWords) {
  EXPECT_EQ(withoutControls("a\x1b[2Jb"), "aU+001B[2Jb");
  EXPECT_EQ(withoutControls("secret\b\b\b\x7f"), "secretU+0008U+0008U+0008U+007F");
  EXPECT_EQ(withoutControls(std::string_view("\0\a", 2)), "U+0000U+0007");
  EXPECT_EQ(withoutControls("one\vtwo\fthree"), "oneU+000BtwoU+000Cthree");
}

TEST(ControlCharactersTest, LineEndsAndTabsStay) {
  EXPECT_EQ(withoutControls("a\tb\nc\r\n"), "a\tb\nc\r\n");
  EXPECT_EQ(withoutControls("shown\rhidden\r"), "shownU+000DhiddenU+000D");
}

TEST(ControlCharactersTest, OfEightBitsAreFoundInEveryForm) {
  EXPECT_EQ(withoutControls("\xc2\x9b"
                            "2J"),
            "U+009B2J");
  EXPECT_EQ(withoutControls("\x9b"
                            "2J"),
            "U+009B2J");
  EXPECT_EQ(withoutControls("\xe0\x82\x9b"), "\xe0U+0082U+009B") << "a longer form than it needs";
  EXPECT_EQ(withoutControls("\xf0\x80\x82\x9b"), "\xf0U+0080U+0082U+009B");
  EXPECT_EQ(withoutControls("\xc2"), "\xc2");
}

TEST(ControlCharactersTest, OtherCharactersStay) {
  // Their bytes are between 0x80 and 0x9f, too.
  for (const char* text : {"äöüßÀ", "→ … “quoted”", "日本語", "🚀 Ünicode \xc2\xa0", "\xff\xfe"}) {
    EXPECT_EQ(withoutControls(text), text);
    EXPECT_EQ(findControl(text).at, std::string_view::npos) << text;
  }
  EXPECT_EQ(findControl("ä\x1b").at, 2u);
}

TEST(ControlCharactersTest, TheUndecidedEndIsTheBeginningOfACharacter) {
  EXPECT_EQ(undecidedEnd(""), 0u);
  EXPECT_EQ(undecidedEnd("abc"), 0u);
  EXPECT_EQ(undecidedEnd("abc\r"), 1u);
  EXPECT_EQ(undecidedEnd("ä"), 0u);
  EXPECT_EQ(undecidedEnd("\xc2"), 1u);
  EXPECT_EQ(undecidedEnd("a\xe2\x86"), 2u);
  EXPECT_EQ(undecidedEnd("\xe2\x86\x92"), 0u);
  EXPECT_EQ(undecidedEnd("\xf0\x9f\x9a"), 3u);
  EXPECT_EQ(undecidedEnd("\xf0\x9f\x9a\x80"), 0u);
  EXPECT_EQ(undecidedEnd("\xe0\x82"), 0u) << "nothing makes a character of it";
  EXPECT_EQ(undecidedEnd("\x9b"), 0u);
}

}  // namespace
}  // namespace kube::detail
