// No threads.
#include "kube/meta/internal/presence.h"

#include <gtest/gtest.h>

#include "kube/meta/describe.h"
#include "kube/meta/equality.h"
#include "kube/meta/value.h"

namespace presence {

struct Part {
  std::optional<std::int32_t> limit;
  bool enabled = false;
  kube::Quantity amount;
  kube::List<kube::String> names;
};
struct Whole {
  kube::Shared<Part> part;
  kube::Shared<Whole> next;
  std::int32_t count = 5;  // set by its initializer
};

}  // namespace presence

KUBE_DESCRIBE(presence::Part, limit, enabled, amount, names);
KUBE_DESCRIBE(presence::Whole, part, next, count);

namespace kube {
namespace {

using presence::Part;
using presence::Whole;

template <class T>
bool isAsNew(const T& object) {
  return detail::isAsNew(TypeOf<T>::info, &object);
}

TEST(PresenceTest, UsesTheTableIfThereIsNoComparison) {
  Shared<Part> part;
  EXPECT_FALSE(part->limit.has_value());
  EXPECT_FALSE(part);
  part->enabled = false;
  EXPECT_FALSE(part) << "a plain zero cannot be told from none";
  part->limit = 0;
  EXPECT_TRUE(part);
}

TEST(PresenceTest, InitializedMembersCountAsNew) {
  Shared<Whole> whole;
  EXPECT_EQ(whole->count, 5);
  EXPECT_FALSE(whole);
  whole->count = 0;
  EXPECT_TRUE(whole);
}

TEST(PresenceTest, AnythingThatWasSetCounts) {
  EXPECT_TRUE(isAsNew(Part{}));
  Part limited;
  limited.limit = 0;
  EXPECT_FALSE(isAsNew(limited));
  Part amounts;
  amounts.amount = "0";
  EXPECT_FALSE(isAsNew(amounts)) << "equal to none by its amount";
  Part emptied;
  emptied.names = {"a"};
  EXPECT_FALSE(isAsNew(emptied));
  emptied.names.clear();
  EXPECT_TRUE(isAsNew(emptied));
  EXPECT_TRUE(isAsNew(Whole{}));
  Whole whole;
  whole.part = Part{};
  EXPECT_FALSE(isAsNew(whole));
}

TEST(PresenceTest, ReadingMakesNothingPresent) {
  Whole whole;
  if (whole.next->next->part->limit == 3) whole.count = 1;
  EXPECT_FALSE(whole.next);
  EXPECT_TRUE(semanticEqual(whole, Whole{}));
  EXPECT_TRUE(semanticEqual(Whole{}, whole));
  EXPECT_TRUE(isAsNew(whole));
}

}  // namespace
}  // namespace kube
