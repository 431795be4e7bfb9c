#include "kube/codec/internal/protobuf_decode.h"

#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "kube/base/internal/hash.h"
#include "kube/codec/internal/decode_sites.h"
#include "kube/codec/internal/limits.h"
#include "kube/meta/internal/optional_field.h"

namespace kube::detail {

namespace {

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

bool isAscii(std::string_view text) {
  std::size_t i = 0;
  std::uint64_t all = 0;
  for (; i + 8 <= text.size(); i += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, text.data() + i, 8);
    all |= eight;
  }
  for (; i < text.size(); ++i) all |= static_cast<std::uint64_t>(text[i]) & 0x80;
  return (all & 0x8080'8080'8080'8080) == 0;
}

// Reads the seconds of a time in the form that upstream nearly always writes: in five bytes, which
// lasts from 1978 to 3058, and without a fraction. Returns false for other forms.
bool usualSeconds(std::string_view bytes, std::int64_t& seconds) {
  constexpr std::uint64_t kMask = 0xFFFF'8080'8080'80FF;   // eight bytes, the first one lowest:
  constexpr std::uint64_t kUsual = 0x0010'0080'8080'8008;  // 08 8x 8x 8x 8x 0x 10 00
  if (bytes.size() != sizeof kUsual) return false;
  const auto byte = [&](int i) {
    return static_cast<std::uint64_t>(
               static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]))
           << (8 * i);
  };
  const std::uint64_t word =
      byte(0) | byte(1) | byte(2) | byte(3) | byte(4) | byte(5) | byte(6) | byte(7);
  if ((word & kMask) != kUsual) return false;
  constexpr std::int64_t kSeven = 0x7F;
  const auto bits = static_cast<std::int64_t>(word);
  seconds = (bits >> 8 & kSeven) | (bits >> 9 & kSeven << 7) | (bits >> 10 & kSeven << 14) |
            (bits >> 11 & kSeven << 21) | (bits >> 12 & kSeven << 28);
  return true;
}

}  // namespace

// ---- Messages ----

void ProtobufDecoder::message(const TypeInfo& type, void* object, std::string_view bytes) {
  Site* sites = pool_ != nullptr ? pool_->sites(&type, type.fields.size()) : nullptr;
  message(type, static_cast<std::byte*>(object), bytes, sites);
}

[[gnu::always_inline]] inline void ProtobufDecoder::string(String& slot, std::string_view text,
                                                           Site* site) {
  if (text.empty()) {  // upstream writes empty strings too
    if (!slot.empty()) slot = String();
    return;
  }
  Block* last = site != nullptr ? pool_->again(text, *site) : nullptr;
  slot = last != nullptr ? adopt<String>(last) : newString(text, site);
}

// Decodes a field of any kind, read up to its key. `complete`: all elements of a list have been
// taken.
[[gnu::always_inline]] inline const char* ProtobufDecoder::field(
    const FieldInfo& info, std::byte* at, std::string_view rest, std::uint32_t key,
    const char* first, Site* site, bool& complete) {
  const WireType type = typeOf(key);
  WireReader in(rest, origin_);
  switch (info.shape) {
    case Shape::Plain:
      if (type != kBytes) return number(info, at, rest, type);
      if (info.kind == FieldKind::Message) site = sitesInside(pool_, info, site);
      value(info, at, in.bytes(), site);
      break;
    case Shape::Optional:
      if (type == kBytes) {
        optional(info, at, in.bytes(), site);
        break;
      }
      if (info.kind == FieldKind::Message) in.fail("bad wire type for a message");
      at = static_cast<std::byte*>(emplaceOptional(info.kind, at));
      return number(info, at, rest, type);
    case Shape::List:
    case Shape::Map: {
      auto& block = *reinterpret_cast<Block**>(at);
      if (block == nullptr) return run(info, block, rest, first, key, site);
      if (!std::exchange(complete, true)) {
        const auto left = static_cast<std::size_t>(rest.data() + rest.size() - first);
        join(info, block, {first, left}, tagOf(key), site);
      }
      in.skip(key);
    }
  }
  return in.position();
}

void ProtobufDecoder::message(const TypeInfo& type, std::byte* object, std::string_view bytes,
                              Site* sites) {
  if (++depth_ > kMaxDepth) origin_.fail(bytes.data(), "nested too deeply");
  if (sites != nullptr) {
    fields<true>(type, object, bytes, sites);
  } else {
    fields<false>(type, object, bytes, nullptr);
  }
  --depth_;
}

// All decoding passes through here, so this is written for speed: the reader stays in registers, a
// field is found by its tag in one step, and plain strings, which are half of all fields, are
// decoded in line.
template <bool kPooled>
void ProtobufDecoder::fields(const TypeInfo& type, std::byte* object, std::string_view bytes,
                             Site* sites) {
  constexpr auto kPlainString = WireIndex::formOf(FieldKind::String, Shape::Plain);
  WireReader in(bytes, origin_);
  PathStep step(origin_.path);
  const FieldInfo* const fields = type.fields.data();
  std::uint64_t complete = 0;  // repeated fields whose elements have all been taken
  while (!in.done()) {
    const char* first = in.position();
    const std::uint32_t key = in.key();
    const WireIndex::Entry entry = type.byTag[tagOf(key)];
    if (entry.form == WireIndex::kNone) [[unlikely]] {
      step.noName();
      in.seek(groupOrUnknown(type, type.wire, object, in.rest(), key, sites));
      continue;
    }
    const FieldInfo& info = fields[entry.field];
    step.name(info.name);
    std::byte* at = object + entry.offset;
    Site* site = kPooled ? sites + entry.field : nullptr;
    if (entry.form == kPlainString && typeOf(key) == kBytes) {
      string(*reinterpret_cast<String*>(at), in.bytes(), site);
      continue;
    }
    const std::uint64_t bit = std::uint64_t{1} << entry.field;
    bool all = (complete & bit) != 0;
    in.seek(field(info, at, in.rest(), key, first, site, all));
    if (all) complete |= bit;
  }
}

// Handles a field that the index does not have: a struct that upstream embeds, or a new field.
const char* ProtobufDecoder::groupOrUnknown(const TypeInfo& type, std::span<const WireField> wire,
                                            std::byte* object, std::string_view rest,
                                            std::uint32_t key, Site* sites) {
  WireReader in(rest, origin_);
  const auto found = std::ranges::find(wire, tagOf(key), &WireField::tag);
  if (found == wire.end()) {
    in.skip(key);
  } else if (typeOf(key) == kBytes) {
    group(type, found->group, object, in.bytes(), sites);
  } else {
    in.fail("bad wire type for an embedded message");
  }
  return in.position();
}

// Decodes the fields of an embedded struct, which are among those of the outer one.
void ProtobufDecoder::group(const TypeInfo& type, std::span<const WireField> wire,
                            std::byte* object, std::string_view bytes, Site* sites) {
  if (++depth_ > kMaxDepth) origin_.fail(bytes.data(), "nested too deeply");
  WireReader in(bytes, origin_);
  PathStep step(origin_.path);
  std::uint64_t complete = 0;
  while (!in.done()) {
    const char* first = in.position();
    const std::uint32_t key = in.key();
    const auto found = std::ranges::find(wire, tagOf(key), &WireField::tag);
    if (found == wire.end() || !found->group.empty()) {
      step.noName();
      in.seek(groupOrUnknown(type, wire, object, in.rest(), key, sites));
      continue;
    }
    const FieldInfo& info = type.fields[found->field];
    step.name(info.name);
    const std::uint64_t bit = std::uint64_t{1} << found->field;
    bool all = (complete & bit) != 0;
    in.seek(field(info, object + info.offset, in.rest(), key, first,
                  sites != nullptr ? sites + found->field : nullptr, all));
    if (all) complete |= bit;
  }
  --depth_;
}

template <class Make>
Block* ProtobufDecoder::pooled(std::string_view bytes, Site* site, const void* salt,
                               Pool::Drop drop, Make make) {
  // A hit is not decoded, so its nesting is not counted. Bytes that are long enough for dangerously
  // deep nesting are never taken from the pool.
  constexpr std::size_t kMaxPooled = 32 << 10;
  if (site == nullptr || bytes.size() > kMaxPooled) return make();
  if (Block* last = pool_->again(bytes, *site)) return last;
  if (!site->open()) return make();
  const Pool::Hash hash = hash128(bytes, static_cast<const char*>(salt) + 1);
  Block* block = pool_->find(hash, bytes, *site);
  if (block != nullptr) return block;
  block = make();
  if (block != nullptr) pool_->insert(hash, block, drop);
  return block;
}

Block* ProtobufDecoder::box(const FieldInfo& info, std::string_view bytes, Site* site) {
  return pooled(bytes, site, info.type, info.ops->dropBox, [&] {
    BlockGuard guard(makeMessage(*info.type), info.ops->dropBox);
    message(*info.type, static_cast<std::byte*>(guard.get()->payload()), bytes,
            site != nullptr ? site + 1 : nullptr);
    return guard.release();
  });
}

// ---- Lists and maps ----

// A list or map is looked up by the bytes of its whole run of equal tags. Encoders write all
// elements in one run. If there is a later run, or the message itself arrives in two parts, all
// remaining elements are taken together, once, and appended. No element is decoded twice: if such
// lists were nested, that would take endless time.

// Takes the run that begins at `first`, read up to its first key. Returns the end of the run.
const char* ProtobufDecoder::run(const FieldInfo& info, Block*& block, std::string_view rest,
                                 const char* first, std::uint32_t key, Site* site) {
  WireReader in(rest, origin_);
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
  }
  const std::string_view run(first, static_cast<std::size_t>(last - first));
  block = pooled(run, site, info.ops, info.ops->drop, [&] {
    return elements(info, run, tagOf(key), items, sitesInside(pool_, info, site));
  });
  return last;
}

// Takes all elements in `rest`, which starts with the first of them.
void ProtobufDecoder::join(const FieldInfo& info, Block*& block, std::string_view rest,
                           std::uint32_t tag, Site* site) {
  WireReader ahead(rest, origin_);
  std::size_t items = 0;
  while (!ahead.done()) {
    const std::uint32_t key = ahead.key();
    if (tagOf(key) == tag) {
      items += count(info, ahead, key);
    } else {
      ahead.skip(key);
    }
  }
  joined_ += countOf(block);
  if (joined_ > kMaxJoined * size_) {
    origin_.fail(rest.data(), "a message is in too many parts");
  }
  Block* more = elements(info, rest, tag, items, sitesInside(pool_, info, site));
  if (more != nullptr) joinElements(info, block, more);
}

// Skips the value behind `key`. Returns its number of elements: one, unless numbers are packed.
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

// Takes the elements of one tag out of `bytes`, and skips other fields.
Block* ProtobufDecoder::elements(const FieldInfo& info, std::string_view bytes, std::uint32_t tag,
                                 std::size_t items, Site* inside) {
  BlockGuard block(makeElements(info, items), info.ops->drop);
  WireReader in(bytes, origin_);
  PathStep step(origin_.path);
  const PositionSites sites(info, inside);
  for (std::size_t i = 0; i < items;) {
    const std::uint32_t key = in.key();
    if (tagOf(key) != tag) {
      in.skip(key);
      continue;
    }
    step.item(i);
    Site* site = sites[i];
    std::byte* slot = slotOf(block.get(), *info.ops, i);
    if (typeOf(key) != kBytes) {
      if (info.shape == Shape::Map) in.fail("bad wire type for a map entry");
      if (info.ops->boxed) in.fail("bad wire type for a message");
      in.seek(number(info, slot, in.rest(), typeOf(key)));
      ++i;
      continue;
    }
    const std::string_view content = in.bytes();
    if (info.shape == Shape::Map) {
      entry(info, elementOf(block.get(), *info.ops, i), content, site);
      ++i;
    } else if (info.ops->boxed) {
      boxOf(slot) = box(info, content, site);
      ++i;
    } else if (wireTypeOf(info.kind) != kBytes) {
      packed(info, block.get(), i, content);
    } else {
      value(info, slot, content, site);
      ++i;
    }
  }
  Block* result = block.release();
  return info.shape == Shape::Map && result != nullptr ? sortEntries(info, result) : result;
}

// Decodes numbers without keys into the elements from `i` on.
void ProtobufDecoder::packed(const FieldInfo& info, Block* block, std::size_t& i,
                             std::string_view numbers) {
  WireReader in(numbers, origin_);
  const WireType type = wireTypeOf(info.kind);
  for (; !in.done(); ++i) {
    if (i == countOf(block)) in.fail("malformed packed numbers");
    in.seek(number(info, slotOf(block, *info.ops, i), in.rest(), type));
  }
}

void ProtobufDecoder::entry(const FieldInfo& info, std::byte* entry, std::string_view bytes,
                            Site* site) {
  WireReader in(bytes, origin_);
  while (!in.done()) {
    const std::uint32_t key = in.key();
    if (key == wireKey(1, kBytes)) {
      string(keyOf(entry), in.bytes(), site);
    } else if (key == wireKey(2, kBytes)) {
      value(info, valueOf(entry), in.bytes(), site != nullptr ? site + 1 : nullptr);
    } else if (tagOf(key) == 2) {
      in.seek(number(info, valueOf(entry), in.rest(), typeOf(key)));
    } else {
      in.skip(key);
    }
  }
}

// ---- Single values ----

void ProtobufDecoder::optional(const FieldInfo& info, std::byte* at, std::string_view bytes,
                               Site* site) {
  if (info.kind != FieldKind::Message) {
    value(info, static_cast<std::byte*>(emplaceOptional(info.kind, at)), bytes, site);
    return;
  }
  auto& block = *reinterpret_cast<Block**>(at);
  const auto decode = [&](Block* fresh) {
    BlockGuard guard(fresh, info.ops->drop);
    message(*info.type, static_cast<std::byte*>(fresh->payload()), bytes,
            sitesInside(pool_, info, site));
    return guard.release();
  };
  if (block == nullptr) {
    block = pooled(bytes, site, info.ops, info.ops->drop,
                   [&] { return decode(makeMessage(*info.type)); });
    return;
  }
  // A message in two parts: the second part is decoded over a copy of the first.
  Block* merged = allocateBlock(sizeof(Block) + info.type->size, 1);
  info.type->copy(merged->payload(), block->payload());
  merged = decode(merged);
  info.ops->drop(std::exchange(block, merged));
}

const char* ProtobufDecoder::number(const FieldInfo& info, std::byte* at, std::string_view rest,
                                    WireType type) {
  WireReader in(rest, origin_);
  if (type != wireTypeOf(info.kind)) in.fail("bad wire type");
  switch (info.kind) {
    case FieldKind::Bool:
      *reinterpret_cast<bool*>(at) = in.varint() != 0;
      break;
    case FieldKind::Int32:
      *reinterpret_cast<std::int32_t*>(at) = static_cast<std::int32_t>(in.varint());
      break;
    case FieldKind::Int64:
      *reinterpret_cast<std::int64_t*>(at) = static_cast<std::int64_t>(in.varint());
      break;
    default:
      *reinterpret_cast<double*>(at) = std::bit_cast<double>(in.fixed64());
  }
  return in.position();
}

void ProtobufDecoder::value(const FieldInfo& info, std::byte* at, std::string_view bytes,
                            Site* site) {
  switch (info.kind) {
    case FieldKind::Bool:
    case FieldKind::Int32:
    case FieldKind::Int64:
    case FieldKind::Double:
      origin_.fail(bytes.data(), "bad wire type");
    case FieldKind::String:
      string(*reinterpret_cast<String*>(at), bytes, site);
      return;
    case FieldKind::Time:
      time(*reinterpret_cast<Time*>(at), bytes);
      return;
    case FieldKind::Bytes:
      *reinterpret_cast<Bytes*>(at) = Bytes(bytes);
      return;
    case FieldKind::Message:
      message(*info.type, at, bytes, site);
      return;
    default:
      builtIn(info.kind, at, bytes, site);
  }
}

// Makes a string that differs from the last one of its site.
String ProtobufDecoder::newString(std::string_view text, Site* site) const {
  if (site != nullptr) {
    return pool_->change(text, *site, [this, text] { checkUtf8(text); });
  }
  bool ascii = false;
  auto made = adopt<String>(copyText(text, ascii));
  if (!ascii) checkUtf8(text);
  return made;
}

void ProtobufDecoder::checkUtf8(std::string_view text) const {
  if (isAscii(text) || simdjson::validate_utf8(text.data(), text.size())) return;
  origin_.fail(text.data() + text.size(), "a string is not valid UTF-8");
}

void ProtobufDecoder::time(Time& slot, std::string_view bytes) {
  // An empty message is the zero time; 1970 is written out.
  if (bytes.empty()) {
    slot = Time();
    return;
  }
  std::int64_t seconds = 0;
  if (!usualSeconds(bytes, seconds)) {
    WireReader in(bytes, origin_);
    while (!in.done()) {
      const std::uint32_t key = in.key();
      if (key == wireKey(1, kVarint)) {
        seconds = static_cast<std::int64_t>(in.varint());
      } else {
        in.skip(key);
      }
    }
  }
  slot = Time::fromUnix(seconds);
}

// Decodes types that are messages on the wire and values in C++.
void ProtobufDecoder::builtIn(FieldKind kind, std::byte* at, std::string_view bytes, Site* site) {
  WireReader in(bytes, origin_);
  std::int64_t numbers[3] = {};  // fields 1 and 2
  std::string_view text;         // field 1 or, in IntOrString, 3
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
      string(held, text, site);
      std::string_view why;
      if (!held.empty() &&
          !Quantity::tryAdopt(std::move(held), *reinterpret_cast<Quantity*>(at), &why)) {
        in.fail(why);
      }
      return;
    }
    case FieldKind::IntOrString: {
      String held;
      string(held, text, site);
      *reinterpret_cast<IntOrString*>(at) =
          numbers[1] != 0 ? IntOrString(std::move(held))
                          : IntOrString(static_cast<std::int32_t>(numbers[2]));
      return;
    }
    case FieldKind::Raw:
      raw(reinterpret_cast<RawExtension*>(at)->raw, text, site);
      return;
    case FieldKind::Strings: {
      static constexpr FieldInfo kItems = makeField<List<String>>("", 0, 1);
      *reinterpret_cast<Strings*>(at) = Strings(adopt<List<String>>(
          elements(kItems, bytes, 1, strings, sitesInside(pool_, kItems, site))));
      return;
    }
    default:
      in.fail("this type has no protobuf form");
  }
}

// Takes any bytes. Only valid UTF-8 becomes a string of the pool, which relies on that.
void ProtobufDecoder::raw(String& slot, std::string_view text, Site* site) {
  if (site != nullptr) site->judgeAlone();
  if (site == nullptr || !site->open()) {
    slot = String(text);
  } else if (Block* last = pool_->again(text, *site)) {
    slot = adopt<String>(last);
  } else if (simdjson::validate_utf8(text.data(), text.size())) {
    slot = pool_->string(text, *site);
  } else {
    slot = String(text);
  }
}

}  // namespace kube::detail
