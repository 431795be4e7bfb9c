#include "kube/apiserver/pods/pod_pipe.h"

#include <utility>

namespace kube::apiserver {

bool PodPipe::push(std::string_view bytes) {
  const detail::Lock lock(bytesMutex_);
  if (finished_ || abandoned_ || bytes.empty()) return false;
  bytes_.append(bytes);
  changed_.notify_all();
  return bytes_.size() >= kLimit && !std::exchange(full_, true);
}

void PodPipe::finish() {
  const detail::Lock lock(bytesMutex_);
  finished_ = true;
  changed_.notify_all();
}

void PodPipe::abandon() {
  {
    const detail::Lock lock(bytesMutex_);
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
    detail::Lock lock(bytesMutex_);
    changed_.wait(lock, [this]() KUBE_REQUIRES(bytesMutex_) {
      return !bytes_.empty() || finished_ || abandoned_;
    });
    if (bytes_.empty()) return std::nullopt;
    taken = std::exchange(bytes_, {});
    if (!std::exchange(full_, false)) return taken;
  }
  onRoom_();
  return taken;
}

}  // namespace kube::apiserver
