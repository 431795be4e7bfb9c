// Decides who does the I/O of a connection: the event loop, or a caller that waits for an exchange
// on it and borrows the socket.
//
// A socket that was given back stays reserved for a while if its borrower will probably return: the
// loop polls it for hang-ups only, so a call that follows another costs no system call for the
// change. An exchange without a borrower needs the loop at once, and ends a reservation.
//
// Thread safety: belongs to the holder of the loop's turn.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace kube::detail {

class Loan {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  /// The time of a reservation: each call that starts sooner saves two system calls. A hang-up of
  /// the server is noticed meanwhile all the same.
  static constexpr std::chrono::milliseconds kReserveTime{100};

  enum class Return : std::uint8_t {
    Done,         // its exchange has ended
    Begins,       // it has read the beginning of a stream, and reads on
    MayComeBack,  // it has read more of a stream
  };

  bool lent() const { return state_ == State::Lent; }
  /// True if the loop polls the socket for data.
  bool withLoop() const { return state_ == State::WithLoop; }

  void lend() { state_ = State::Lent; }
  /// `exchanges` is the number of exchanges on the connection, here and below.
  void giveBack(Return how, std::size_t exchanges, TimePoint now);
  void exchangeEnded(std::size_t exchanges);
  /// Ends the reservation if an exchange needs the loop.
  void settle(std::size_t exchanges);
  /// Ends the reservation if its time is over. Returns the time for the next check, if one is
  /// needed. The first is due kReserveTime after giveBack().
  std::optional<TimePoint> check(TimePoint now);

 private:
  enum class State : std::uint8_t {
    WithLoop,
    Lent,
    Reserved,           // idle
    ReservedForStream,  // for the borrower that reads its only exchange
  };

  State state_ = State::WithLoop;
  TimePoint returned_{};
};

}  // namespace kube::detail
