#include "kube/codec/internal/protobuf_encode.h"

#include <algorithm>
#include <bit>

#include "kube/base/error.h"
#include "kube/codec/internal/copy_bytes.h"
#include "kube/codec/internal/decode_sites.h"
#include "kube/codec/internal/varint.h"
#include "kube/codec/internal/wire_reader.h"
#include "kube/meta/internal/optional_field.h"
#include "kube/meta/internal/presence.h"

namespace kube::detail {

namespace {

// Tags and lengths up to these take one byte, and nearly all do.
constexpr std::uint32_t kSmallTag = 15;
constexpr std::uint64_t kSmall = 0x7f;

// Prefetches the parts of one or several structs into the processor's caches at once. Otherwise the
// walk would wait for one after the other. Words that are not handles do no harm.
void fetchParts(const void* at, std::size_t bytes) {
  const auto* words = static_cast<void* const*>(at);
  for (std::size_t i = 0; i < bytes / sizeof(*words); ++i) {
    if (words[i] != nullptr) __builtin_prefetch(words[i]);
  }
}

}  // namespace

void ProtobufEncoder::newBuffer(std::size_t bytes) {
  constexpr std::size_t kFirst = 1 << 10;
  constexpr std::size_t kMost = 256 << 10;
  const std::size_t next = std::max({kFirst, std::min(capacity_ * 4, kMost), bytes});
  std::unique_ptr<char[]> buffer(new char[next]);
  if (buffer_ != nullptr) {
    full_.emplace_back(buffer_ + start_, capacity_ - start_);
    before_ += full_.back().size();
  }
  buffer_ = buffer.get();
  buffers_.push_back(std::move(buffer));
  capacity_ = start_ = next;
}

void ProtobufEncoder::appendTo(std::string& out) const {
  if (buffer_ == nullptr) return;
  out.reserve(out.size() + size());
  out.append(buffer_ + start_, capacity_ - start_);
  for (auto at = full_.rbegin(); at != full_.rend(); ++at) out.append(*at);
}

void ProtobufEncoder::clear() noexcept {
  full_.clear();
  if (buffers_.size() > 1) buffers_.erase(buffers_.begin(), buffers_.end() - 1);
  before_ = 0;
  start_ = capacity_;
}

void ProtobufEncoder::bytes(std::string_view bytes) {
  if (measures_) {
    before_ += bytes.size();
  } else {
    copyBytes(room(bytes.size()), bytes.data(), bytes.size());
  }
}

void ProtobufEncoder::varint(std::uint64_t value) {
  if (measures_) {
    before_ += varintLength(value);
    return;
  }
  if (value <= kSmall) {
    *room(1) = static_cast<char>(value);
    return;
  }
  writeVarint(room(varintLength(value)), value);
}

void ProtobufEncoder::key(std::uint32_t tag, std::uint32_t wireType) {
  varint(tag << 3 | wireType);
}

void ProtobufEncoder::number(std::uint32_t tag, std::uint64_t value) {
  if (tag <= kSmallTag && value <= kSmall && !measures_) {
    char* to = room(2);
    to[0] = static_cast<char>(tag << 3 | kVarint);
    to[1] = static_cast<char>(value);
    return;
  }
  varint(value);
  key(tag, kVarint);
}

void ProtobufEncoder::text(std::uint32_t tag, std::string_view content) {
  if (tag <= kSmallTag && content.size() <= kSmall && !measures_) {
    char* to = room(content.size() + 2);
    to[0] = static_cast<char>(tag << 3 | kBytes);
    to[1] = static_cast<char>(content.size());
    copyBytes(to + 2, content.data(), content.size());
    return;
  }
  bytes(content);
  varint(content.size());
  key(tag, kBytes);
}

void ProtobufEncoder::wrap(std::uint32_t tag, std::size_t before) {
  varint(size() - before);
  key(tag, kBytes);
}

void ProtobufEncoder::message(const TypeInfo& type, const void* object) {
  if (known_ != nullptr) fetchParts(object, type.size);
  fields(type, type.wire, static_cast<const std::byte*>(object));
}

void ProtobufEncoder::fields(const TypeInfo& type, std::span<const WireField> wire,
                             const std::byte* object) {
  for (auto at = wire.rbegin(); at != wire.rend(); ++at) {
    if (at->group.empty()) {
      const FieldInfo& info = type.fields[at->field];
      field(info, object + info.offset);
    } else {
      const std::size_t before = size();
      fields(type, at->group, object);
      wrap(at->tag, before);
    }
  }
}

void ProtobufEncoder::field(const FieldInfo& info, const std::byte* at) {
  switch (info.shape) {
    case Shape::Plain: {
      // Upstream leaves out nil pointers and nil byte slices, and writes every other zero.
      const bool skippable =
          info.pointer() || info.kind == FieldKind::Bytes || info.kind == FieldKind::Strings;
      if (skippable && *reinterpret_cast<const std::uint64_t*>(at) == 0) return;
      single(info, info.tag, at);
      return;
    }
    case Shape::Optional:
      if (info.kind != FieldKind::Message) {
        const void* value = optionalValue(info.kind, at);
        if (value != nullptr) single(info, info.tag, static_cast<const std::byte*>(value));
        return;
      }
      [[fallthrough]];
    case Shape::List:
    case Shape::Map:
      if (const Block* block = heldAt(at)) part(info, *block);
      return;
  }
}

void ProtobufEncoder::part(const FieldInfo& info, const Block& block) {
  if (known_ == nullptr) return contents(info, block);
  // Looked up before the part itself is read, which is mostly far away in memory.
  if (const std::string_view known = known_->find(block, info); !known.empty()) {
    return bytes(known);
  }
  if (!EncodedParts::worth(block)) return contents(info, block);
  const std::size_t end = start_;
  const char* const buffer = buffer_;
  contents(info, block);
  // An encoding in two buffers is not in one piece, and is not remembered.
  if (buffer_ == buffer && buffer != nullptr) {
    known_->put(block, info, {buffer_ + start_, end - start_});
  }
}

void ProtobufEncoder::contents(const FieldInfo& info, const Block& block) {
  const std::size_t count = info.shape == Shape::Optional ? 1 : countOf(&block);
  if (known_ != nullptr) fetchParts(block.payload(), count * info.ops->slotSize);
  if (info.shape == Shape::Optional) {
    // Checked only here: a known part need not be read for that.
    if (!isPresent(*info.type, &block)) return;
    return single(info, info.tag, static_cast<const std::byte*>(block.payload()));
  }
  for (std::size_t i = count; i-- > 0;) {
    std::byte* element = elementOf(&block, *info.ops, i);
    if (info.shape == Shape::List) {
      single(info, info.tag, element);
      continue;
    }
    const std::size_t before = size();
    single(info, 2, valueOf(element));
    text(1, keyOf(element));
    wrap(info.tag, before);
  }
}

void ProtobufEncoder::single(const FieldInfo& info, std::uint32_t tag, const std::byte* at) {
  const std::size_t before = size();
  switch (info.kind) {
    case FieldKind::Bool:
      return number(tag, *reinterpret_cast<const bool*>(at) ? 1 : 0);
    case FieldKind::Int32:
      return number(tag, static_cast<std::uint64_t>(static_cast<std::int64_t>(
                             *reinterpret_cast<const std::int32_t*>(at))));
    case FieldKind::Int64:
      return number(tag, static_cast<std::uint64_t>(*reinterpret_cast<const std::int64_t*>(at)));
    case FieldKind::Double: {
      const auto bits = std::bit_cast<std::uint64_t>(*reinterpret_cast<const double*>(at));
      char to[8];
      for (int i = 0; i < 8; ++i) to[i] = static_cast<char>(bits >> (8 * i));
      bytes({to, sizeof(to)});
      return key(tag, kFixed64);
    }
    case FieldKind::String:
    case FieldKind::Bytes:
      return text(tag, reinterpret_cast<const String*>(at)->view());
    case FieldKind::Time:
      if (const auto& time = *reinterpret_cast<const Time*>(at); time) {
        number(2, 0);
        number(1, static_cast<std::uint64_t>(time.unixSeconds()));
      }
      break;
    case FieldKind::MicroTime:
      if (const auto& time = *reinterpret_cast<const MicroTime*>(at); time) {
        number(2, static_cast<std::uint64_t>(time.nanos()));
        number(1, static_cast<std::uint64_t>(time.unixSeconds()));
      }
      break;
    case FieldKind::Duration:
      number(1, static_cast<std::uint64_t>(reinterpret_cast<const Duration*>(at)->nanos()));
      break;
    case FieldKind::Quantity:
      text(1, reinterpret_cast<const Quantity*>(at)->text());
      break;
    case FieldKind::IntOrString: {
      const auto& either = *reinterpret_cast<const IntOrString*>(at);
      text(3, either.stringValue());
      number(2, static_cast<std::uint64_t>(either.isString() ? 0 : either.intValue()));
      number(1, either.isString() ? 1 : 0);
      break;
    }
    case FieldKind::Raw:
      if (const auto& raw = *reinterpret_cast<const RawExtension*>(at); raw) text(1, raw.raw);
      break;
    case FieldKind::Strings: {
      const auto& list = *reinterpret_cast<const Strings*>(at);
      for (std::size_t i = list.size(); i-- > 0;) text(1, list[i]);
      break;
    }
    case FieldKind::Message:
      fields(*info.type, info.type->wire, at);
      break;
    case FieldKind::Value:
      if (reinterpret_cast<const Value*>(at)->isNull()) return;
      throw Error("protobuf: field " + std::string(info.name) + " has no protobuf form");
  }
  wrap(tag, before);
}

}  // namespace kube::detail
