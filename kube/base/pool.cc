#include "kube/base/pool.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>

#include "kube/base/hash.h"

namespace kube {

namespace detail {

const std::array<unsigned char, kSecretSize> kHashSecret = [] {
  std::array<unsigned char, kSecretSize> secret{};
  std::random_device random;
  for (std::size_t i = 0; i < secret.size(); i += 4) {
    const std::uint32_t bits = random();
    for (std::size_t k = 0; k < 4; ++k) secret[i + k] = static_cast<unsigned char>(bits >> (8 * k));
  }
  return secret;
}();

}  // namespace detail

namespace {

constexpr std::uint64_t kYoung = 1;
constexpr std::size_t kFirstCapacity = 256;
constexpr std::size_t kMaxPlaces = 1 << 17;  // 7 MB
constexpr std::size_t kFirstSweep = 4096;
constexpr std::size_t kGrowth = 4;  // of a table: moving its entries is dear

// Tables are kept at most three quarters full.
bool crowded(std::size_t count, std::size_t capacity) { return count * 4 >= capacity * 3; }

std::size_t slotOf(std::uint64_t hash, std::size_t capacity) noexcept {
  return (hash >> 8) & (capacity - 1);
}

// Calls `use` with every entry in use. Blocks are all over the memory: the next ones are on their
// way to the cache meanwhile.
template <class Table, class Use>
void forEach(Table& table, Use use) {
  constexpr std::size_t kAhead = 16;
  const std::size_t size = table.size();
  for (std::size_t i = 0; i < size; ++i) {
    if (i + kAhead < size) __builtin_prefetch(table[i + kAhead].block, 1);
    if (table[i].block != nullptr) use(table[i]);
  }
}

// A reference to a block that is mostly new, and then needs no atomic operation for it.
void addRefToNew(detail::Block* block) noexcept {
  if (detail::isSole(block)) {
    block->refs.store(2, std::memory_order_relaxed);
  } else {
    detail::addRef(block);
  }
}

}  // namespace

Pool::Pool() : sweepAt_(kFirstSweep) {
  growStrings(kFirstCapacity);
  growNodes(kFirstCapacity);
}

Pool::~Pool() {
  for (auto& places : places_) {
    for (Place& place : places) place.forget();
  }
  forEach(strings_, [](const StringEntry& entry) { String::drop(entry.block); });
  forEach(nodes_, [](const Node& node) { node.drop(node.block); });
}

Pool::Stats Pool::stats() const {
  return {.strings = stringCount_,
          .nodes = nodeCount_,
          .hits = hits_,
          .misses = misses_,
          .swept = swept_,
          .overhead = strings_.size() * sizeof(StringEntry) + nodes_.size() * sizeof(Node)};
}

Pool::Place* Pool::newPlaces(std::size_t count, std::size_t positions) {
  if (count == 0) return nullptr;  // a type without fields
  // Hostile input can have any number of paths.
  if (placeCount_ + count * positions > kMaxPlaces) return nullptr;
  placeCount_ += count * positions;
  auto& places = places_.emplace_back(count * positions);
  for (std::size_t i = 0; i < places.size(); ++i) places[i].gate_ = &places[i % count];
  return places.data();
}

Pool::Place* Pool::places(const void* type, std::size_t count) {
  Place*& places = roots_[type];
  if (places == nullptr) places = newPlaces(count, 1);
  return places;
}

detail::Block* Pool::findString(std::string_view text, std::uint64_t& hash) noexcept {
  hash = detail::hash64(text) & ~kYoung;
  for (std::size_t i = slotOf(hash, strings_.size());; i = (i + 1) & (strings_.size() - 1)) {
    const StringEntry& entry = strings_[i];
    if (entry.block == nullptr) {
      ++misses_;
      return nullptr;
    }
    if ((entry.hash & ~kYoung) == hash && entry.block->size == text.size() &&
        detail::sameBytes(static_cast<const char*>(entry.block->payload()), text.data(),
                          text.size())) {
      ++hits_;
      detail::addRef(entry.block);
      return entry.block;
    }
  }
}

String Pool::string(std::string_view text) {
  if (text.empty()) return {};
  std::uint64_t hash = 0;
  detail::Block* block = findString(text, hash);
  return detail::adopt<String>(block != nullptr ? block : insertString(text, hash));
}

detail::Block* Pool::insertString(std::string_view text, std::uint64_t hash) {
  detail::Block* block = detail::release(String(text));
  std::size_t i = slotOf(hash, strings_.size());
  while (strings_[i].block != nullptr) i = (i + 1) & (strings_.size() - 1);
  strings_[i] = {hash | kYoung, block};
  addRefToNew(block);
  ++stringCount_;
  ++added_;
  if (crowded(stringCount_, strings_.size())) growStrings(strings_.size() * kGrowth);
  return block;
}

detail::Block* Pool::find(const Hash& hash) noexcept {
  const std::uint64_t low = hash[0] & ~kYoung;
  for (std::size_t i = slotOf(low, nodes_.size());; i = (i + 1) & (nodes_.size() - 1)) {
    const Node& node = nodes_[i];
    if (node.block == nullptr) {
      ++misses_;
      return nullptr;
    }
    if ((node.hash[0] & ~kYoung) == low && node.hash[1] == hash[1]) {
      ++hits_;
      detail::addRef(node.block);
      return node.block;
    }
  }
}

void Pool::insert(const Hash& hash, detail::Block* block, Drop drop) {
  const std::uint64_t low = hash[0] & ~kYoung;
  std::size_t i = slotOf(low, nodes_.size());
  while (nodes_[i].block != nullptr) i = (i + 1) & (nodes_.size() - 1);
  nodes_[i] = {{low | kYoung, hash[1]}, block, drop};
  addRefToNew(block);
  ++nodeCount_;
  ++added_;
  if (crowded(nodeCount_, nodes_.size())) growNodes(nodes_.size() * kGrowth);
}

void Pool::growStrings(std::size_t capacity) {
  detail::ZeroedTable<StringEntry> old(capacity);
  std::swap(old, strings_);
  for (const StringEntry& entry : old) {
    if (entry.block == nullptr) continue;
    std::size_t i = slotOf(entry.hash, capacity);
    while (strings_[i].block != nullptr) i = (i + 1) & (capacity - 1);
    strings_[i] = entry;
  }
}

void Pool::growNodes(std::size_t capacity) {
  detail::ZeroedTable<Node> old(capacity);
  std::swap(old, nodes_);
  for (const Node& node : old) {
    if (node.block == nullptr) continue;
    std::size_t i = slotOf(node.hash[0], capacity);
    while (nodes_[i].block != nullptr) i = (i + 1) & (capacity - 1);
    nodes_[i] = node;
  }
}

void Pool::sweep() {
  for (auto& places : places_) {
    for (Place& place : places) place.forget();
  }
  const std::size_t before = stringCount_ + nodeCount_;
  std::size_t idle = 0;  // held by nobody else, forgotten now or by the next sweep
  // Nodes first: dropping one releases strings, which are then found unheld.
  forEach(nodes_, [&](Node& node) {
    const bool sole = detail::isSole(node.block);
    idle += sole ? 1 : 0;
    if (sole && (node.hash[0] & kYoung) == 0) {
      node.drop(node.block);
      node.block = nullptr;
      --nodeCount_;
    } else {
      node.hash[0] &= ~kYoung;
    }
  });
  forEach(strings_, [&](StringEntry& entry) {
    const bool sole = detail::isSole(entry.block);
    idle += sole ? 1 : 0;
    if (sole && (entry.hash & kYoung) == 0) {
      String::drop(entry.block);
      entry.block = nullptr;
      --stringCount_;
    } else {
      entry.hash &= ~kYoung;
    }
  });
  // Removing left holes in the probe sequences, so both tables are laid out anew.
  growNodes(std::max(kFirstCapacity, std::bit_ceil(nodeCount_ * 2)));
  growStrings(std::max(kFirstCapacity, std::bit_ceil(stringCount_ * 2)));
  const std::size_t left = stringCount_ + nodeCount_;
  swept_ += before - left;
  added_ = 0;
  // Where hardly anything is idle, sweeping is not worth much: twice as much may come first.
  sweepAt_ = std::max(kFirstSweep, idle * 8 < before ? left * 2 : left / 2);
}

}  // namespace kube
