#include "kube/rest/watch_stream.h"

#include "kube/base/error.h"

namespace kube::detail {

bool WatchReader::read() {
  if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
  if (over_) return false;
  try {
    if (const auto chunk = stream_.read()) {
      decoder_.feed(*chunk);
    } else {
      over_ = true;
      decoder_.finish();
    }
  } catch (const CanceledError&) {
    over_ = true;
    if (!stop_.stop_requested()) throw;
  } catch (const TimeoutError&) {
    over_ = true;
  } catch (...) {
    over_ = true;  // thrown by the next read(), after the events before it
    error_ = std::current_exception();
  }
  return true;
}

}  // namespace kube::detail
