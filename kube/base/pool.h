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
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kube/base/block.h"
#include "kube/base/pages.h"
#include "kube/base/string.h"

namespace kube {

namespace detail {

/// memcmp for the short strings that names and values are, without a call. `n` is not 0.
inline bool sameBytes(const char* a, const char* b, std::size_t n) noexcept {
  const auto load = []<class Word>(const char* at, Word word) {
    std::memcpy(&word, at, sizeof(word));
    return word;
  };
  const auto ends = [&]<class Word>(Word word) {  // the first and last bytes, which may overlap
    return ((load(a, word) ^ load(b, word)) |
            (load(a + n - sizeof(word), word) ^ load(b + n - sizeof(word), word))) == 0;
  };
  if (n > 16) return ends(std::uint64_t{}) && std::memcmp(a + 8, b + 8, n - 16) == 0;
  if (n >= 8) return ends(std::uint64_t{});
  if (n >= 4) return ends(std::uint32_t{});
  return a[0] == b[0] && a[n / 2] == b[n / 2] && a[n - 1] == b[n - 1];
}

}  // namespace detail

class Pool {
 public:
  Pool();
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  struct Stats {
    std::size_t strings = 0;   // entries held
    std::size_t nodes = 0;     // messages, lists and maps held
    std::size_t hits = 0;      // answers from the tables; repeats of the last value count nowhere
    std::size_t misses = 0;    // what the tables did not know
    std::size_t swept = 0;     // entries forgotten so far
    std::size_t overhead = 0;  // bytes of the pool's own tables
  };
  Stats stats() const;

  /// Forgets what nobody else holds and has been here for at least one earlier sweep.
  void sweep();

  // What follows is for decoders.

  using Hash = std::array<std::uint64_t, 2>;
  using Drop = void (*)(detail::Block*) noexcept;

  /// What a decoder has learned about one place where values occur (a field, or an element of a
  /// list, by its path): whether looking there pays, what was seen last, and the places inside.
  class alignas(64) Place {  // a cache line, and quick to index
   public:
    /// False while the place rests.
    bool open() noexcept {
      if (gate_->resting_ == 0) return true;
      --gate_->resting_;
      return false;
    }

   private:
    friend class Pool;
    static constexpr std::uint32_t kWindow = 512;   // tries before judging
    static constexpr std::uint32_t kWorth = 16;     // 1 hit in so many is worth it
    static constexpr std::uint32_t kRest = 16;      // a place not worth it rests so many windows
    static constexpr std::uint32_t kStock = 32;     // references taken at a time
    static constexpr std::uint32_t kHit = 1 << 16;  // one hit in `counts_`

    void note(bool hit) noexcept {
      Place& gate = *gate_;
      gate.counts_ += hit ? kHit + 1 : 1;
      if ((gate.counts_ & (kHit - 1)) < kWindow) return;
      if ((gate.counts_ / kHit) * kWorth < kWindow) gate.resting_ = kRest * kWindow;
      gate.counts_ = 0;
    }
    // A reference to `last_`. They are taken in bulk: atomics are dear where values repeat.
    detail::Block* take() noexcept {
      if (stock_ == 0) {
        last_->refs.fetch_add(kStock, std::memory_order_relaxed);
        stock_ = kStock;
      }
      --stock_;
      return last_;
    }
    void remember(detail::Block* block) noexcept {
      forget();
      last_ = block;
    }
    // The tables hold a reference too, so this is never the last one.
    void forget() noexcept {
      if (stock_ != 0) last_->refs.fetch_sub(stock_, std::memory_order_release);
      stock_ = 0;
      last_ = nullptr;
      lastHash_ = {};
    }

    Place* gate_ = nullptr;     // whose tries count: its own, or the first position's
    std::uint32_t counts_ = 0;  // tries in the low half, hits in the high one
    std::uint32_t resting_ = 0;
    detail::Block* last_ = nullptr;
    Hash lastHash_{};  // of `last_`, if it is not a string
    std::uint32_t stock_ = 0;
    Place* inside_ = nullptr;
  };

  /// The places of a described type's fields, for where an object begins; `type` is any address
  /// that identifies it. Null when too many are known already.
  Place* places(const void* type, std::size_t count);
  /// The places inside of a place: `count` for each of several positions in a list, which
  /// remember what was seen last apart but are judged together, since what differs from object to
  /// object may still be the same throughout one. The numbers must always be the same.
  Place* inside(Place& place, std::size_t count, std::size_t positions) {
    if (place.inside_ == nullptr) place.inside_ = newPlaces(count, positions);
    return place.inside_;
  }

  /// The pooled string with this text, made if it is new; `check` is called before that, and may
  /// throw.
  template <class Check>
  [[gnu::always_inline]] String string(std::string_view text, Place& place, Check check) {
    // A value seen here before: the common case, and worth having in line.
    if (place.open()) {
      if (detail::Block* last = again(text, place)) return detail::adopt<String>(last);
      return change(text, place, check);
    }
    check();
    return String(text);
  }
  String string(std::string_view text, Place& place) {
    return string(text, place, [] {});
  }
  /// The same where no place is known.
  String string(std::string_view text);
  /// The block seen last at a place of strings, if it has this text; a new reference, or null.
  detail::Block* again(std::string_view text, Place& place) noexcept {
    const detail::Block* last = place.last_;
    if (last == nullptr || last->size != text.size() ||
        !detail::sameBytes(static_cast<const char*>(last->payload()), text.data(), text.size())) {
      return nullptr;
    }
    place.note(true);
    return place.take();
  }

  /// A new reference to the block stored under this hash, or null.
  detail::Block* find(const Hash& hash, Place& place) noexcept {
    const bool again = place.last_ != nullptr && place.lastHash_ == hash;
    detail::Block* block = again ? place.take() : find(hash);
    if (block != nullptr && !again) {
      place.remember(block);
      place.lastHash_ = hash;
    }
    place.note(block != nullptr);
    return block;
  }
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

  // The string for a place that last had another.
  template <class Check>
  [[gnu::noinline]] String change(std::string_view text, Place& place, const Check& check) {
    std::uint64_t hash = 0;
    detail::Block* block = findString(text, hash);
    const bool hit = block != nullptr;
    if (!hit) {
      if (text.empty()) return {};
      check();
      block = insertString(text, hash);
    }
    place.remember(block);
    place.note(hit);
    return detail::adopt<String>(block);
  }

  Place* newPlaces(std::size_t count, std::size_t positions);
  // A new reference, or null.
  detail::Block* findString(std::string_view text, std::uint64_t& hash) noexcept;
  detail::Block* insertString(std::string_view text, std::uint64_t hash);
  void growStrings(std::size_t capacity);
  void growNodes(std::size_t capacity);

  // Open-addressed tables, linear probing, capacity a power of two, a null block marks a free slot.
  // The low bit of a stored hash says the entry is new since the last sweep.
  detail::ZeroedTable<StringEntry> strings_;
  detail::ZeroedTable<Node> nodes_;
  std::size_t stringCount_ = 0;
  std::size_t nodeCount_ = 0;
  std::size_t added_ = 0;
  std::size_t sweepAt_;
  std::size_t hits_ = 0;
  std::size_t misses_ = 0;
  std::size_t swept_ = 0;
  std::unordered_map<const void*, Place*> roots_;
  std::vector<std::vector<Place>> places_;
  std::size_t placeCount_ = 0;
};

}  // namespace kube
