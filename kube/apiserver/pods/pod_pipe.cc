#include "kube/apiserver/pods/pod_pipe.h"

#include <utility>

namespace kube::apiserver {

bool PodPipe::push(std::string_view bytes) {
  std::lock_guard lock(mutex_);
  if (finished_ || abandoned_ || bytes.empty()) return false;
  bytes_.append(bytes);
  changed_.notify_all();
  return bytes_.size() >= kLimit && !std::exchange(full_, true);
}

void PodPipe::finish() {
  std::lock_guard lock(mutex_);
  finished_ = true;
  changed_.notify_all();
}

void PodPipe::abandon() {
  {
    std::lock_guard lock(mutex_);
    abandoned_ = true;
    bytes_.clear();
    changed_.notify_all();
    if (!std::exchange(full_, false)) return;
  }
  onRoom_();
}

std::optional<std::string> PodPipe::read() {
  std::string taken;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !bytes_.empty() || finished_ || abandoned_; });
    if (bytes_.empty()) return std::nullopt;
    taken = std::exchange(bytes_, {});
    if (!std::exchange(full_, false)) return taken;
  }
  onRoom_();
  return taken;
}

}  // namespace kube::apiserver
