#include "kube/base/pool.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "kube/base/internal/hash.h"

namespace kube {

namespace {

constexpr std::size_t kMaxSites = 1 << 17;  // 5 MB
constexpr std::size_t kFirstSweep = 4096;
// Longer inputs are not copied for comparison, and no more are copied beyond a total of
// kMaxKeptBytes.
constexpr std::size_t kMaxKept = 1 << 10;
constexpr std::size_t kMaxKeptBytes = 1 << 20;

// Adds a reference to a block that is usually new. Such a block needs no atomic operation.
void addRefToNew(detail::Block* block) noexcept {
  if (detail::isSole(block)) {
    block->refs.store(2, std::memory_order_relaxed);
  } else {
    detail::addRef(block);
  }
}

}  // namespace

Pool::Pool() : sweepAt_(kFirstSweep) {}

Pool::~Pool() {
  for (auto& sites : sites_) {
    for (Site& site : sites) {
      site.forget(*this);
      if (site.room_ != 0) std::free(const_cast<char*>(site.lastBytes_));
    }
  }
  strings_.forEach([](const StringEntry& entry) { entry.drop(); });
  nodes_.forEach([](const Node& node) { node.drop(); });
}

Pool::Stats Pool::stats() const {
  return {.strings = strings_.count(),
          .nodes = nodes_.count(),
          .hits = hits_,
          .misses = misses_,
          .swept = swept_,
          .overhead = strings_.bytes() + nodes_.bytes()};
}

void Pool::Site::noteRepeats(Pool& pool, int count) noexcept {
  pool.noteShared(static_cast<std::uint64_t>(count) * lastSize_);
  note(pool, count, 0);
}

void Pool::Site::restock(Pool& pool) noexcept {
  noteRepeats(pool, bought_);
  last_->refs.fetch_add(kStock, std::memory_order_relaxed);
  stock_ = bought_ = kStock;
}

void Pool::Site::sellBack(Pool& pool) noexcept {
  // The tables hold a reference too, so this is never the last one.
  if (stock_ != 0) last_->refs.fetch_sub(stock_, std::memory_order_release);
  const int hits = bought_ - stock_;
  stock_ = bought_ = 0;
  noteRepeats(pool, hits);
}

Pool::Site* Pool::newSites(std::size_t count, std::size_t positions) {
  if (count == 0) return nullptr;  // a type without fields
  // Hostile input can have any number of paths.
  if (siteCount_ + count * positions > kMaxSites) return nullptr;
  siteCount_ += count * positions;
  auto& sites = sites_.emplace_back(count * positions);
  for (std::size_t i = 0; i < sites.size(); ++i) {
    sites[i].behindGate_ = static_cast<std::uint16_t>(i - i % count);
  }
  return sites.data();
}

Pool::Site* Pool::sites(const void* type, std::size_t count) {
  Site*& sites = roots_[type];
  if (sites == nullptr) sites = newSites(count, 1);
  return sites;
}

detail::Block* Pool::findString(std::string_view text, std::uint64_t& hash) noexcept {
  hash = detail::hash64(text) & ~kYoung;
  const StringEntry* entry = strings_.find(hash, [&](const StringEntry& found) {
    return found.block->size == text.size() &&
           detail::sameBytes(static_cast<const char*>(found.block->payload()), text.data(),
                             text.size());
  });
  ++(entry != nullptr ? hits_ : misses_);
  if (entry == nullptr) return nullptr;
  noteShared(text.size());
  detail::addRef(entry->block);
  return entry->block;
}

String Pool::string(std::string_view text) {
  if (text.empty()) return {};
  std::uint64_t hash = 0;
  detail::Block* block = findString(text, hash);
  return detail::adopt<String>(block != nullptr ? block : insertString(text, hash));
}

detail::Block* Pool::insertString(std::string_view text, std::uint64_t hash) {
  detail::Block* block = detail::release(String(text));
  strings_.insert({hash | kYoung, block});
  addRefToNew(block);
  ++added_;
  return block;
}

detail::Block* Pool::find(const Hash& hash, std::string_view bytes) noexcept {
  const Node* node =
      nodes_.find(hash[0] & ~kYoung, [&](const Node& found) { return found.hash[1] == hash[1]; });
  ++(node != nullptr ? hits_ : misses_);
  if (node == nullptr) return nullptr;
  noteShared(bytes.size());
  detail::addRef(node->block);
  return node->block;
}

// Returns memory where a site may keep a copy of these bytes, or null.
char* Pool::roomFor(std::string_view bytes, Site& site) noexcept {
  if (site.room_ == 0 || bytes.size() > site.room_) {
    const std::size_t room = std::bit_ceil(std::max<std::size_t>(bytes.size(), 64));
    if (room > kMaxKept || keptBytes_ + room > kMaxKeptBytes) return nullptr;
    auto* more = static_cast<char*>(std::malloc(room));
    if (more == nullptr) return nullptr;
    if (site.room_ != 0) std::free(const_cast<char*>(site.lastBytes_));
    keptBytes_ += room - site.room_;
    site.lastBytes_ = more;
    site.room_ = static_cast<std::uint32_t>(room);
  }
  return const_cast<char*>(site.lastBytes_);
}

detail::Block* Pool::find(const Hash& hash, std::string_view bytes, Site& site) noexcept {
  detail::Block* block = find(hash, bytes);
  if (block != nullptr) {
    site.forget(*this);
    if (char* kept = roomFor(bytes, site)) {
      std::copy(bytes.begin(), bytes.end(), kept);
      site.remember(*this, block, kept, bytes.size());
    }
  }
  site.note(*this, block != nullptr ? 1 : 0, block != nullptr ? 0 : 1);
  return block;
}

void Pool::insert(const Hash& hash, detail::Block* block, Drop drop) {
  nodes_.insert({{hash[0] | kYoung, hash[1]}, block, drop});
  addRefToNew(block);
  ++added_;
}

void Pool::sweep() {
  for (auto& sites : sites_) {
    for (Site& site : sites) site.forget(*this);
  }
  const std::size_t before = strings_.count() + nodes_.count();
  std::size_t idle = 0;  // held only by the pool: forgotten now or by the next sweep
  const auto forgets = [&](auto& entry) {
    const bool sole = detail::isSole(entry.block);
    idle += sole ? 1 : 0;
    const bool gone = sole && !entry.young();
    entry.age();
    if (gone) entry.drop();
    return gone;
  };
  // Nodes first: dropping a node releases strings, which are then found unheld.
  nodes_.removeIf(forgets);
  strings_.removeIf(forgets);
  const std::size_t left = strings_.count() + nodes_.count();
  swept_ += before - left;
  added_ = 0;
  // If few entries are idle, sweeping gains little: the pool may double before the next sweep.
  sweepAt_ = std::max(kFirstSweep, idle * 8 < before ? left * 2 : left / 2);
}

}  // namespace kube
