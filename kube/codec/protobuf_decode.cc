#include "kube/codec/protobuf_decode.h"

#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <protozero/varint.hpp>

#include "kube/base/error.h"
#include "kube/base/hash.h"
#include "kube/codec/container.h"
#include "kube/codec/json_index.h"
#include "kube/meta/optional_field.h"

namespace kube::detail {

namespace {

enum WireType : std::uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

constexpr std::uint32_t typeOf(std::uint32_t key) { return key & 7; }
constexpr std::uint32_t tagOf(std::uint32_t key) { return key >> 3; }

WireType wireTypeOf(FieldKind kind) {
  switch (kind) {
    case FieldKind::Bool:
    case FieldKind::Int32:
    case FieldKind::Int64:
      return kVarint;
    case FieldKind::Double:
      return kFixed64;
    default:
      return kBytes;
  }
}

void checkUtf8(std::string_view text, const WireReader& in) {
  // Nearly all strings are short ASCII: eight characters at a time.
  std::size_t i = 0;
  std::uint64_t all = 0;
  for (; i + 8 <= text.size(); i += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, text.data() + i, 8);
    all |= eight;
  }
  for (; i < text.size(); ++i) all |= static_cast<std::uint64_t>(text[i]) & 0x80;
  if ((all & 0x8080'8080'8080'8080) == 0) return;
  if (!simdjson::validate_utf8(text.data(), text.size())) in.fail("a string is not valid UTF-8");
}

}  // namespace

// ---- WireReader ----

std::uint64_t WireReader::longVarint() {
  try {
    return protozero::decode_varint(&at_, end_);
  } catch (const protozero::end_of_buffer_exception&) {
    fail("unexpected end inside a number");
  } catch (const protozero::varint_too_long_exception&) {
    fail("a number is too long");
  }
}

double WireReader::fixedDouble() {
  if (end_ - at_ < 8) fail("unexpected end inside a number");
  std::uint64_t bits = 0;
  for (int i = 7; i >= 0; --i) bits = bits << 8 | static_cast<unsigned char>(at_[i]);
  at_ += 8;
  return std::bit_cast<double>(bits);
}

void WireReader::badKey() const { fail("bad field number"); }

void WireReader::skip(std::uint32_t key) {
  switch (typeOf(key)) {
    case kVarint:
      varint();
      return;
    case kFixed64:
      advance(8);
      return;
    case kBytes:
      bytes();
      return;
    case kFixed32:
      advance(4);
      return;
    default:
      fail("bad wire type " + std::to_string(typeOf(key)));
  }
}

void WireReader::advance(std::ptrdiff_t n) {
  if (end_ - at_ < n) fail("unexpected end");
  at_ += n;
}

void WireReader::fail(std::string_view reason) const {
  throw DecodeError({.format = "protobuf",
                     .path = pathOf(path_),
                     .offset = static_cast<std::size_t>(at_ - start_)},
                    std::string(reason));
}

// ---- ProtobufDecoder ----

[[gnu::always_inline]] inline void ProtobufDecoder::string(String& slot, std::string_view text,
                                                           const WireReader& in, Place* place) {
  if (text.empty()) {  // upstream writes empty strings too
    if (!slot.empty()) slot = String();
  } else if (place != nullptr) {
    slot = pool_->string(text, *place, [&] { checkUtf8(text, in); });
  } else {
    checkUtf8(text, in);
    slot = String(text);
  }
}

void ProtobufDecoder::message(const TypeInfo& type, void* object, std::string_view bytes) {
  Place* places = pool_ != nullptr ? pool_->places(&type, type.fields.size()) : nullptr;
  message(type, type.wire, static_cast<std::byte*>(object), bytes, places);
}

void ProtobufDecoder::message(const TypeInfo& type, std::span<const WireField> wire,
                              std::byte* object, std::string_view bytes, Place* places) {
  WireReader in(bytes, start_, path_);
  if (++depth_ > kMaxDepth) in.fail("nested too deeply");
  PathStep step(path_);
  std::uint64_t complete = 0;  // repeated fields of which every element has been taken
  // Fields come by ascending tag, so the next one is near.
  const WireField* const begin = wire.data();
  const WireField* const end = begin + wire.size();
  const WireField* next = begin;
  while (!in.done()) {
    const char* first = in.position();
    const std::uint32_t key = in.key();
    const std::uint32_t tag = tagOf(key);
    while (next != end && next->tag < tag) ++next;
    if (next == end || next->tag != tag) [[unlikely]] {
      next = begin;
      while (next != end && next->tag < tag) ++next;
      if (next == end || next->tag != tag) {
        next = begin;
        in.skip(key);
        continue;
      }
    }
    if (!next->group.empty()) [[unlikely]] {
      if (typeOf(key) != kBytes) in.fail("bad wire type for an embedded message");
      message(type, next->group, object, in.bytes(), places);
      continue;
    }
    const FieldInfo& info = type.fields[next->field];
    Place* place = places != nullptr ? places + next->field : nullptr;
    std::byte* at = object + info.offset;
    step.name(info.name);
    if (info.shape == Shape::Plain) {
      // The common ones here, the rest out of line.
      if (info.kind == FieldKind::String && typeOf(key) == kBytes) {
        string(*reinterpret_cast<String*>(at), in.bytes(), in, place);
      } else if (info.kind == FieldKind::Bool && typeOf(key) == kVarint) {
        *reinterpret_cast<bool*>(at) = in.varint() != 0;
      } else if (info.kind == FieldKind::Int32 && typeOf(key) == kVarint) {
        *reinterpret_cast<std::int32_t*>(at) = static_cast<std::int32_t>(in.varint());
      } else {
        element(info, at, in, key, info.kind == FieldKind::Message ? inside(info, place) : place);
      }
    } else if (info.shape == Shape::Optional) {
      optional(info, at, in, key, place);
    } else {
      const std::uint64_t bit = std::uint64_t{1} << (next - begin);
      bool done = (complete & bit) != 0;
      repeated(info, at, in, first, key, bytes, done, place);
      if (done) complete |= bit;
    }
  }
  --depth_;
}

ProtobufDecoder::Place* ProtobufDecoder::inside(const FieldInfo& info, Place* place) {
  return placesInside(pool_, info, place);
}

template <class Make>
Block* ProtobufDecoder::pooled(std::string_view bytes, Place* place, const void* salt,
                               Pool::Drop drop, Make make) {
  // A hit is not looked into, so its nesting is not counted: what is long enough to be nested
  // dangerously deep is never taken from the pool.
  constexpr std::size_t kMaxPooled = 32 << 10;
  if (place == nullptr || bytes.size() > kMaxPooled || !place->open()) return make();
  const Pool::Hash hash = hash128(bytes, static_cast<const char*>(salt) + 1);
  Block* block = pool_->find(hash, *place);
  if (block != nullptr) return block;
  block = make();
  if (block != nullptr) pool_->insert(hash, block, drop);
  return block;
}

// How many elements the value behind `key` holds: one, unless numbers come packed. Passes over it.
std::size_t ProtobufDecoder::count(const FieldInfo& info, WireReader& in, std::uint32_t key) {
  if (typeOf(key) != kBytes || wireTypeOf(info.kind) == kBytes || info.shape == Shape::Map) {
    in.skip(key);
    return 1;
  }
  const std::string_view packed = in.bytes();
  if (info.kind == FieldKind::Double) return packed.size() / 8;
  if (!packed.empty() && static_cast<signed char>(packed.back()) < 0) {
    in.fail("unexpected end inside a number");
  }
  return static_cast<std::size_t>(
      std::ranges::count_if(packed, [](char c) { return static_cast<signed char>(c) >= 0; }));
}

// A list or map is looked up by the bytes of its whole run of equal tags. Encoders write all
// elements in one run; where a later run turns up, or the message itself has come in two parts, all
// that is left is taken together, once, and put behind what is there. No element is decoded twice:
// with such lists one inside the other that would take time without end.
void ProtobufDecoder::repeated(const FieldInfo& info, std::byte* at, WireReader& in,
                               const char* first, std::uint32_t key, std::string_view whole,
                               bool& complete, Place* place) {
  auto& block = *reinterpret_cast<Block**>(at);
  if (complete) return in.skip(key);
  if (block != nullptr) {
    const auto left = static_cast<std::size_t>(whole.data() + whole.size() - first);
    const std::string_view rest(first, left);
    WireReader ahead(rest, start_, path_);
    std::size_t items = 0;
    while (!ahead.done()) {
      const std::uint32_t other = ahead.key();
      if (tagOf(other) == tagOf(key)) {
        items += count(info, ahead, other);
      } else {
        ahead.skip(other);
      }
    }
    joined_ += countOf(block);
    if (joined_ > kMaxJoined * size_) in.fail("a message is in too many parts");
    Block* more = elements(info, rest, tagOf(key), items, inside(info, place));
    if (more != nullptr) joinElements(info, block, more);
    complete = true;
    return in.skip(key);
  }

  std::size_t items = 0;
  const char* last = nullptr;
  if (key < 0x80 && typeOf(key) == kBytes && wireTypeOf(info.kind) == kBytes) {
    do {  // the common case: elements with lengths, under a key of one byte
      in.bytes();
      ++items;
    } while (in.take(static_cast<char>(key)));
    last = in.position();
  } else {
    for (std::uint32_t next = key; next == key;) {
      items += count(info, in, next);
      last = in.position();
      if (in.done()) break;
      next = in.key();
    }
    in.seek(last);
  }
  const std::string_view run(first, static_cast<std::size_t>(last - first));
  block = pooled(run, place, info.ops, info.ops->drop,
                 [&] { return elements(info, run, tagOf(key), items, inside(info, place)); });
}

// Takes the elements of one tag out of `bytes`; other fields in there are passed over.
Block* ProtobufDecoder::elements(const FieldInfo& info, std::string_view bytes, std::uint32_t tag,
                                 std::size_t items, Place* inside) {
  BlockGuard block(makeElements(info, items), info.ops->drop);
  WireReader in(bytes, start_, path_);
  PathStep step(path_);
  for (std::size_t i = 0; i < items;) {
    const std::uint32_t key = in.key();
    if (tagOf(key) != tag) {
      in.skip(key);
      continue;
    }
    step.item(i);
    Place* place = placeAt(info, inside, i);
    std::byte* at = slotOf(block.get(), *info.ops, i);
    if (info.shape == Shape::Map) {
      entry(info, elementOf(block.get(), *info.ops, i), in, key, place);
      ++i;
    } else if (info.ops->boxed) {
      if (typeOf(key) != kBytes) in.fail("bad wire type for a message");
      boxOf(at) = box(info, in.bytes(), place);
      ++i;
    } else if (typeOf(key) == kBytes && wireTypeOf(info.kind) != kBytes) {
      WireReader packed(in.bytes(), start_, path_);
      const std::uint32_t single = wireTypeOf(info.kind);
      for (; !packed.done(); ++i) {
        if (i == items) in.fail("malformed packed numbers");
        element(info, elementOf(block.get(), *info.ops, i), packed, single, place);
      }
    } else {
      element(info, at, in, key, place);
      ++i;
    }
  }
  Block* result = block.release();
  return info.shape == Shape::Map && result != nullptr ? sortEntries(info, result) : result;
}

Block* ProtobufDecoder::box(const FieldInfo& info, std::string_view bytes, Place* place) {
  return pooled(bytes, place, info.type, info.ops->dropBox, [&] {
    BlockGuard guard(makeMessage(*info.type), info.ops->dropBox);
    message(*info.type, info.type->wire, static_cast<std::byte*>(guard.get()->payload()), bytes,
            place != nullptr ? place + 1 : nullptr);
    return guard.release();
  });
}

void ProtobufDecoder::entry(const FieldInfo& info, std::byte* entry, WireReader& outer,
                            std::uint32_t outerKey, Place* place) {
  if (typeOf(outerKey) != kBytes) outer.fail("bad wire type for a map entry");
  WireReader in(outer.bytes(), start_, path_);
  while (!in.done()) {
    const std::uint32_t key = in.key();
    if (key == (1 << 3 | kBytes)) {
      const std::string_view text = in.bytes();
      string(keyOf(entry), text, in, place);
    } else if (tagOf(key) == 2) {
      element(info, valueOf(entry), in, key, place != nullptr ? place + 1 : nullptr);
    } else {
      in.skip(key);
    }
  }
}

void ProtobufDecoder::optional(const FieldInfo& info, std::byte* at, WireReader& in,
                               std::uint32_t key, Place* place) {
  if (info.kind != FieldKind::Message) {
    element(info, static_cast<std::byte*>(emplaceOptional(info.kind, at)), in, key, place);
    return;
  }
  if (typeOf(key) != kBytes) in.fail("bad wire type for a message");
  const std::string_view bytes = in.bytes();
  auto& block = *reinterpret_cast<Block**>(at);
  const auto decode = [&](Block* fresh) {
    BlockGuard guard(fresh, info.ops->drop);
    message(*info.type, info.type->wire, static_cast<std::byte*>(fresh->payload()), bytes,
            inside(info, place));
    return guard.release();
  };
  if (block == nullptr) {
    block = pooled(bytes, place, info.ops, info.ops->drop,
                   [&] { return decode(makeMessage(*info.type)); });
    return;
  }
  // A message in two parts: the second is laid over a copy of the first.
  Block* merged = allocateBlock(sizeof(Block) + info.type->size, 1);
  info.type->copy(merged->payload(), block->payload());
  merged = decode(merged);
  info.ops->drop(std::exchange(block, merged));
}

void ProtobufDecoder::element(const FieldInfo& info, std::byte* at, WireReader& in,
                              std::uint32_t key, Place* place) {
  if (typeOf(key) != wireTypeOf(info.kind)) in.fail("bad wire type");
  switch (info.kind) {
    case FieldKind::Bool:
      *reinterpret_cast<bool*>(at) = in.varint() != 0;
      return;
    case FieldKind::Int32:
      *reinterpret_cast<std::int32_t*>(at) = static_cast<std::int32_t>(in.varint());
      return;
    case FieldKind::Int64:
      *reinterpret_cast<std::int64_t*>(at) = static_cast<std::int64_t>(in.varint());
      return;
    case FieldKind::Double:
      *reinterpret_cast<double*>(at) = in.fixedDouble();
      return;
    case FieldKind::String:
      string(*reinterpret_cast<String*>(at), in.bytes(), in, place);
      return;
    case FieldKind::Time:
      time(*reinterpret_cast<Time*>(at), in.bytes());
      return;
    case FieldKind::Bytes:
      *reinterpret_cast<Bytes*>(at) = Bytes(in.bytes());
      return;
    case FieldKind::Message:
      message(*info.type, info.type->wire, at, in.bytes(), place);
      return;
    default:
      builtIn(info.kind, at, in, place);
  }
}

// Types that are messages on the wire and values in C++.
void ProtobufDecoder::builtIn(FieldKind kind, std::byte* at, WireReader& outer, Place* place) {
  const std::string_view bytes = outer.bytes();
  WireReader in(bytes, start_, path_);
  std::int64_t numbers[3] = {};  // of fields 1 and 2
  std::string_view text;         // of field 1 or, in IntOrString, 3
  std::size_t strings = 0;
  while (!in.done()) {
    const std::uint32_t key = in.key();
    if (typeOf(key) == kVarint && tagOf(key) <= 2) {
      numbers[tagOf(key)] = static_cast<std::int64_t>(in.varint());
    } else if (typeOf(key) == kBytes && (tagOf(key) == 1 || tagOf(key) == 3)) {
      text = in.bytes();
      strings += tagOf(key) == 1 ? 1 : 0;
    } else {
      in.skip(key);
    }
  }
  switch (kind) {
    case FieldKind::MicroTime:
      *reinterpret_cast<MicroTime*>(at) =
          bytes.empty() ? MicroTime() : MicroTime::fromUnix(numbers[1], numbers[2]);
      return;
    case FieldKind::Duration:
      *reinterpret_cast<Duration*>(at) = Duration(std::chrono::nanoseconds(numbers[1]));
      return;
    case FieldKind::Quantity: {
      String held;
      string(held, text, in, place);
      std::string_view why;
      if (!held.empty() &&
          !Quantity::tryAdopt(std::move(held), *reinterpret_cast<Quantity*>(at), &why)) {
        in.fail(why);
      }
      return;
    }
    case FieldKind::IntOrString: {
      String held;
      string(held, text, in, place);
      *reinterpret_cast<IntOrString*>(at) =
          numbers[1] != 0 ? IntOrString(std::move(held))
                          : IntOrString(static_cast<std::int32_t>(numbers[2]));
      return;
    }
    case FieldKind::Raw: {
      String& raw = reinterpret_cast<RawExtension*>(at)->raw;
      if (place == nullptr || !place->open()) {
        raw = String(text);
      } else if (Block* last = pool_->again(text, *place)) {
        raw = adopt<String>(last);
      } else if (simdjson::validate_utf8(text.data(), text.size())) {
        raw = pool_->string(text, *place);
      } else {  // any bytes will do here, but the pool's strings are known to be UTF-8
        raw = String(text);
      }
      return;
    }
    case FieldKind::Strings: {
      static constexpr FieldInfo kItems = makeField<List<String>>("", 0, 1);
      *reinterpret_cast<Strings*>(at) =
          Strings(adopt<List<String>>(elements(kItems, bytes, 1, strings, inside(kItems, place))));
      return;
    }
    default:
      in.fail("this type has no protobuf form");
  }
}

void ProtobufDecoder::time(Time& slot, std::string_view bytes) {
  // An empty message is the zero time; 1970 is written out.
  if (bytes.empty()) {
    slot = Time();
    return;
  }
  WireReader in(bytes, start_, path_);
  std::int64_t seconds = 0;
  while (!in.done()) {
    const std::uint32_t key = in.key();
    if (key == (1 << 3 | kVarint)) {
      seconds = static_cast<std::int64_t>(in.varint());
    } else {
      in.skip(key);
    }
  }
  slot = Time::fromUnix(seconds);
}

}  // namespace kube::detail
