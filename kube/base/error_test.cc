#include "kube/base/error.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

namespace kube {
namespace {

using Where = DecodeError::Where;

TEST(DecodeErrorTest, WhatNamesFormatPositionPathAndReason) {
  DecodeError e({.format = "json", .path = "spec.replicas", .offset = 57, .line = 3, .column = 14},
                "expected a number, found a string");
  EXPECT_STREQ(e.what(),
               "json: line 3, column 14 (offset 57): spec.replicas: "
               "expected a number, found a string");
}

TEST(DecodeErrorTest, WhatLeavesOutUnknownParts) {
  auto what = [](Where where) { return std::string(DecodeError(std::move(where), "bad").what()); };
  EXPECT_EQ(what({}), "bad");
  EXPECT_EQ(what({.format = "yaml"}), "yaml: bad");
  EXPECT_EQ(what({.format = "protobuf", .offset = 0}), "protobuf: offset 0: bad");
  EXPECT_EQ(what({.format = "yaml", .line = 2}), "yaml: line 2: bad");
  EXPECT_EQ(what({.format = "yaml", .line = 2, .column = 5}), "yaml: line 2, column 5: bad");
  EXPECT_EQ(what({.path = "metadata.name"}), "metadata.name: bad");
}

TEST(DecodeErrorTest, FactsAreMembers) {
  DecodeError e({.format = "json", .path = "spec", .offset = 9, .line = 2, .column = 3}, "bad");
  EXPECT_EQ(e.reason(), "bad");
  EXPECT_EQ(e.format(), "json");
  EXPECT_EQ(e.path(), "spec");
  EXPECT_EQ(e.offset(), 9u);
  EXPECT_EQ(e.line(), 2u);
  EXPECT_EQ(e.column(), 3u);
  EXPECT_EQ(DecodeError({}, "bad").offset(), std::nullopt);
}

TEST(DecodeErrorTest, AnOuterLayerExtendsThePathAndMovesTheOffset) {
  DecodeError inner({.format = "json", .path = "ports[1].containerPort", .offset = 7}, "bad");
  Where where = inner.where();
  where.path = "spec.containers[0]." + where.path;
  *where.offset += 100;
  DecodeError outer = inner.withWhere(where);

  EXPECT_EQ(outer.path(), "spec.containers[0].ports[1].containerPort");
  EXPECT_EQ(outer.offset(), 107u);
  EXPECT_EQ(outer.reason(), "bad");
  EXPECT_STREQ(outer.what(), "json: offset 107: spec.containers[0].ports[1].containerPort: bad");
  EXPECT_EQ(inner.offset(), 7u);
}

TEST(ErrorTest, EveryKindIsCaughtAsErrorAndSaysItsKind) {
  auto kindOf = [](auto raise) {
    try {
      raise();
    } catch (const Error& e) {
      return e.kind();
    }
    return ErrorKind::Other;
  };
  EXPECT_EQ(kindOf([] { throw ConfigError("x"); }), ErrorKind::Config);
  EXPECT_EQ(kindOf([] { throw TransportError("x"); }), ErrorKind::Transport);
  EXPECT_EQ(kindOf([] { throw TimeoutError("x"); }), ErrorKind::Timeout);
  EXPECT_EQ(kindOf([] { throw CanceledError("x"); }), ErrorKind::Canceled);
  EXPECT_EQ(kindOf([] { throw DecodeError({}, "x"); }), ErrorKind::Decode);
  EXPECT_EQ(Error("plain").kind(), ErrorKind::Other);
}

TEST(ErrorTest, CopyingDoesNotThrow) {
  static_assert(std::is_nothrow_copy_constructible_v<ConfigError>);
  static_assert(std::is_nothrow_copy_constructible_v<DecodeError>);
  static_assert(std::is_nothrow_copy_assignable_v<DecodeError>);
}

}  // namespace
}  // namespace kube
