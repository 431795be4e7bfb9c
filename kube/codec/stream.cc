#include "kube/codec/stream.h"

#include <algorithm>
#include <array>
#include <ostream>

#include "kube/base/error.h"
#include "kube/codec/internal/json_decode.h"
#include "kube/codec/internal/json_split.h"
#include "kube/codec/internal/protobuf_decode.h"
#include "kube/codec/internal/protobuf_split.h"
#include "kube/codec/internal/wire_reader.h"
#include "kube/codec/protobuf.h"

namespace kube {

namespace {
constexpr std::array<std::string_view, 5> kEventTypes = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK",
                                                         "ERROR"};
}  // namespace

std::string_view toString(EventType type) noexcept {
  return kEventTypes[static_cast<std::size_t>(type)];
}

std::optional<EventType> parseEventType(std::string_view text) noexcept {
  const auto* found = std::ranges::find(kEventTypes, text);
  if (found == kEventTypes.end()) return std::nullopt;
  return static_cast<EventType>(found - kEventTypes.begin());
}

std::ostream& operator<<(std::ostream& out, EventType type) { return out << toString(type); }

}  // namespace kube

namespace kube::detail {

namespace {
// Keys of length-prefixed fields.
constexpr std::uint32_t kFirstBytes = wireKey(1, kBytes);
constexpr std::uint32_t kSecondBytes = wireKey(2, kBytes);
}  // namespace

class ObjectStream::State : public SplitSink {
 public:
  State(Mode mode, const TypeInfo& type, StreamOptions options, ObjectSink& sink)
      : mode_(mode), type_(type), options_(options), sink_(sink) {
    if (options_.pool == nullptr && options_.ownPool) {
      ownPool_ = std::make_unique<Pool>();
      options_.pool = ownPool_.get();
    }
  }

  void feed(std::string_view chunk) {
    if (chunk.empty()) return;
    if (options_.budget != nullptr) options_.budget->spend(chunk.size());
    if (splitter_ == nullptr) chooseFormat(chunk.front());
    splitter_->feed(chunk);
  }

  metav1::ListMeta finish() {
    // A watch may end before its first byte; a list may not.
    if (splitter_ == nullptr) {
      if (mode_ == Mode::Watch) return {};
      throw DecodeError({.format = "list", .path = {}, .offset = 0}, "unexpected end: no list");
    }
    splitter_->finish();
    if (mode_ == Mode::List) checkKind();
    return std::move(listMeta_);
  }

  std::uint32_t item(const JsonIndex& index, std::uint32_t token) override {
    return numbered([&] {
      void* object = sink_.object();
      if (index.at(token) == 'n' && index.scalar(token) == "null") return token + 1;
      const auto after = JsonDecoder(index, options_.pool, nullptr, options_.checkKind)
                             .message(type_, object, token);
      if (type_.form == JsonForm::Dynamic) nameKind(*static_cast<Value*>(object));
      return after;
    });
  }
  void itemDone() override { settle(EventType::Added); }

  void item(std::string_view bytes, std::size_t offset) override {
    EventType event = EventType::Added;
    try {
      if (mode_ == Mode::List) {
        numbered([&] { into(type_, sink_.object(), bytes); });
      } else {
        event = protobufFrame(bytes);
      }
    } catch (const DecodeError& error) {
      throw located(error, offset);
    }
    settle(event);
  }
  void frame(const JsonIndex& index, std::size_t offset) override {
    EventType event = EventType::Added;
    try {
      event = jsonFrame(index);
    } catch (const DecodeError& error) {
      throw located(error, offset);
    }
    settle(event);
  }

  void metadata(std::string_view bytes, std::size_t offset) override {
    listMeta_ = {};
    try {
      into(TypeOf<metav1::ListMeta>::info, &listMeta_, bytes);
    } catch (const DecodeError& error) {
      throw located(inside(error, "metadata"), offset);
    }
  }

  void begin() override { checkKind(); }
  void kind(std::string_view text) override { kind_.assign(text); }
  void apiVersion(std::string_view text) override { apiVersion_.assign(text); }

 private:
  void chooseFormat(char first) {
    // A protobuf list starts with "k8s"; a protobuf watch, with a length that never looks like
    // text.
    const bool isText =
        (first >= ' ' && first <= '~') || first == '\n' || first == '\t' || first == '\r';
    isJson_ = mode_ == Mode::List ? first != 'k' : isText;
    if (!isJson_ && !hasProtobuf(type_)) {
      throw DecodeError({.format = "protobuf", .path = {}, .offset = 0},
                        std::string(type_.name) + " has no protobuf form");
    }
    if (isJson_) {
      splitter_ = std::make_unique<JsonSplitter>(
          *this, options_.maxItemBytes,
          mode_ == Mode::List ? JsonSplitter::Mode::List : JsonSplitter::Mode::Frames);
    } else if (mode_ == Mode::List) {
      splitter_ = std::make_unique<ProtobufListSplitter>(*this, options_.maxItemBytes);
    } else {
      splitter_ = std::make_unique<ProtobufFrameSplitter>(*this, options_.maxItemBytes);
    }
  }

  // Decodes one object without an envelope.
  void into(const TypeInfo& type, void* object, std::string_view bytes) {
    if (isJson_) {
      index_.build(bytes);
      JsonDecoder decoder(index_, options_.pool, nullptr, options_.checkKind);
      const auto end = decoder.message(type, object, 0);
      if (end != index_.count()) index_.fail(end, "unexpected text after the value");
    } else {
      ProtobufDecoder(bytes, options_.pool).message(type, object, bytes);
    }
  }

  // Decodes the event and returns its type.
  EventType jsonFrame(const JsonIndex& index) {
    if (index.at(0) != '{') index.fail(0, "expected a watch event");
    std::string type;
    JsonIndex::Token object = 0;
    std::string scratch;
    const auto end = index.close(0);
    if (end + 1 != index.count()) index.fail(end + 1, "unexpected text after the event");
    for (auto next = JsonIndex::Token{1}; end > 1;) {
      if (index.at(next) != '"') index.fail(next, "expected a field name in quotes");
      const std::string key(index.string(next, scratch));
      if (index.at(next + 1) != ':') index.fail(next + 1, "expected ':' after a field name");
      next += 2;
      if (key == "object" && index.at(next) == '{') {
        object = next;
        next = index.after(next);  // decoded below, when its type is known
      } else {
        if (key == "type" && index.at(next) == '"') type = index.string(next, scratch);
        next = index.check(next);
      }
      if (next == end) break;
      if (index.at(next) != ',') index.fail(next, "expected ',' or '}'");
      ++next;
    }
    if (type.empty() || object == 0) index.fail(0, "a watch event has no type or object");
    const auto event = parseEventType(type);
    if (!event) index.fail(0, "unknown type of watch event \"" + type + "\"");
    try {
      const auto [info, target] = eventObject(*event);
      JsonDecoder(index, options_.pool, nullptr, options_.checkKind).message(*info, target, object);
    } catch (const DecodeError& error) {
      throw inside(error, "object");
    }
    return *event;
  }

  EventType protobufFrame(std::string_view bytes) {
    // An API server sends the event without an envelope, and the object inside with one.
    const std::string_view frame = isProtobuf(bytes) ? openProtobuf(bytes).raw : bytes;
    std::string_view type;
    std::string_view object;
    const WireOrigin origin{bytes.data()};
    for (WireReader in(frame, origin); !in.done();) {
      const std::uint32_t key = in.key();
      if (key == kFirstBytes) {
        type = in.bytes();
      } else if (key == kSecondBytes) {
        for (WireReader raw(in.bytes(), origin); !raw.done();) {
          const std::uint32_t inner = raw.key();
          if (inner == kFirstBytes) {
            object = raw.bytes();
          } else {
            raw.skip(inner);
          }
        }
      } else {
        in.skip(key);
      }
    }
    if (type.empty() || object.empty()) {
      throw DecodeError({.format = "protobuf", .path = {}, .offset = 0},
                        "a watch event has no type or object");
    }
    const auto event = parseEventType(type);
    if (!event) {
      throw DecodeError({.format = "protobuf", .path = {}, .offset = 0},
                        "unknown type of watch event \"" + std::string(type) + "\"");
    }
    const auto [info, target] = eventObject(*event);
    ProtobufEnvelope envelope;
    try {
      envelope = openProtobuf(object);
      checkEnvelope(*info, envelope, options_.checkKind);
    } catch (const DecodeError& error) {
      DecodeError::Where where = error.where();
      where.offset =
          where.offset.value_or(0) + static_cast<std::size_t>(object.data() - bytes.data());
      throw inside(error.withWhere(std::move(where)), "object");
    }
    try {
      ProtobufDecoder(bytes, options_.pool).message(*info, target, envelope.raw);
    } catch (const DecodeError& error) {
      throw inside(error, "object");
    }
    return *event;
  }

  // The type and the target for the object of an event.
  std::pair<const TypeInfo*, void*> eventObject(EventType type) {
    if (type == EventType::Error) return {&TypeOf<metav1::Status>::info, sink_.status()};
    return {&type_, sink_.object()};
  }

  void checkKind() const {
    if (type_.resource == nullptr || kind_.empty() || !options_.checkKind) return;
    const ResourceInfo& resource = *type_.resource;
    const std::string wanted = resource.listKind.empty() ? std::string(resource.kind) + "List"
                                                         : std::string(resource.listKind);
    if (kind_ == wanted && (apiVersion_.empty() || apiVersion_ == resource.apiVersion())) return;
    throw DecodeError({.format = isJson_ ? "json" : "protobuf"},
                      "expected " + resource.apiVersion() + " " + wanted + ", found " +
                          apiVersion_ + " " + kind_);
  }

  // Decodes one item of a list; errors name its number.
  template <class Decode>
  std::invoke_result_t<Decode> numbered(Decode decode) {
    try {
      return decode();
    } catch (const DecodeError& error) {
      throw inside(error, "items[" + std::to_string(items_) + "]");
    }
  }

  // Items of a typed list leave out their kind, which the list implies. Dynamic items need it.
  void nameKind(Value& item) const {
    const std::string_view kind(kind_);
    if (!kind.ends_with("List") || kind == "List" || std::as_const(item)["kind"].isString()) return;
    item["kind"] = kind.substr(0, kind.size() - 4);
    item["apiVersion"] = apiVersion_;
  }

  // Accounts for a complete object and passes it on.
  void settle(EventType event) {
    ++items_;
    if (options_.budget != nullptr) options_.budget->spend(type_.size);
    // A pool that does not outlive its values has nothing to forget.
    const bool kept = ownPool_ != nullptr && sink_.keepsAll();
    if (options_.pool != nullptr && !kept) options_.pool->settle();
    sink_.done(event);
  }

  static DecodeError inside(const DecodeError& error, std::string path) {
    DecodeError::Where where = error.where();
    where.path = where.path.empty() ? std::move(path) : path + "." + where.path;
    return error.withWhere(std::move(where));
  }

  // Converts the place of an error from a part to the whole body.
  DecodeError located(const DecodeError& error, std::size_t offset) const {
    if (isJson_) return static_cast<const JsonSplitter&>(*splitter_).located(error, offset);
    DecodeError::Where where = error.where();
    where.offset = where.offset.value_or(0) + offset;
    return error.withWhere(std::move(where));
  }

  const Mode mode_;
  const TypeInfo& type_;
  StreamOptions options_;
  ObjectSink& sink_;
  std::unique_ptr<Pool> ownPool_;
  std::unique_ptr<Splitter> splitter_;
  bool isJson_ = true;
  JsonIndex index_;
  std::size_t items_ = 0;
  std::string kind_;
  std::string apiVersion_;
  metav1::ListMeta listMeta_;
};

ObjectStream::ObjectStream(Mode mode, const TypeInfo& type, StreamOptions options, ObjectSink& sink)
    : state_(std::make_unique<State>(mode, type, options, sink)) {}
ObjectStream::~ObjectStream() = default;

void ObjectStream::feed(std::string_view chunk) { state_->feed(chunk); }
metav1::ListMeta ObjectStream::finish() { return state_->finish(); }

}  // namespace kube::detail
