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
// Thread safety: one thread decodes through a pool at a time; any may ask for sharedBytes()
// meanwhile. What came out of it may be used and dropped on any thread, also after the pool is
// gone.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kube/base/internal/block.h"
#include "kube/base/internal/marked_table.h"
#include "kube/base/string.h"

namespace kube {

namespace detail {

/// memcmp for the short strings that names and values are, without a call.
[[gnu::always_inline]] inline bool sameBytes(const char* a, const char* b, std::size_t n) noexcept {
  const auto differ = [&]<class Word>(Word word, std::size_t at) {
    Word other;
    std::memcpy(&word, a + at, sizeof(word));
    std::memcpy(&other, b + at, sizeof(other));
    return word ^ other;
  };
  const auto ends = [&]<class Word>(Word word) {  // the first and last bytes, which may overlap
    return (differ(word, 0) | differ(word, n - sizeof(word))) == 0;
  };
  if (n >= 8) {
    if (!ends(std::uint64_t{})) return false;
    if (n <= 16) return true;
    if (n > 32) return std::memcmp(a + 8, b + 8, n - 16) == 0;
    return (differ(std::uint64_t{}, 8) | differ(std::uint64_t{}, n - 16)) == 0;
  }
  if (n >= 4) return ends(std::uint32_t{});
  if (n == 0) return true;
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
  /// Bytes of input so far that were known already, and so neither decoded nor held again. It lags
  /// behind by a few dozen repeats of the last value at a place.
  std::uint64_t sharedBytes() const noexcept { return shared_.load(std::memory_order_relaxed); }

  /// Forgets what nobody else holds and has been here for at least one earlier sweep.
  void sweep();

  // What follows is for decoders.

  using Hash = std::array<std::uint64_t, 2>;
  using Drop = void (*)(detail::Block*) noexcept;

  /// What a decoder has learned about one place where values occur (a field, or an element of a
  /// list, by its path): whether looking there pays, what was seen last, and the places inside.
  /// An object has hundreds, which is why they are small.
  class Place {
   public:
    /// False while the place rests. What was seen last is still known then, elsewhere than at the
    /// first position of a list.
    bool open() noexcept {
      Place& gate = this->gate();
      if (gate.tries_ >= 0) return true;
      ++gate.tries_;
      return false;
    }
    /// Judged by itself from now on, for values too long to be looked up at every position of a
    /// list because those at one repeat.
    void judgeAlone() noexcept { behindGate_ = 0; }

   private:
    friend class Pool;
    static constexpr int kWindow = 512;         // tries before judging
    static constexpr int kWorth = 16;           // 1 hit in so many is worth it
    static constexpr int kRest = 16 * kWindow;  // tries that a place not worth it rests for
    static constexpr std::uint8_t kStock = 32;  // references bought at a time
    static_assert(kStock * kWorth >= kWindow);  // what has sold out is worth it

    Place& gate() noexcept { return *(this - behindGate_); }
    void note(Pool& pool, int hits, int misses) noexcept {
      Place& gate = this->gate();
      gate.hits_ = static_cast<std::int16_t>(gate.hits_ + hits);
      gate.tries_ = static_cast<std::int16_t>(gate.tries_ + hits + misses);
      if (gate.tries_ >= kWindow) gate.judge(pool);
    }
    void judge(Pool& pool) noexcept {
      const bool worth = hits_ * kWorth >= kWindow;
      tries_ = worth ? 0 : -kRest;
      hits_ = 0;
      if (!worth) forget(pool);
    }
    // A reference to `last_`. They are bought, and counted as hits, in bulk: atomics are dear where
    // values repeat.
    detail::Block* take(Pool& pool) noexcept {
      if (stock_ == 0) restock(pool);
      --stock_;
      return last_;
    }
    void restock(Pool& pool) noexcept;
    void sellBack(Pool& pool) noexcept;
    void noteRepeats(Pool& pool, int count) noexcept;
    void remember(Pool& pool, detail::Block* block, const char* bytes, std::size_t size) noexcept {
      forget(pool);
      last_ = block;
      lastBytes_ = bytes;
      lastSize_ = static_cast<std::uint32_t>(size);
    }
    void forget(Pool& pool) noexcept {
      if (bought_ != 0) sellBack(pool);
      last_ = nullptr;
      lastSize_ = kNothing;
    }

    static constexpr std::uint32_t kNothing = UINT32_MAX;

    detail::Block* last_ = nullptr;
    const char* lastBytes_ = nullptr;    // what it was decoded from
    std::uint32_t lastSize_ = kNothing;  // of these
    std::uint32_t room_ = 0;             // there, if they are a copy that the pool keeps
    std::uint8_t stock_ = 0;             // references to `last_` left
    std::uint8_t bought_ = 0;            // of so many
    std::uint16_t behindGate_ = 0;       // whose tries count: its own, or the first position's
    std::int16_t tries_ = 0;             // of a gate, in this window; negative while it rests
    std::int16_t hits_ = 0;
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
    if (detail::Block* last = again(text, place)) return detail::adopt<String>(last);
    return change(text, place, check);
  }
  String string(std::string_view text, Place& place) {
    return string(text, place, [] {});
  }
  /// The same where no place is known.
  String string(std::string_view text);
  /// What was seen last at a place, if it was decoded from these bytes (of a string: its text); a
  /// new reference, or null.
  [[gnu::always_inline]] detail::Block* again(std::string_view bytes, Place& place) noexcept {
    if (place.lastSize_ != bytes.size() ||
        !detail::sameBytes(place.lastBytes_, bytes.data(), bytes.size())) {
      return nullptr;
    }
    return place.take(*this);
  }

  /// The string for a place that last had another text, as again() says.
  template <class Check>
  [[gnu::noinline]] String change(std::string_view text, Place& place, const Check& check) {
    if (!place.open()) {
      check();
      return String(text);
    }
    std::uint64_t hash = 0;
    detail::Block* block = findString(text, hash);
    const bool hit = block != nullptr;
    if (!hit) {
      if (text.empty()) return {};
      check();
      block = insertString(text, hash);
    }
    if (place.room_ == 0) {
      place.remember(*this, block, static_cast<const char*>(block->payload()), text.size());
    }
    place.note(*this, hit ? 1 : 0, hit ? 0 : 1);
    return detail::adopt<String>(block);
  }

  /// A new reference to the block stored under this hash of these bytes, or null. With a place: for
  /// what again() does not know.
  detail::Block* find(const Hash& hash, std::string_view bytes) noexcept;
  detail::Block* find(const Hash& hash, std::string_view bytes, Place& place) noexcept;
  /// Stores a block under a hash that `find` did not know, with a reference of the pool's own.
  void insert(const Hash& hash, detail::Block* block, Drop drop);

  /// To be called between objects: sweeps when enough has been added.
  void settle() {
    if (added_ > sweepAt_) sweep();
  }

 private:
  // The low bit of a stored hash says the entry is new since the last sweep.
  static constexpr std::uint64_t kYoung = 1;
  struct StringEntry {
    std::uint64_t hash;
    detail::Block* block;

    std::uint64_t key() const noexcept { return hash & ~kYoung; }
    bool young() const noexcept { return (hash & kYoung) != 0; }
    void age() noexcept { hash &= ~kYoung; }
    void drop() const noexcept { String::drop(block); }
  };
  struct Node {
    Hash hash;
    detail::Block* block;
    Drop dropBlock;

    std::uint64_t key() const noexcept { return hash[0] & ~kYoung; }
    bool young() const noexcept { return (hash[0] & kYoung) != 0; }
    void age() noexcept { hash[0] &= ~kYoung; }
    void drop() const noexcept { dropBlock(block); }
  };

  void noteShared(std::uint64_t bytes) noexcept {  // by the one thread that writes it
    shared_.store(shared_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  }
  Place* newPlaces(std::size_t count, std::size_t positions);
  char* roomFor(std::string_view bytes, Place& place) noexcept;
  // A new reference, or null.
  detail::Block* findString(std::string_view text, std::uint64_t& hash) noexcept;
  detail::Block* insertString(std::string_view text, std::uint64_t hash);

  detail::MarkedTable<StringEntry> strings_;
  detail::MarkedTable<Node> nodes_;
  std::size_t added_ = 0;
  std::size_t sweepAt_;
  std::size_t hits_ = 0;
  std::size_t misses_ = 0;
  std::size_t swept_ = 0;
  std::size_t keptBytes_ = 0;
  std::atomic<std::uint64_t> shared_ = 0;
  std::unordered_map<const void*, Place*> roots_;
  std::vector<std::vector<Place>> places_;
  std::size_t placeCount_ = 0;
};

}  // namespace kube
