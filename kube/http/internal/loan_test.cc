// No threads.
#include "kube/http/internal/loan.h"

#include <gtest/gtest.h>

namespace kube::detail {
namespace {

using std::chrono::milliseconds;

class LoanTest : public ::testing::Test {
 protected:
  void borrow(Loan::Return how, std::size_t exchanges) {
    loan.lend();
    loan.giveBack(how, exchanges, now);
  }

  Loan::TimePoint now{std::chrono::hours(1)};
  Loan loan;
};

TEST_F(LoanTest, BeginsWithTheLoop) {
  EXPECT_TRUE(loan.withLoop());
  loan.lend();
  EXPECT_TRUE(loan.lent());
  EXPECT_FALSE(loan.withLoop());
}

TEST_F(LoanTest, AnIdleConnectionIsReserved) {
  borrow(Loan::Return::Done, 0);
  EXPECT_FALSE(loan.lent());
  EXPECT_FALSE(loan.withLoop());
}

TEST_F(LoanTest, AnExchangeWithoutABorrowerEndsTheReservation) {
  borrow(Loan::Return::Done, 0);
  loan.settle(1);
  EXPECT_TRUE(loan.withLoop());
}

TEST_F(LoanTest, AnotherExchangeNeedsTheLoopAtOnce) {
  borrow(Loan::Return::Begins, 2);
  EXPECT_TRUE(loan.withLoop());
}

TEST_F(LoanTest, AReaderThatBeginsKeepsItsStream) {
  borrow(Loan::Return::Begins, 1);
  loan.settle(1);
  EXPECT_FALSE(loan.withLoop());
  loan.settle(2);
  EXPECT_TRUE(loan.withLoop());
}

TEST_F(LoanTest, AReaderKeepsItsStreamIfItReturnsOften) {
  borrow(Loan::Return::MayComeBack, 1);
  EXPECT_TRUE(loan.withLoop());
  now += Loan::kReserveTime - milliseconds(1);
  borrow(Loan::Return::MayComeBack, 1);
  EXPECT_FALSE(loan.withLoop());
  now += Loan::kReserveTime;
  borrow(Loan::Return::MayComeBack, 1);
  EXPECT_TRUE(loan.withLoop());
}

TEST_F(LoanTest, AStreamThatEndsLeavesAnIdleConnectionReserved) {
  borrow(Loan::Return::Begins, 1);
  loan.exchangeEnded(0);
  EXPECT_FALSE(loan.withLoop());
}

// A reservation is for one stream, and not for another that takes its place.
TEST_F(LoanTest, AStreamThatFollowsNeedsTheLoop) {
  borrow(Loan::Return::Begins, 1);
  loan.exchangeEnded(1);
  EXPECT_TRUE(loan.withLoop());
}

TEST_F(LoanTest, AReservationEnds) {
  borrow(Loan::Return::Done, 0);
  now += Loan::kReserveTime - milliseconds(1);
  EXPECT_EQ(loan.check(now), now + milliseconds(1));
  EXPECT_FALSE(loan.withLoop());
  now += milliseconds(1);
  EXPECT_EQ(loan.check(now), std::nullopt);
  EXPECT_TRUE(loan.withLoop());
}

TEST_F(LoanTest, AReservationLastsFromTheLastReturn) {
  borrow(Loan::Return::Done, 0);
  now += milliseconds(60);
  borrow(Loan::Return::Done, 0);
  now += milliseconds(60);
  EXPECT_EQ(loan.check(now), now + milliseconds(40));
  EXPECT_FALSE(loan.withLoop());
}

TEST_F(LoanTest, TimeDoesNotEndALoan) {
  borrow(Loan::Return::Done, 0);
  loan.lend();
  now += Loan::kReserveTime;
  EXPECT_EQ(loan.check(now), std::nullopt);
  EXPECT_TRUE(loan.lent());
}

}  // namespace
}  // namespace kube::detail
