#include "kube/codec/split.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "kube/base/error.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace kube::detail {

void LineCounter::pass(std::string_view text) noexcept {
  // Upstream writes no line breaks at all, so this is one fast look for the first.
  while (const void* found = text.empty() ? nullptr : std::memchr(text.data(), '\n', text.size())) {
    text.remove_prefix(static_cast<std::size_t>(static_cast<const char*>(found) - text.data()) + 1);
    ++line_;
    column_ = 1;
  }
  column_ += text.size();
}

namespace {

bool isSpace(char c) noexcept { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// Bit i says something about character i.
struct Masks {
  std::uint64_t quote = 0;
  std::uint64_t backslash = 0;
  std::uint64_t open = 0;
  std::uint64_t close = 0;
};

#if defined(__SSE2__)
Masks masksOf(const char* text) noexcept {
  Masks masks;
  for (int i = 0; i < 4; ++i) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + i * 16));
    const auto bits = [](__m128i matches) {
      return static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(matches)));
    };
    // '[' and '{', ']' and '}' differ in one bit only.
    const __m128i folded = _mm_or_si128(block, _mm_set1_epi8(0x20));
    masks.quote |= bits(_mm_cmpeq_epi8(block, _mm_set1_epi8('"'))) << (i * 16);
    masks.backslash |= bits(_mm_cmpeq_epi8(block, _mm_set1_epi8('\\'))) << (i * 16);
    masks.open |= bits(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{'))) << (i * 16);
    masks.close |= bits(_mm_cmpeq_epi8(folded, _mm_set1_epi8('}'))) << (i * 16);
  }
  return masks;
}
#else
Masks masksOf(const char* text) noexcept {
  Masks masks;
  for (int i = 0; i < 64; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    const char folded = static_cast<char>(text[i] | 0x20);
    if (text[i] == '"') masks.quote |= bit;
    if (text[i] == '\\') masks.backslash |= bit;
    if (folded == '{') masks.open |= bit;
    if (folded == '}') masks.close |= bit;
  }
  return masks;
}
#endif

// Bit i of the result is the exclusive or of bits 0 to i: a run of ones from each quote to the
// next.
std::uint64_t prefixXor(std::uint64_t bits) noexcept {
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

// The characters that a backslash before them takes out of account. Backslashes are rare, so one
// at a time.
std::uint64_t escapedBy(std::uint64_t backslash, std::uint64_t& escapeNext) noexcept {
  std::uint64_t escaped = escapeNext;
  backslash &= ~escapeNext;
  escapeNext = 0;
  while (backslash != 0) {
    const int at = std::countr_zero(backslash);
    if (at == 63) {
      escapeNext = 1;
      break;
    }
    const std::uint64_t next = std::uint64_t{2} << at;
    escaped |= next;
    backslash &= ~(next | (next >> 1));
  }
  return escaped;
}

}  // namespace

void JsonValueScanner::start(char first) noexcept {
  inString_ = 0;
  escapeNext_ = 0;
  depth_ = 0;
  if (first == '"') {
    kind_ = Kind::String;
    inString_ = ~std::uint64_t{0};
  } else if (first == '{' || first == '[') {
    kind_ = Kind::Nested;
    depth_ = 1;
  } else {
    kind_ = Kind::Scalar;
  }
}

std::size_t JsonValueScanner::scan(std::string_view piece, bool& complete) noexcept {
  complete = false;
  if (kind_ == Kind::Scalar) {
    const auto end = piece.find_first_of(",]} \n\t\r");
    complete = end != std::string_view::npos;
    return complete ? end : piece.size();
  }
  // 64 characters at a time: strings are masked out, and within the rest brackets are counted
  // without looking at each, as long as the block cannot hold the end.
  for (std::size_t at = 0; at < piece.size(); at += 64) {
    const std::size_t left = piece.size() - at;
    Masks masks;
    if (left >= 64) {
      masks = masksOf(piece.data() + at);
    } else {
      char padded[64] = {};
      std::memcpy(padded, piece.data() + at, left);
      masks = masksOf(padded);
    }
    const std::size_t width = std::min<std::size_t>(left, 64);
    const std::uint64_t escaped =
        (masks.backslash | escapeNext_) != 0 ? escapedBy(masks.backslash, escapeNext_) : 0;
    // A partial block's escape carries to its real end, not to bit 63.
    if (width < 64 && (escaped >> width & 1) != 0) escapeNext_ = 1;
    const std::uint64_t quotes = masks.quote & ~escaped;
    if (kind_ == Kind::String) {
      if (quotes != 0) {
        complete = true;
        return at + static_cast<std::size_t>(std::countr_zero(quotes)) + 1;
      }
      continue;
    }
    // Ones from an opening quote up to, not including, its closing one.
    const std::uint64_t strings = prefixXor(quotes) ^ inString_;
    inString_ = static_cast<std::uint64_t>(static_cast<std::int64_t>(strings) >> 63);
    if (width < 64) inString_ = (strings >> (width - 1) & 1) != 0 ? ~std::uint64_t{0} : 0;
    std::uint64_t open = masks.open & ~strings;
    std::uint64_t close = masks.close & ~strings;
    if (static_cast<std::uint64_t>(std::popcount(close)) < depth_) {
      depth_ += static_cast<std::uint64_t>(std::popcount(open));
      depth_ -= static_cast<std::uint64_t>(std::popcount(close));
      continue;
    }
    while (close != 0) {
      const std::uint64_t bit = close & (~close + 1);
      depth_ += static_cast<std::uint64_t>(std::popcount(open & (bit - 1)));
      open &= ~(bit - 1);
      if (--depth_ == 0) {
        complete = true;
        return at + static_cast<std::size_t>(std::countr_zero(bit)) + 1;
      }
      close &= close - 1;
    }
    depth_ += static_cast<std::uint64_t>(std::popcount(open));
  }
  return piece.size();
}

void JsonSplitter::fail(std::size_t offset, std::string_view reason, std::string path) const {
  throw DecodeError({.format = "json",
                     .path = std::move(path),
                     .offset = offset,
                     .line = lines_.line(),
                     .column = lines_.column()},
                    std::string(reason));
}

void JsonSplitter::part(std::string_view bytes) {
  partLines_ = lines_;
  switch (valueState_) {
    case State::Frame:
      sink_.item(bytes, partOffset_);
      state_ = State::Frame;
      break;
    default:
      member(bytes);
      state_ = valueState_ == State::Key ? State::Colon : State::AfterValue;
  }
  lines_.pass(bytes);
}

// The name or the value of one of the list's own members. What is not known is checked all the
// same: the splitter has found its end, and looked at nothing else.
void JsonSplitter::member(std::string_view bytes) {
  std::string scratch;
  try {
    index_.build(bytes);
    if (const auto end = index_.check(0); end != index_.count()) {
      index_.fail(end, "unexpected text after the value");
    }
    if (valueState_ == State::Key) {
      key_.assign(index_.string(0, scratch));
      return;
    }
    if (bytes == "null") return;
    if (key_ == "kind" || key_ == "apiVersion") {
      if (bytes.front() != '"') index_.fail(0, "expected a string", key_);
      const std::string_view text = index_.string(0, scratch);
      return key_ == "kind" ? sink_.kind(text) : sink_.apiVersion(text);
    }
  } catch (const DecodeError& error) {
    throw located(error, partOffset_);
  }
  if (key_ == "metadata") sink_.metadata(bytes, partOffset_);
}

void JsonSplitter::feed(std::string_view chunk) {
  std::size_t at = 0;
  while (at < chunk.size()) {
    if (state_ == State::InValue) {
      bool complete = false;
      const std::size_t taken = scanner_.scan(chunk.substr(at), complete);
      if (partial_.size() + taken > maxPart_) {
        fail(partOffset_, "a value is over " + std::to_string(maxPart_) + " bytes long");
      }
      partial_.append(chunk, at, taken);
      at += taken;
      if (!complete) break;
      // Handed over before it is processed, so that a sink that throws leaves nothing behind.
      const std::string bytes = std::move(partial_);
      partial_.clear();
      part(bytes);
      continue;
    }

    if (state_ == State::Items) {
      at += items(chunk.substr(at), passed_ + at);
      continue;
    }

    const char c = chunk[at];
    if (isSpace(c)) {
      lines_.pass(chunk.substr(at, 1));
      ++at;
      continue;
    }
    const std::size_t offset = passed_ + at;
    const auto punctuation = [&](State next) {
      state_ = next;
      lines_.pass(chunk.substr(at, 1));
      ++at;
    };
    switch (state_) {
      case State::Start:
        if (c != '{') fail(offset, "expected a list object");
        punctuation(State::FirstKey);
        continue;
      case State::FirstKey:
      case State::AfterValue:
        if (c == '}') {
          punctuation(State::Done);
          continue;
        }
        if (state_ == State::AfterValue) {
          if (c != ',') fail(offset, "expected ',' or '}'");
          punctuation(State::Key);
          continue;
        }
        [[fallthrough]];
      case State::Key:
        if (c != '"') fail(offset, "expected a field name in quotes");
        valueState_ = State::Key;
        break;
      case State::Colon:
        if (c != ':') fail(offset, "expected ':' after a field name");
        punctuation(State::Value);
        continue;
      case State::Value:
        if (key_ == "items" && c == '[') {
          if (sawItems_) fail(offset, "duplicate field", "items");
          sawItems_ = true;
          sink_.begin();
          punctuation(State::Items);
          continue;
        }
        if (key_ == "items" && c != 'n') fail(offset, "expected an array", "items");
        valueState_ = State::Value;
        break;
      case State::Frame:
        valueState_ = State::Frame;
        break;
      case State::Done:
        fail(offset, "unexpected text after the list");
      case State::Items:
      case State::InValue:
        break;
    }

    // A value starts here. Where it ends in this chunk too, it is passed on without a copy.
    scanner_.start(c);
    partOffset_ = offset;
    bool complete = false;
    const std::size_t size = 1 + scanner_.scan(chunk.substr(at + 1), complete);
    if (size > maxPart_) {
      fail(offset, "a value is over " + std::to_string(maxPart_) + " bytes long");
    }
    const std::string_view bytes = chunk.substr(at, size);
    at += size;
    if (complete) {
      part(bytes);
    } else {
      partial_.assign(bytes);
      state_ = State::InValue;
    }
  }
  passed_ += chunk.size();
}

namespace {

constexpr std::size_t kPiece = 128 << 10;  // how much of a list is indexed at a time

// How much of the text to index, so that it probably does not end inside a string: up to a line
// break, which JSON does not allow there, or else between two objects or members. If the guess is
// wrong, indexing says so.
std::size_t cutOf(std::string_view text) noexcept {
  const std::size_t tail = text.size() > (8 << 10) ? text.size() - (8 << 10) : 0;
  const std::string_view end = text.substr(tail);
  for (const std::string_view mark : {"\n", "},{\"", "},\"", ",\""}) {
    const std::size_t found = end.rfind(mark);
    if (found == std::string_view::npos) continue;
    return tail + found + (mark.front() == '}' ? 1 : 0);
  }
  return text.size();
}

}  // namespace

// Whether the item that `text` begins with is longer than any may be, as far as it has come.
bool JsonSplitter::isOversized(std::string_view text) const {
  if (text.size() <= maxPart_) return false;
  const std::size_t start = text.find_first_not_of(", \n\t\r");
  if (start == std::string_view::npos) return false;
  JsonValueScanner scanner;
  scanner.start(text[start]);
  bool complete = false;
  return 1 + scanner.scan(text.substr(start + 1), complete) > maxPart_;
}

// The first item in `text`, which is at `offset`, is too long.
void JsonSplitter::failOversized(std::string_view text, std::size_t offset) {
  const std::size_t start = std::min(text.find_first_not_of(", \n\t\r"), text.size());
  lines_.pass(text.substr(0, start));
  fail(offset + start, "an item is over " + std::to_string(maxPart_) + " bytes long", "items");
}

// Takes in list items. Returns how many bytes of the chunk are done with: all of them, or up to the
// end of the array.
std::size_t JsonSplitter::items(std::string_view chunk, std::size_t offset) {
  std::size_t at = 0;
  while (at < chunk.size() && state_ == State::Items) {
    const std::size_t held = partial_.size();
    if (held == 0) {
      const std::size_t done = takeItems(chunk.substr(at), offset + at, false);
      at += done;
      if (state_ != State::Items) break;
      partial_.assign(chunk.substr(at));
      partOffset_ = offset + at;
      retryAt_ = std::max(kPiece, partial_.size() * 2);
      at = chunk.size();
      if (isOversized(partial_)) failOversized(partial_, partOffset_);
      break;
    }
    // What came before is completed from the chunk; once past it, the chunk is used in place.
    const std::size_t taken = std::min(chunk.size() - at, std::max(retryAt_, held + 1) - held);
    partial_.append(chunk, at, taken);
    at += taken;
    if (isOversized(partial_)) failOversized(partial_, partOffset_);
    if (partial_.size() < retryAt_) break;
    const std::size_t done = takeItems(partial_, partOffset_, false);
    const std::size_t left = partial_.size() - done;
    if (done == 0) {
      retryAt_ = partial_.size() * 2;
    } else if (left <= taken) {
      at -= left;
      partial_.clear();
    } else {
      partial_.erase(0, done);
      partOffset_ += done;
      retryAt_ = std::max(kPiece, partial_.size() * 2);
    }
  }
  return at;
}

// Hands out the items that are complete in `text`. Returns how much of it they take.
std::size_t JsonSplitter::takeItems(std::string_view text, std::size_t offset, bool final) {
  std::size_t at = 0;
  std::size_t size = kPiece;
  while (at < text.size() && state_ == State::Items) {
    const std::size_t left = text.size() - at;
    const bool whole = final && size >= left;
    const std::size_t done = piece(text.substr(at, size), offset + at, whole);
    at += done;
    if (done > 0) {
      size = kPiece;
    } else if (size >= left || size > maxPart_) {
      break;
    } else {
      size *= 2;
    }
  }
  return at;
}

// Indexes a piece and hands out its complete items. `whole`: nothing follows it.
std::size_t JsonSplitter::piece(std::string_view text, std::size_t offset, bool whole) {
  const std::string_view cut = whole ? text : text.substr(0, cutOf(text));
  if (cut.find_first_not_of(" \n\t\r") == std::string_view::npos) return 0;
  partLines_ = lines_;
  const auto locate = [&](auto act) {
    try {
      return act();
    } catch (const DecodeError& error) {
      throw located(error, offset);
    }
  };
  const bool built = locate([&] {
    const bool outsideString = index_.buildPiece(cut);
    if (!outsideString && whole) index_.failAt(cut.size(), "unexpected end inside a string");
    return outsideString;
  });
  if (!built) return 0;

  std::size_t done = 0;
  for (std::uint32_t token = 0; token < index_.count() && state_ == State::Items;) {
    const char c = index_.at(token);
    if (c == ']' && (!itemDue_ || firstItem_)) {
      state_ = State::AfterValue;
    } else if (!itemDue_) {
      if (c != ',') locate([&] { index_.fail(token, "expected ',' or ']'", "items"); });
      itemDue_ = true;
    } else {
      const bool opens = index_.opens(token);
      if (opens ? index_.close(token) == 0 : !whole && token + 1 == index_.count()) break;
      const std::size_t start = index_.offset(token);
      if (index_.end(opens ? index_.close(token) : token) - start > maxPart_) {
        lines_.pass(cut.substr(0, start));
        failOversized(cut.substr(start), offset + start);
      }
      token = locate([&] { return sink_.item(index_, token); }) - 1;
      sink_.itemDone();
      itemDue_ = firstItem_ = false;
    }
    done = index_.end(token);
    ++token;
  }
  lines_.pass(cut.substr(0, done));
  return done;
}

void JsonSplitter::finish() {
  if (state_ == State::Items) {
    const std::string rest = std::move(partial_);
    partial_.clear();
    const std::size_t done = takeItems(rest, partOffset_, true);
    const std::string_view left = std::string_view(rest).substr(done);
    if (state_ == State::Items) {
      if (isOversized(left)) failOversized(left, partOffset_ + done);
      lines_.pass(left);
      fail(passed_, "unexpected end of the list");
    }
    passed_ = partOffset_ + done;
    feed(left);
  }
  lines_.pass(partial_);
  if (mode_ == Mode::Frames ? state_ != State::Frame : state_ != State::Done) {
    fail(passed_,
         mode_ == Mode::Frames ? "unexpected end inside a frame" : "unexpected end of the list");
  }
}

DecodeError JsonSplitter::located(const DecodeError& error, std::size_t offset) const {
  DecodeError::Where where = error.where();
  where.offset = where.offset.value_or(0) + offset;
  if (where.line == 1) where.column += partLines_.column() - 1;
  where.line += partLines_.line() - 1;
  return error.withWhere(std::move(where));
}

namespace {

// Reads a varint from the front of `bytes`. False if it is not complete yet.
bool takeVarint(std::string_view& bytes, std::uint64_t& value, bool& tooLong) noexcept {
  value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 10) {
      tooLong = true;
      return false;
    }
    value |= static_cast<std::uint64_t>(bytes[i] & 0x7F) << (7 * i);
    if (static_cast<signed char>(bytes[i]) >= 0) {
      bytes.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

}  // namespace

void ProtobufListSplitter::fail(std::size_t offset, std::string_view reason) const {
  throw DecodeError({.format = "protobuf", .path = {}, .offset = offset}, std::string(reason));
}

// Takes in one byte of a field's header. True when a payload of `needed_` bytes follows.
bool ProtobufListSplitter::header(char byte, std::size_t offset) {
  header_ += byte;
  if (!sawMagic_) {
    if (header_.size() < 4) return false;
    if (header_ != std::string_view("k8s\0", 4)) {
      fail(0, "not Kubernetes protobuf: the body does not start with k8s\\0");
    }
    sawMagic_ = true;
    header_.clear();
    return false;
  }
  std::string_view bytes = header_;
  std::uint64_t key = 0;
  std::uint64_t length = 0;
  bool tooLong = false;
  const bool haveKey = takeVarint(bytes, key, tooLong);
  if (haveKey) {
    if (key < 8 || key > UINT32_MAX) fail(offset, "bad field number");
    // Metadata and items, or the envelope's parts.
    if ((key & 7) != 2 && key >> 3 <= (inList_ ? 2 : 4)) {
      fail(offset, "bad wire type " + std::to_string(key & 7));
    }
    switch (key & 7) {
      case 0:
        if (!takeVarint(bytes, length, tooLong)) break;
        length = 0;
        header_.clear();
        return false;
      case 1:
        length = 8;
        break;
      case 5:
        length = 4;
        break;
      case 2:
        break;
      default:
        fail(offset, "bad wire type " + std::to_string(key & 7));
    }
    if ((key & 7) == 2 && !takeVarint(bytes, length, tooLong)) {
      if (tooLong) fail(offset, "a number is too long");
      return false;
    }
    if ((key & 7) == 0) {
      if (tooLong) fail(offset, "a number is too long");
      return false;
    }
    header_.clear();
    tag_ = static_cast<std::uint32_t>(key >> 3);
    isBytes_ = (key & 7) == 2;
    needed_ = length;
    return true;
  }
  if (tooLong) fail(offset, "a number is too long");
  return false;
}

void ProtobufListSplitter::part(std::string_view bytes) {
  if (!isBytes_) return;
  if (inList_) {
    if (tag_ == 1) sink_.metadata(bytes, partOffset_);
    if (tag_ == 2) sink_.item(bytes, partOffset_);
    return;
  }
  if (tag_ == 3 && !bytes.empty()) fail(partOffset_, "an encoded list is not supported");
  if (tag_ != 1) return;
  std::string_view rest = bytes;  // the type's apiVersion and kind
  while (!rest.empty()) {
    std::uint64_t key = 0;
    std::uint64_t length = 0;
    bool tooLong = false;
    if (!takeVarint(rest, key, tooLong) || (key & 7) != 2 || !takeVarint(rest, length, tooLong) ||
        length > rest.size()) {
      fail(partOffset_, "malformed envelope");
    }
    const std::string_view text = rest.substr(0, static_cast<std::size_t>(length));
    if (key >> 3 == 1) sink_.apiVersion(text);
    if (key >> 3 == 2) sink_.kind(text);
    rest.remove_prefix(static_cast<std::size_t>(length));
  }
}

void ProtobufListSplitter::feed(std::string_view chunk) {
  std::size_t at = 0;
  for (;;) {
    if (inPart_) {
      if (needed_ > maxPart_) {
        fail(partOffset_, "a field is over " + std::to_string(maxPart_) + " bytes long");
      }
      const auto size = static_cast<std::size_t>(needed_);
      if (partial_.empty() && chunk.size() - at >= size) {
        const std::string_view bytes = chunk.substr(at, size);
        at += size;
        inPart_ = false;
        part(bytes);
        continue;
      }
      const std::size_t taken = std::min(size - partial_.size(), chunk.size() - at);
      partial_.append(chunk, at, taken);
      at += taken;
      if (partial_.size() < size) break;
      inPart_ = false;
      const std::string bytes = std::move(partial_);
      partial_.clear();
      part(bytes);
      continue;
    }
    if (inList_ && listLeft_ == 0) {
      if (!header_.empty()) fail(passed_ + at, "unexpected end of the list");
      inList_ = false;
    }
    if (at == chunk.size()) break;

    const bool nested = inList_;
    if (nested) --listLeft_;
    const std::size_t offset = passed_ + at;
    if (!header(chunk[at++], offset)) continue;
    partOffset_ = offset + 1;
    if (nested) {
      if (needed_ > listLeft_) fail(offset, "length past the end of the list");
      listLeft_ -= needed_;
      inPart_ = true;
    } else if (tag_ == 2) {
      if (sawList_) fail(offset, "a second list in one envelope");
      inList_ = sawList_ = true;
      listLeft_ = needed_;
      sink_.begin();
    } else {
      inPart_ = true;
    }
  }
  passed_ += chunk.size();
}

void ProtobufListSplitter::finish() {
  if (inPart_ || inList_ || !header_.empty() || !sawList_) {
    fail(passed_, "unexpected end of the list");
  }
}

void ProtobufFrameSplitter::feed(std::string_view chunk) {
  std::size_t at = 0;
  while (at < chunk.size()) {
    if (!inPart_) {
      length_ += chunk[at++];
      if (length_.size() < 4) continue;
      needed_ = 0;
      for (const char byte : length_) needed_ = needed_ << 8 | static_cast<unsigned char>(byte);
      length_.clear();
      partOffset_ = passed_ + at;
      if (needed_ > maxPart_) {
        throw DecodeError({.format = "protobuf", .path = {}, .offset = partOffset_},
                          "a frame is over " + std::to_string(maxPart_) + " bytes long");
      }
      inPart_ = true;
    }
    const auto size = static_cast<std::size_t>(needed_);
    if (partial_.empty() && chunk.size() - at >= size) {
      inPart_ = false;
      at += size;
      sink_.item(chunk.substr(at - size, size), partOffset_);
      continue;
    }
    const std::size_t taken = std::min(size - partial_.size(), chunk.size() - at);
    partial_.append(chunk, at, taken);
    at += taken;
    if (partial_.size() < size) break;
    inPart_ = false;
    const std::string bytes = std::move(partial_);
    partial_.clear();
    sink_.item(bytes, partOffset_);
  }
  passed_ += chunk.size();
}

void ProtobufFrameSplitter::finish() {
  if (inPart_ || !length_.empty()) {
    throw DecodeError({.format = "protobuf", .path = {}, .offset = passed_},
                      "unexpected end inside a frame");
  }
}

}  // namespace kube::detail
