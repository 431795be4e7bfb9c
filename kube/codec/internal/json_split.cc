#include "kube/codec/internal/json_split.h"

#include <algorithm>
#include <cstring>

#include "kube/base/internal/text.h"

namespace kube::detail {

void LineCounter::pass(std::string_view text) noexcept {
  // Upstream writes no line breaks at all, so this is one fast search for the first.
  while (const void* found = text.empty() ? nullptr : std::memchr(text.data(), '\n', text.size())) {
    text.remove_prefix(static_cast<std::size_t>(static_cast<const char*>(found) - text.data()) + 1);
    ++line_;
    column_ = 1;
  }
  column_ += text.size();
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
      try {
        index_.build(bytes);
      } catch (const DecodeError& error) {
        throw located(error, partOffset_);
      }
      sink_.frame(index_, partOffset_);
      state_ = State::Frame;
      break;
    default:
      member(bytes);
      state_ = valueState_ == State::Key ? State::Colon : State::AfterValue;
  }
  lines_.pass(bytes);
}

// Takes the name or the value of one of the list's own members. Unknown members are checked too:
// the splitter has found only their ends.
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

// True if the text is one whole frame, which is indexed then. Servers write each frame on a line of
// its own, so this is a good guess, and saves the search for the end bracket by bracket.
bool JsonSplitter::isFrame(std::string_view text) {
  if (text.empty() || text.front() != '{' || text.back() != '}') return false;
  try {
    return index_.buildPiece(text) && index_.close(0) + 1 == index_.count();
  } catch (const DecodeError&) {
    return false;  // the slow path finds the error and its place
  }
}

// The end of the current frame if that is the rest of a line; 0 if no end is in sight.
std::size_t JsonSplitter::lineEnd(std::string_view chunk, std::size_t at) noexcept {
  if (mode_ != Mode::Frames || passed_ + at < guessAt_) return 0;
  const std::size_t end = std::min(chunk.find('\n', at), chunk.size());
  if (end < chunk.size() && end != at && chunk[end - 1] == '}') return end;
  guessAt_ = passed_ + end;  // for all frames up to that offset
  return 0;
}

void JsonSplitter::feed(std::string_view chunk) {
  for (std::size_t at = 0; at < chunk.size();) {
    if (state_ == State::InValue) {
      at += continueValue(chunk, at);
    } else if (state_ == State::Items) {
      at += items(chunk.substr(at), passed_ + at);
    } else if (isSpace(chunk[at]) || isPunctuation(chunk[at], passed_ + at)) {
      lines_.pass(chunk.substr(at, 1));
      ++at;
    } else {
      at += startValue(chunk, at);
    }
  }
  passed_ += chunk.size();
}

// Handles a character outside of values. Returns false if a name, a member's value or a frame
// starts with it, and sets valueState_ then.
bool JsonSplitter::isPunctuation(char c, std::size_t offset) {
  const auto next = [&](State state) {
    state_ = state;
    return true;
  };
  switch (state_) {
    case State::Start:
      if (c != '{') fail(offset, "expected a list object");
      return next(State::FirstKey);
    case State::FirstKey:
    case State::AfterValue:
      if (c == '}') return next(State::Done);
      if (state_ == State::AfterValue) {
        if (c != ',') fail(offset, "expected ',' or '}'");
        return next(State::Key);
      }
      [[fallthrough]];
    case State::Key:
      if (c != '"') fail(offset, "expected a field name in quotes");
      valueState_ = State::Key;
      return false;
    case State::Colon:
      if (c != ':') fail(offset, "expected ':' after a field name");
      return next(State::Value);
    case State::Value:
      if (key_ == "items" && c == '[') {
        if (sawItems_) fail(offset, "duplicate field", "items");
        sawItems_ = true;
        sink_.begin();
        return next(State::Items);
      }
      if (key_ == "items" && c != 'n') fail(offset, "expected an array", "items");
      valueState_ = State::Value;
      return false;
    case State::Frame:
      valueState_ = State::Frame;
      return false;
    case State::Done:
      fail(offset, "unexpected text after the list");
    case State::Items:
    case State::InValue:
      break;
  }
  return false;
}

// Takes a value from its first character on. If it ends in this chunk too, it is passed on without
// a copy. Returns the number of bytes taken.
std::size_t JsonSplitter::startValue(std::string_view chunk, std::size_t at) {
  partOffset_ = passed_ + at;
  if (const std::size_t end = lineEnd(chunk, at); end != 0 && end - at <= maxPart_) {
    const std::string_view line = chunk.substr(at, end - at);
    guessAt_ = partOffset_ + 2 * line.size();
    if (isFrame(line)) {
      indexedFrame(line);
      return line.size();
    }
  }
  scanner_.start(chunk[at]);
  bool complete = false;
  const std::size_t size = 1 + scanner_.scan(chunk.substr(at + 1), complete);
  if (size > maxPart_) failTooLong();
  if (complete) {
    part(chunk.substr(at, size));
  } else {
    partial_.assign(chunk, at, size);
    state_ = State::InValue;
  }
  return size;
}

// Takes more of a value that began in an earlier chunk. Returns the number of bytes taken.
std::size_t JsonSplitter::continueValue(std::string_view chunk, std::size_t at) {
  // Taken out before it is processed, so that a sink that throws leaves nothing behind.
  const auto takePartial = [&] {
    std::string bytes = std::move(partial_);
    partial_.clear();
    return bytes;
  };
  const std::size_t held = partial_.size();
  if (const std::size_t end = lineEnd(chunk, at); end != 0 && held + end - at <= maxPart_) {
    partial_.append(chunk, at, end - at);
    guessAt_ = partOffset_ + 2 * partial_.size();
    if (isFrame(partial_)) {
      indexedFrame(takePartial());
      return end - at;
    }
    partial_.resize(held);
  }
  bool complete = false;
  const std::size_t taken = scanner_.scan(chunk.substr(at), complete);
  if (held + taken > maxPart_) failTooLong();
  partial_.append(chunk, at, taken);
  if (complete) part(takePartial());
  return taken;
}

// Passes on a frame that isFrame() has indexed.
void JsonSplitter::indexedFrame(std::string_view bytes) {
  guessAt_ = 0;
  partLines_ = lines_;
  sink_.frame(index_, partOffset_);
  state_ = State::Frame;
  lines_.pass(bytes);
}

void JsonSplitter::failTooLong() const {
  fail(partOffset_, "a value is over " + std::to_string(maxPart_) + " bytes long");
}

namespace {

constexpr std::size_t kPiece = 128 << 10;  // bytes of a list that are indexed at a time

// Returns how much of the text to index so that it probably does not end inside a string: up to a
// line break, which JSON does not allow there, or else up to a border of two objects or members. If
// the guess is wrong, indexing reports it.
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

// Throws the error for the first item in `text`, which is too long. `offset` is the place of
// `text`.
void JsonSplitter::failOversized(std::string_view text, std::size_t offset) {
  const std::size_t start = std::min(text.find_first_not_of(", \n\t\r"), text.size());
  lines_.pass(text.substr(0, start));
  fail(offset + start, "an item is over " + std::to_string(maxPart_) + " bytes long", "items");
}

// Skips white space before an item, which is never kept: there may be any amount of it.
std::size_t JsonSplitter::skipBlanks(std::string_view text) {
  if (text.empty() || !isSpace(text.front())) return 0;
  const std::size_t size = std::min(text.find_first_not_of(" \n\t\r"), text.size());
  lines_.pass(text.substr(0, size));
  return size;
}

// Takes in list items. Returns how many bytes of the chunk are finished: all of them, or those up
// to the end of the array.
std::size_t JsonSplitter::items(std::string_view chunk, std::size_t offset) {
  std::size_t at = 0;
  const auto take = [&](std::string_view text, std::size_t from) {
    const std::size_t done = takeItems(text, from, false);
    if (text.size() - done <= maxPart_) return done;
    return done + takeOneByOne(text.substr(done), from + done);
  };
  // Twice as much, or more than an item may have: its end must be there then.
  const auto retryWith = [&](std::size_t size) {
    retryAt_ = std::max(kPiece, std::min(size * 2, std::max(maxPart_, maxPart_ + 1)));
  };
  while (at < chunk.size() && state_ == State::Items) {
    const std::size_t held = partial_.size();
    if (held == 0) {
      at += take(chunk.substr(at), offset + at);
      if (state_ != State::Items) break;
      partial_.assign(chunk.substr(at));
      partOffset_ = offset + at;
      retryWith(partial_.size());
      at = chunk.size();
      break;
    }
    // Text held from earlier chunks is completed from this chunk; behind it, the chunk is used in
    // place.
    const std::size_t taken = std::min(chunk.size() - at, std::max(retryAt_, held + 1) - held);
    partial_.append(chunk, at, taken);
    at += taken;
    if (partial_.size() < retryAt_) break;
    const std::size_t done = take(partial_, partOffset_);
    const std::size_t left = partial_.size() - done;
    if (left <= taken) {
      at -= left;
      partial_.clear();
    } else {
      partial_.erase(0, done);
      partOffset_ += done;
      retryWith(left);
    }
  }
  return at;
}

// Hands out the items that are complete in `text` by searching for their ends bracket by bracket.
// Used if there is more text than an item may have and guesses have found no end, because they fell
// inside strings. Takes all complete items, since the guesses were expensive. Returns how much of
// the text they take.
std::size_t JsonSplitter::takeOneByOne(std::string_view text, std::size_t offset) {
  std::size_t at = 0;
  while (state_ == State::Items) {
    at += skipBlanks(text.substr(at));
    const std::string_view rest = text.substr(at);
    if (rest.empty()) break;
    std::size_t size = 1;
    if (rest.front() != ',') {
      JsonValueScanner scanner;
      scanner.start(rest.front());
      bool complete = false;
      size += scanner.scan(rest.substr(1), complete);
      if (size > maxPart_) failOversized(rest, offset + at);
      if (!complete) break;
    }
    at += piece(rest.substr(0, size), offset + at, true);
  }
  return at;
}

// Hands out the items that are complete in `text`. Returns how much of it they take.
std::size_t JsonSplitter::takeItems(std::string_view text, std::size_t offset, bool final) {
  std::size_t at = 0;
  std::size_t size = kPiece;
  while (state_ == State::Items) {
    at += skipBlanks(text.substr(at));
    const std::size_t left = text.size() - at;
    if (left == 0) break;
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

// Indexes a piece and hands out its complete items. `whole`: nothing follows the piece.
std::size_t JsonSplitter::piece(std::string_view text, std::size_t offset, bool whole) {
  const std::string_view cut = whole ? text : text.substr(0, cutOf(text));
  if (cut.empty()) return 0;
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
      // A scalar may continue behind the piece.
      if (opens ? index_.close(token) == 0 : !whole && index_.end(token) == cut.size()) break;
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
    std::size_t done = takeItems(rest, partOffset_, true);
    if (rest.size() - done > maxPart_) {
      done += takeOneByOne(std::string_view(rest).substr(done), partOffset_ + done);
    }
    const std::string_view left = std::string_view(rest).substr(done);
    if (state_ == State::Items) {
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

}  // namespace kube::detail
