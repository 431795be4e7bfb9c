// What a decoder has seen before, so that equal parts of different objects are one memory.
//
// Decoders look up the wire bytes of strings, messages, lists and maps here; what is known comes
// back shared and is not decoded again. A list decoded without a pool uses one of its own while it
// decodes; an informer keeps one for as long as it lives. A string hit compares the text; other
// hits trust a 128-bit hash keyed with random bits of the process.
//
// A pool holds strong references. It sweeps by itself as it grows: what only the pool still holds
// and is older than one sweep is forgotten. Fields whose values hardly ever repeat are noticed and
// passed over for a while, so a pool costs little where it cannot help.
//
// Thread safety: one thread decodes through a pool at a time. What came out of it may be used and
// dropped on any thread, also after the pool is gone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kube/base/block.h"
#include "kube/base/string.h"

namespace kube {

class Pool {
 public:
  Pool();
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  struct Stats {
    std::size_t strings = 0;   // entries held
    std::size_t nodes = 0;     // messages, lists and maps held
    std::size_t hits = 0;      // look-ups answered since the pool was made
    std::size_t misses = 0;    // look-ups not answered
    std::size_t swept = 0;     // entries forgotten so far
    std::size_t overhead = 0;  // bytes of the pool's own tables
  };
  Stats stats() const;

  /// Forgets what nobody else holds and has been here for at least one earlier sweep.
  void sweep();

  // What follows is for decoders.

  using Hash = std::array<std::uint64_t, 2>;
  using Drop = void (*)(detail::Block*) noexcept;

  /// What a decoder has learned about one place where values occur (a field of a type): whether
  /// looking there pays, the string seen last, and the places inside of it.
  struct Place {
    static constexpr std::uint16_t kWindow = 512;  // tries before judging
    static constexpr std::uint16_t kWorth = 16;    // 1 hit in so many is worth it
    static constexpr std::uint32_t kRest = 16;     // a place not worth it rests so many windows

    std::uint16_t tries = 0;
    std::uint16_t hits = 0;
    std::uint32_t resting = 0;
    String last;
    Place* inside = nullptr;

    bool open() noexcept {
      if (resting == 0) return true;
      --resting;
      return false;
    }
    void note(bool hit) noexcept {
      hits = static_cast<std::uint16_t>(hits + (hit ? 1 : 0));
      if (++tries < kWindow) return;
      if (hits * kWorth < kWindow) {
        resting = kRest * kWindow;
        last = String();
      }
      tries = hits = 0;
    }
  };

  /// The places of one described type, by field; `type` is any address that identifies it.
  Place* places(const void* type, std::size_t count);

  /// The pooled string with this text, made if it is new.
  String string(std::string_view text, Place& place) {
    if (!place.open()) return String(text);
    if (place.last.view() == text) {
      place.note(true);
      ++hits_;
      return place.last;
    }
    return stringSlow(text, place);
  }
  /// The pooled string with this text, where no place is known.
  String string(std::string_view text);

  /// A new reference to the block stored under this hash, or null.
  detail::Block* find(const Hash& hash) noexcept;
  /// Stores a block under a hash that `find` did not know, with a reference of the pool's own.
  void insert(const Hash& hash, detail::Block* block, Drop drop);

  /// To be called between objects: sweeps when enough has been added.
  void settle() {
    if (added_ > sweepAt_) sweep();
  }

 private:
  struct StringEntry {
    std::uint64_t hash;
    detail::Block* block;
  };
  struct Node {
    Hash hash;
    detail::Block* block;
    Drop drop;
  };

  String stringSlow(std::string_view text, Place& place);
  detail::Block* stringBlock(std::string_view text, bool& hit);
  void growStrings(std::size_t capacity);
  void growNodes(std::size_t capacity);

  // Open-addressed tables, linear probing, capacity a power of two, a null block marks a free slot.
  // The low bit of a stored hash says the entry is new since the last sweep.
  std::vector<StringEntry> strings_;
  std::vector<Node> nodes_;
  std::size_t stringCount_ = 0;
  std::size_t nodeCount_ = 0;
  std::size_t added_ = 0;
  std::size_t sweepAt_;
  std::size_t hits_ = 0;
  std::size_t misses_ = 0;
  std::size_t swept_ = 0;
  std::unordered_map<const void*, std::unique_ptr<Place[]>> places_;
};

}  // namespace kube
