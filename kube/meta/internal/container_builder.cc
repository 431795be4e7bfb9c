#include "kube/meta/internal/container_builder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <vector>

#include "kube/meta/value.h"

namespace kube::detail {

namespace {

// The default of every scalar is all zero bytes; only some structs and Value have constructors.
bool constructsItself(const FieldInfo& field) {
  return field.kind == FieldKind::Message ? !field.type->zeroed : field.kind == FieldKind::Value;
}
void constructElement(const FieldInfo& field, std::byte* at) {
  if (!constructsItself(field)) return;
  if (field.kind == FieldKind::Message) {
    field.type->construct(at);
  } else {
    new (at) Value();
  }
}

std::size_t boxedSize(const FieldInfo& field) {
  const std::size_t value = field.kind == FieldKind::Message ? field.type->size : sizeof(Value);
  return sizeof(Block) + value + (field.shape == Shape::Map ? sizeof(String) : 0);
}

Block* emptyElements(const FieldInfo& field, std::size_t n) {
  if (n > kCountMask) throw std::length_error("kube::List: too long");
  return allocateBlock(sizeof(Block) + n * field.ops->slotSize, static_cast<std::uint32_t>(n));
}

// The number of slots in a list's block (see kRoomShift).
std::size_t roomOf(const Block* block) {
  const std::uint32_t log = block->size >> kRoomShift;
  return log != 0 ? std::size_t{1} << log : block->size;
}

// Makes the default element of a zeroed slot.
void fillSlot(const FieldInfo& field, std::byte* slot) {
  const std::size_t keySize = field.shape == Shape::Map ? sizeof(String) : 0;
  if (field.ops->boxed) {
    const std::size_t bytes = boxedSize(field);
    Block* box = allocateBlock(bytes, 1);
    std::memset(box->payload(), 0, bytes - sizeof(Block));
    constructElement(field, static_cast<std::byte*>(box->payload()) + keySize);
    *reinterpret_cast<Block**>(slot) = box;
  } else {
    constructElement(field, slot + keySize);
  }
}

// Moves a list's slots to a block with another capacity. Slots hold handles and plain numbers,
// which do not depend on their address, so they are moved as bytes.
void moveSlots(const FieldInfo& field, Block*& block, std::size_t room, int roomLog) {
  const auto bytesFor = [&](std::size_t slots) {
    return sizeof(Block) + slots * field.ops->slotSize;
  };
  block = block == nullptr ? allocateBlock(bytesFor(room), 0)
                           : resizeBlock(block, bytesFor(roomOf(block)), bytesFor(room));
  block->size = static_cast<std::uint32_t>(countOf(block)) | static_cast<std::uint32_t>(roomLog)
                                                                 << kRoomShift;
}

// Copies a slot into uninitialized memory.
void copySlot(const FieldInfo& field, std::byte* to, const std::byte* from) {
  const auto copyHandle = [&] {
    Block* block = *reinterpret_cast<Block* const*>(from);
    addRef(block);
    *reinterpret_cast<Block**>(to) = block;
  };
  std::size_t size = field.ops->slotSize;
  if (field.ops->boxed) return copyHandle();
  if (field.shape == Shape::Map) {
    copyHandle();
    to += sizeof(String);
    from += sizeof(String);
    size -= sizeof(String);
  }
  switch (field.kind) {
    case FieldKind::Message:
      field.type->copy(to, from);
      return;
    case FieldKind::Value:
      new (to) Value(*reinterpret_cast<const Value*>(from));
      return;
    case FieldKind::String:
    case FieldKind::Bytes:
    case FieldKind::Quantity:
    case FieldKind::IntOrString:  // a handle, then numbers
    case FieldKind::Raw:
    case FieldKind::Strings:
      std::memcpy(to, from, size);
      return copyHandle();
    default:
      std::memcpy(to, from, size);
  }
}

}  // namespace

Block* makeMessage(const TypeInfo& type) {
  Block* block = allocateBlock(sizeof(Block) + type.size, 1);
  if (type.zeroed) {
    std::memset(block->payload(), 0, type.size);
  } else {
    type.construct(block->payload());
  }
  return block;
}

Block* makeElements(const FieldInfo& field, std::size_t n) {
  if (n == 0) return nullptr;
  Block* block = emptyElements(field, n);
  std::memset(block->payload(), 0, n * field.ops->slotSize);
  if (field.ops->boxed ? field.shape == Shape::Map : constructsItself(field)) {
    for (std::size_t i = 0; i < n; ++i) fillSlot(field, slotOf(block, *field.ops, i));
  }
  return block;
}

std::byte* appendElement(const FieldInfo& field, Block*& block) {
  const std::size_t n = countOf(block);
  if (n == kCountMask) throw std::length_error("kube::List: too long");
  if (block == nullptr || n == roomOf(block)) {
    const int log = std::bit_width(n < 4 ? std::size_t{3} : n);
    moveSlots(field, block, std::size_t{1} << log, log);
  }
  std::byte* slot = slotOf(block, *field.ops, n);
  std::memset(slot, 0, field.ops->slotSize);
  fillSlot(field, slot);
  ++block->size;
  return elementOf(block, *field.ops, n);
}

void trimElements(const FieldInfo& field, Block*& block) {
  if (countOf(block) > 0 && roomOf(block) != countOf(block)) {
    moveSlots(field, block, countOf(block), 0);
  }
}

void joinElements(const FieldInfo& field, Block*& block, Block* more) {
  BlockGuard guard(more, field.ops->drop);
  const std::size_t before = countOf(block);
  const std::size_t added = countOf(more);
  Block* joined = emptyElements(field, before + added);
  if (isSole(block)) {
    std::memcpy(joined->payload(), block->payload(), before * field.ops->slotSize);
    freeBlock(block, sizeof(Block) + roomOf(block) * field.ops->slotSize);
  } else {
    for (std::size_t i = 0; i < before; ++i) {
      copySlot(field, slotOf(joined, *field.ops, i), slotOf(block, *field.ops, i));
    }
    field.ops->drop(block);
  }
  block = joined;
  std::memcpy(slotOf(joined, *field.ops, before), more->payload(), added * field.ops->slotSize);
  freeBlock(guard.release(), sizeof(Block) + added * field.ops->slotSize);
  if (field.shape == Shape::Map) block = sortEntries(field, block);
}

Block* sortEntries(const FieldInfo& field, Block* block, std::size_t* duplicates) {
  const std::size_t n = countOf(block);
  const auto key = [&](std::size_t i) -> const String& {
    return keyOf(elementOf(block, *field.ops, i));
  };
  bool sorted = true;
  for (std::size_t i = 1; i < n && sorted; ++i) sorted = key(i - 1) < key(i);
  if (sorted) return block;

  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  std::size_t kept = n;
  for (std::size_t i = 1; i < n; ++i) kept -= key(order[i - 1]) == key(order[i]) ? 1 : 0;
  if (duplicates != nullptr) *duplicates += n - kept;

  Block* result = emptyElements(field, kept);
  Block* gone = kept < n ? emptyElements(field, n - kept) : nullptr;
  std::size_t at = 0;
  std::size_t goneAt = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const bool last = i + 1 == n || key(order[i]) != key(order[i + 1]);
    std::memcpy(last ? slotOf(result, *field.ops, at++) : slotOf(gone, *field.ops, goneAt++),
                slotOf(block, *field.ops, order[i]), field.ops->slotSize);
  }
  freeBlock(block, sizeof(Block) + n * field.ops->slotSize);
  if (gone != nullptr) field.ops->drop(gone);
  return result;
}

}  // namespace kube::detail
