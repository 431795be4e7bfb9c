// A decoder's memory of earlier input, by which equal parts of different objects share blocks.
//
// Decoders look up the wire bytes of strings, messages, lists and maps here. A known part is
// returned shared and is not decoded again. A list decoded without a pool uses one of its own
// during the call; an informer keeps one for as long as it lives. A string hit compares the text;
// other hits trust a 128-bit hash keyed with random bits of the process.
//
// A pool holds strong references. It sweeps by itself as it grows: entries that only the pool holds
// and that are older than one sweep are forgotten. Fields whose values hardly ever repeat are
// detected and skipped for a while, so a pool costs little where it cannot help.
//
// Thread safety: one thread at a time decodes through a pool; any thread may call sharedBytes()
// meanwhile. Objects from a pool may be used and dropped on any thread, even after the pool is
// destroyed.
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

/// Like memcmp, without a call, for the short strings that names and values are.
[[gnu::always_inline]] inline bool sameBytes(const char* a, const char* b, std::size_t n) noexcept {
  const auto differ = [&]<class Word>(Word word, std::size_t at) {
    Word other;
    std::memcpy(&word, a + at, sizeof(word));
    std::memcpy(&other, b + at, sizeof(other));
    return word ^ other;
  };
  const auto ends = [&]<class Word>(Word word) {  // first and last bytes; may overlap
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
    std::size_t hits = 0;      // answers from the tables, without repeats of the last value
    std::size_t misses = 0;    // lookups that the tables could not answer
    std::size_t swept = 0;     // entries forgotten so far
    std::size_t overhead = 0;  // bytes of the pool's own tables
  };
  Stats stats() const;
  /// Bytes of input so far that were known, and so were neither decoded nor stored again. The
  /// number lags behind by a few dozen repeats of the last value of a site.
  std::uint64_t sharedBytes() const noexcept { return shared_.load(std::memory_order_relaxed); }

  /// Forgets entries that only the pool holds and that have survived an earlier sweep.
  void sweep();

  // The rest is for decoders.

  using Hash = std::array<std::uint64_t, 2>;
  using Drop = void (*)(detail::Block*) noexcept;

  /// Statistics and cache of one site where values occur (a field or an element of a list, by its
  /// path): whether lookups there pay, the last value, and the sites inside. An object has
  /// hundreds of sites, so they are small.
  class Site {
   public:
    /// False while this site rests because hits were rare. again() still works meanwhile, except
    /// for the first position of a list.
    bool open() noexcept {
      Site& gate = this->gate();
      if (gate.tries_ >= 0) return true;
      ++gate.tries_;
      return false;
    }
    /// Gives this site its own hit rate instead of the list's. For long values: hashing them at
    /// all positions costs more than the hits at one position save.
    void judgeAlone() noexcept { behindGate_ = 0; }

   private:
    friend class Pool;
    static constexpr int kWindow = 512;  // tries before a judgement
    static constexpr int kWorth = 16;    // lookups are worth it with 1 hit in this many tries
    static constexpr int kRest = 16 * kWindow;  // tries for which a site rests
    static constexpr std::uint8_t kStock = 32;  // references bought at a time
    static_assert(kStock * kWorth >= kWindow);  // a site that used up its stock is worth it

    Site& gate() noexcept { return *(this - behindGate_); }
    void note(Pool& pool, int hits, int misses) noexcept {
      Site& gate = this->gate();
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
    // Returns a reference to `last_`. References are bought, and counted as hits, in bulk, because
    // atomic operations are expensive where values repeat.
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
    const char* lastBytes_ = nullptr;    // the input from which it was decoded
    std::uint32_t lastSize_ = kNothing;  // the length of that input
    std::uint32_t room_ = 0;             // capacity at lastBytes_ if that is a copy, else 0
    std::uint8_t stock_ = 0;             // references to `last_` that are left
    std::uint8_t bought_ = 0;            // references bought last time
    std::uint16_t behindGate_ = 0;       // distance to the site that counts tries (gate())
    std::int16_t tries_ = 0;  // tries in this window, counted in the gate; negative while it rests
    std::int16_t hits_ = 0;
    Site* inside_ = nullptr;
  };

  /// The sites of the fields of a described type, for the root of an object; `type` is any address
  /// that identifies the type. Null if there are too many sites already.
  Site* sites(const void* type, std::size_t count);
  /// The sites inside a site: `count` for each of several positions in a list. The positions
  /// remember their last values separately but share one hit rate, because values that differ from
  /// object to object may still repeat within one. The numbers must be the same in every call.
  Site* inside(Site& site, std::size_t count, std::size_t positions) {
    if (site.inside_ == nullptr) site.inside_ = newSites(count, positions);
    return site.inside_;
  }

  /// The pooled string with this text. A new text is inserted after a call of `check`, which may
  /// throw.
  template <class Check>
  [[gnu::always_inline]] String string(std::string_view text, Site& site, Check check) {
    // A repeat of the last value is the common case, and worth inlining.
    if (detail::Block* last = again(text, site)) return detail::adopt<String>(last);
    return change(text, site, check);
  }
  String string(std::string_view text, Site& site) {
    return string(text, site, [] {});
  }
  /// The same for callers that have no site.
  String string(std::string_view text);
  /// Returns a new reference to the last value of a site if that value was decoded from these
  /// bytes (for a string: its text), or null.
  [[gnu::always_inline]] detail::Block* again(std::string_view bytes, Site& site) noexcept {
    if (site.lastSize_ != bytes.size() ||
        !detail::sameBytes(site.lastBytes_, bytes.data(), bytes.size())) {
      return nullptr;
    }
    return site.take(*this);
  }

  /// Returns the string for a site whose last value was another text, as again() has found.
  template <class Check>
  [[gnu::noinline]] String change(std::string_view text, Site& site, const Check& check) {
    if (!site.open()) {
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
    if (site.room_ == 0) {
      site.remember(*this, block, static_cast<const char*>(block->payload()), text.size());
    }
    site.note(*this, hit ? 1 : 0, hit ? 0 : 1);
    return detail::adopt<String>(block);
  }

  /// Returns a new reference to the block stored under the hash of these bytes, or null. With a
  /// site: for bytes that again() does not know.
  detail::Block* find(const Hash& hash, std::string_view bytes) noexcept;
  detail::Block* find(const Hash& hash, std::string_view bytes, Site& site) noexcept;
  /// Stores a block under a hash that `find` did not know; the pool adds a reference of its own.
  void insert(const Hash& hash, detail::Block* block, Drop drop);

  /// Called between objects: sweeps if enough entries were added.
  void settle() {
    if (added_ > sweepAt_) sweep();
  }

 private:
  // The low bit of a stored hash is set if the entry is new since the last sweep.
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

  void noteShared(std::uint64_t bytes) noexcept {  // called only by the decoding thread
    shared_.store(shared_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  }
  Site* newSites(std::size_t count, std::size_t positions);
  char* roomFor(std::string_view bytes, Site& site) noexcept;
  // Returns a new reference, or null.
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
  std::unordered_map<const void*, Site*> roots_;
  std::vector<std::vector<Site>> sites_;
  std::size_t siteCount_ = 0;
};

}  // namespace kube
