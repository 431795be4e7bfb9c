// The encodings of shared parts of objects, found by the address of the part: a list of variables
// that hundreds of pods share is walked for the first pod, and copied for the others.
//
// Parts are lists, maps and messages behind a handle. The caller keeps every part that was put in
// alive and unchanged, since this class holds no references. The oldest encodings are forgotten:
// equal parts of a list are near each other.
//
// Thread safety: none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "kube/base/internal/block.h"
#include "kube/meta/type_info.h"

namespace kube::detail {

class EncodedParts {
 public:
  /// True if a part may occur again, because it is held more than once.
  static bool worth(const Block& part) noexcept {
    return part.refs.load(std::memory_order_relaxed) > 1;
  }

  /// Returns nothing for an unknown part. Valid until the next put().
  std::string_view find(const Block& part, const FieldInfo& as) const noexcept {
    const Slot& slot = slots_[slotOf(part)];
    if (slot.part != &part || slot.as != &as || slot.begin + kRoom < written_) return {};
    return {room_.get() + slot.begin % kRoom, slot.size};
  }

  void put(const Block& part, const FieldInfo& as, std::string_view bytes) {
    if (bytes.size() < kLeast || bytes.size() > kMost) return;
    if (room_ == nullptr) room_.reset(new char[kRoom]);
    const std::size_t left = kRoom - written_ % kRoom;
    if (left < bytes.size()) written_ += left;
    std::memcpy(room_.get() + written_ % kRoom, bytes.data(), bytes.size());
    slots_[slotOf(part)] = {&part, &as, written_, static_cast<std::uint32_t>(bytes.size())};
    written_ += bytes.size();
  }

 private:
  static constexpr std::size_t kSlots = 1 << 10;
  static constexpr std::size_t kRoom = 256 << 10;
  static constexpr std::size_t kLeast = 24;
  static constexpr std::size_t kMost = kRoom / 8;

  struct Slot {
    const Block* part = nullptr;
    const FieldInfo* as = nullptr;
    std::uint64_t begin = 0;  // position among all bytes ever written
    std::uint32_t size = 0;
  };
  static std::size_t slotOf(const Block& part) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(&part);
    return (address >> 4 ^ address >> 14) % kSlots;
  }

  std::array<Slot, kSlots> slots_;
  std::unique_ptr<char[]> room_;
  std::uint64_t written_ = 0;
};

}  // namespace kube::detail
