#include "kube/base/shared.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "kube/base/list.h"
#include "kube/base/string.h"

namespace kube {
namespace {

struct Inner {
  String name;
  int count = 0;
  bool operator==(const Inner&) const = default;
};
struct Outer {
  Shared<Inner> inner;
  int number = 7;
  bool operator==(const Outer&) const = default;
};
struct Chain {
  Shared<Chain> next;
  int depth = 0;
  bool operator==(const Chain&) const = default;
};

static_assert(sizeof(Shared<Outer>) == 8 && std::is_standard_layout_v<Shared<Outer>>);
static_assert(std::is_nothrow_copy_constructible_v<Shared<Outer>>);
static_assert(std::is_nothrow_move_assignable_v<Shared<Outer>>);
constinit const Shared<Inner> kAbsent;

TEST(SharedTest, AbsentReadsAsTheEmptyDefault) {
  const Shared<Outer> absent;
  EXPECT_FALSE(absent);
  EXPECT_FALSE(absent.has_value());
  EXPECT_EQ(absent->number, 7);
  EXPECT_EQ((*absent).number, 7);
  EXPECT_EQ(absent->inner->name, "");
  EXPECT_EQ(kAbsent->count, 0);
}

TEST(SharedTest, ReadingDoesNotCreate) {
  const Outer outer;
  EXPECT_EQ(outer.inner->count, 0);
  EXPECT_FALSE(outer.inner);
  Outer mutableOuter;
  EXPECT_EQ(mutableOuter.inner.read().count, 0);
  EXPECT_FALSE(mutableOuter.inner);
}

TEST(SharedTest, WritingCreates) {
  Outer outer;
  outer.inner->name = "n";
  ASSERT_TRUE(outer.inner);
  EXPECT_EQ(std::as_const(outer).inner->name, "n");
  Shared<Outer> nested;
  nested->inner->count = 3;
  EXPECT_EQ(std::as_const(nested)->inner->count, 3);
  EXPECT_EQ(std::as_const(nested)->number, 7);
}

TEST(SharedTest, ReadingThroughANonConstHandleLeavesItAbsent) {
  Shared<Outer> outer;
  EXPECT_EQ(outer->inner->name, "");
  EXPECT_EQ((*outer).number, 7);
  EXPECT_FALSE(outer);
  EXPECT_FALSE(outer.has_value());
  EXPECT_EQ(outer, Shared<Outer>());
  const Shared<Outer> copy = outer;
  EXPECT_FALSE(copy);
  EXPECT_EQ(copy->number, 7);
}

TEST(SharedTest, AMessageIsPresentFromTheFirstWriteOnHoweverDeep) {
  Shared<Chain> chain;
  EXPECT_EQ(chain->next->next->depth, 0);
  EXPECT_FALSE(chain);
  chain->next->next->depth = 1;
  EXPECT_TRUE(chain && chain->next && chain->next->next);
  EXPECT_FALSE(chain->next->next->next);
  EXPECT_NE(chain, Shared<Chain>(Chain()));
}

TEST(SharedTest, AssigningAnEmptyMessageMakesItPresent) {
  Shared<Outer> outer;
  EXPECT_EQ(outer->number, 7);
  outer->inner = Inner{};
  EXPECT_TRUE(outer->inner);
  EXPECT_TRUE(outer) << "something in it is present";
  EXPECT_NE(outer->inner, Shared<Inner>());

  Shared<Inner> emplaced;
  emplaced.emplace().count = 3;
  EXPECT_EQ(emplaced->count, 3);
  EXPECT_TRUE(Shared<Inner>(emplaced).emplace() == Inner{});
  emplaced.emplace();
  EXPECT_TRUE(emplaced);
  emplaced.emplace("n", 2);
  EXPECT_EQ(emplaced->name, "n");

  Shared<Inner> written;
  EXPECT_EQ(written->name, "");
  EXPECT_FALSE(written);
  written.write();
  EXPECT_TRUE(written);
}

TEST(SharedTest, ACopyThatIsWrittenStaysPresentOrProvisional) {
  Shared<Inner> present(Inner{});
  const Shared<Inner> first = present;
  present->count = 1;
  present->count = 0;
  EXPECT_TRUE(present);
  Shared<Inner> provisional;
  EXPECT_EQ(provisional->count, 0);
  const Shared<Inner> second = provisional;
  EXPECT_EQ(provisional->name, "");
  EXPECT_FALSE(provisional || second);
}

TEST(SharedTest, WithoutAComparisonAMessageMadeForWritingIsPresent) {
  struct Incomparable {
    int number = 0;
  };
  Shared<Incomparable> message;
  message->number = 0;
  EXPECT_TRUE(message) << "nothing can tell that it was not written";
}

TEST(SharedTest, WritingThroughAbsentLeavesTheDefaultAlone) {
  Shared<Inner> a;
  a->count = 5;
  const Shared<Inner> b;
  EXPECT_EQ(b->count, 0);
}

TEST(SharedTest, CopyIsTheSameMemoryUntilOneIsWritten) {
  Shared<Inner> a(Inner{"n", 1});
  Shared<Inner> b = a;
  EXPECT_TRUE(a.sharesWith(b));
  EXPECT_EQ(&a.read(), &b.read());
  b->count = 2;
  EXPECT_FALSE(a.sharesWith(b));
  EXPECT_EQ(a.read().count, 1);
  EXPECT_EQ(b.read().count, 2);
  EXPECT_EQ(b.read().name, "n");
  EXPECT_TRUE(a.read().name.sharesWith(b.read().name));
}

TEST(SharedTest, SoleOwnerWritesInPlace) {
  Shared<Inner> a(Inner{"n", 1});
  const Inner* before = &a.read();
  a->count = 2;
  EXPECT_EQ(&a.read(), before);
}

TEST(SharedTest, WritingDeepInACopyDetachesOnlyTheWayThere) {
  Shared<Outer> a;
  a->inner->name = "n";
  Shared<Outer> b = a;
  b->number = 8;
  EXPECT_TRUE(a.read().inner.sharesWith(b.read().inner));
  b->inner->name = "m";
  EXPECT_EQ(a.read().inner.read().name, "n");
}

TEST(SharedTest, ResetAndNullMakeItAbsentForOneHandle) {
  Shared<Inner> a(Inner{"n", 1});
  Shared<Inner> b = a;
  a.reset();
  EXPECT_FALSE(a);
  EXPECT_TRUE(b);
  b = nullptr;
  EXPECT_FALSE(b);
}

TEST(SharedTest, AssigningAValueReplacesIt) {
  Shared<Inner> a;
  a = Inner{"n", 1};
  const Shared<Inner> b = a;
  a = Inner{"m", 2};
  EXPECT_EQ(a.read().name, "m");
  EXPECT_EQ(b->name, "n");
}

TEST(SharedTest, AbsentAndEmptyDiffer) {
  const Shared<Inner> absent;
  const Shared<Inner> empty{Inner{}};
  EXPECT_NE(absent, empty);
  EXPECT_EQ(absent, Shared<Inner>());
  EXPECT_EQ(empty, Shared<Inner>(Inner{}));
  EXPECT_NE(empty, Shared<Inner>(Inner{"n", 0}));
}

TEST(SharedTest, MovedFromIsAbsent) {
  Shared<Inner> a(Inner{"n", 1});
  const Shared<Inner> b = std::move(a);
  EXPECT_FALSE(a);  // NOLINT: tested on purpose
  EXPECT_EQ(b->name, "n");
}

TEST(SharedTest, TypeMayHoldItself) {
  Chain chain;
  chain.next->next->depth = 2;
  const Chain copy = chain;
  chain.next->next->depth = 3;
  EXPECT_EQ(copy.next->next->depth, 2);
  EXPECT_NE(copy, chain);
  EXPECT_EQ(copy.next->next->next->next->depth, 0);
}

TEST(SharedTest, AssigningAPartToTheWholeIsNoLoop) {
  Shared<Chain> chain;
  chain->next->depth = 1;
  chain->next = chain;
  EXPECT_EQ(chain.read().next->next->depth, 1);
  EXPECT_FALSE(chain.read().next->next->next);
  chain = chain.read().next;
  EXPECT_EQ(chain.read().next->depth, 1);
}

struct Throwing {
  int number = 0;
  bool fail = false;
  Throwing() = default;
  Throwing(Throwing&&) = default;
  Throwing(const Throwing& other) : number(other.number), fail(other.fail) {
    if (fail) throw std::runtime_error("no copy");
  }
};

TEST(SharedTest, CopyThatFailsOnWriteChangesNothing) {
  Shared<Throwing> a;
  a->number = 4;
  a->fail = true;
  Shared<Throwing> b = a;
  EXPECT_THROW(b->number = 5, std::runtime_error);
  EXPECT_TRUE(a.sharesWith(b));
  EXPECT_EQ(b.read().number, 4);
}

TEST(SharedTest, HandlesOfOneMessageAreDetachedOnManyThreads) {
  Shared<Outer> shared;
  shared->inner->name = "shared";
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t, mine = shared] {
      for (int i = 0; i < 5'000; ++i) {
        Shared<Outer> copy = mine;
        copy->number = t;
        copy->inner->count = i;
        ASSERT_EQ(copy.read().number, t);
        ASSERT_EQ(copy.read().inner.read().name, "shared");
        ASSERT_EQ(mine->number, 7);
      }
    });
  }
  threads.clear();
  EXPECT_EQ(shared.read().inner.read().count, 0);
}

TEST(SharedTest, HandleWrittenWhileOthersAreDroppedIsNotTorn) {
  // The writer becomes the sole owner at some moment; the readers have read before that.
  for (int round = 0; round < 300; ++round) {
    Shared<Inner> written(Inner{"n", 1});
    std::jthread reader([mine = written] { EXPECT_EQ(mine->count, 1); });
    written->count = 2;
    EXPECT_EQ(written.read().count, 2);
  }
}

}  // namespace
}  // namespace kube
