#include "kube/controller/internal/wake_reasons.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <random>

namespace kube::detail {

void WakeReasons::add(WakeReason reason) {
  ++count;
  if (const auto same = std::ranges::find(last, reason); same != last.end()) {
    std::rotate(same, same + 1, last.end());
    return;
  }
  if (last.size() == ReconcileContext::kReasons) last.erase(last.begin());
  last.push_back(std::move(reason));
}

void WakeReasons::addEarlier(WakeReasons earlier) {
  count += earlier.count;
  std::erase_if(earlier.last, [&](const WakeReason& reason) {
    return std::ranges::find(last, reason) != last.end();
  });
  const std::size_t room = std::min(ReconcileContext::kReasons - last.size(), earlier.last.size());
  last.insert(last.begin(),
              std::make_move_iterator(earlier.last.end() - static_cast<std::ptrdiff_t>(room)),
              std::make_move_iterator(earlier.last.end()));
}

std::string newReconcileId() {
  thread_local std::mt19937_64 random{std::random_device{}()};
  const std::uint64_t high = random();
  const std::uint64_t low = random();
  return fmt::format("{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xFFFF,
                     high & 0xFFF, ((low >> 48) & 0x3FFF) | 0x8000, low & 0xFFFFFFFFFFFF);
}

}  // namespace kube::detail
