#include "kube/rest/watch_stream.h"

#include "kube/base/error.h"

namespace kube::detail {

Task<bool> WatchReader::read() {
  if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
  if (over_) co_return false;
  const std::stop_token stop = co_await taskStop();
  try {
    const auto chunk = co_await stream_.readAsync();
    if (chunk) {
      decoder_.feed(*chunk);
    } else {
      over_ = true;
      decoder_.finish();
    }
  } catch (const CanceledError&) {
    // The end of this task alone does not end the stream.
    if (stop.stop_requested() && !stop_.stop_requested()) co_return false;
    over_ = true;
    if (!stop_.stop_requested()) throw;
  } catch (const TimeoutError&) {
    over_ = true;
  } catch (...) {
    over_ = true;  // thrown by the next read(), after the events before it
    error_ = std::current_exception();
  }
  co_return true;
}

}  // namespace kube::detail
