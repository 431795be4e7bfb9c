#include "kube/http/internal/loan.h"

#include <utility>

namespace kube::detail {

void Loan::giveBack(Return how, std::size_t exchanges, TimePoint now) {
  const bool often = now - std::exchange(returned_, now) < kReserveTime;
  const bool readsOn = how == Return::Begins || (how == Return::MayComeBack && often);
  if (exchanges == 0) {
    state_ = State::Reserved;
  } else {
    state_ = readsOn && exchanges == 1 ? State::ReservedForStream : State::WithLoop;
  }
}

void Loan::exchangeEnded(std::size_t exchanges) {
  if (state_ == State::ReservedForStream) state_ = State::Reserved;
  settle(exchanges);
}

void Loan::settle(std::size_t exchanges) {
  if (state_ == State::Reserved && exchanges != 0) state_ = State::WithLoop;
  if (state_ == State::ReservedForStream && exchanges != 1) state_ = State::WithLoop;
}

std::optional<Loan::TimePoint> Loan::check(TimePoint now) {
  const bool lately = now - returned_ < kReserveTime;
  if (lately && state_ != State::WithLoop) return returned_ + kReserveTime;
  if (state_ != State::Lent) state_ = State::WithLoop;
  return std::nullopt;
}

}  // namespace kube::detail
