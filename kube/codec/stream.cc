#include "kube/codec/stream.h"

#include "kube/base/error.h"
#include "kube/codec/json_decode.h"
#include "kube/codec/protobuf.h"
#include "kube/codec/protobuf_decode.h"
#include "kube/codec/split.h"

namespace kube::detail {

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
    const auto next = numbered([&] {
      return JsonDecoder(index, options_.pool, nullptr).message(type_, sink_.object(), token);
    });
    settle({});
    return next;
  }

  void item(std::string_view bytes, std::size_t offset) override {
    try {
      if (mode_ == Mode::List) {
        numbered([&] { into(type_, sink_.object(), bytes); });
        settle({});
      } else if (isJson_) {
        jsonFrame(bytes);
      } else {
        protobufFrame(bytes);
      }
    } catch (const DecodeError& error) {
      throw located(error, offset);
    }
  }

  void metadata(std::string_view bytes, std::size_t offset) override {
    listMeta_ = {};
    try {
      into(TypeOf<metav1::ListMeta>::info, &listMeta_, bytes);
    } catch (const DecodeError& error) {
      throw located(inside(error, "metadata"), offset);
    }
  }

  void kind(std::string_view text) override { kind_.assign(text); }
  void apiVersion(std::string_view text) override { apiVersion_.assign(text); }

 private:
  void chooseFormat(char first) {
    isJson_ = mode_ == Mode::List ? first != 'k' : first != '\0';
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

  // One object without envelope.
  void into(const TypeInfo& type, void* object, std::string_view bytes) {
    if (isJson_) {
      index_.build(bytes);
      JsonDecoder decoder(index_, options_.pool, nullptr);
      const auto end = decoder.message(type, object, 0);
      if (end != index_.count()) index_.fail(end, "unexpected text after the value");
    } else {
      ProtobufDecoder(bytes, options_.pool).message(type, object, bytes);
    }
  }

  void jsonFrame(std::string_view bytes) {
    index_.build(bytes);
    if (index_.at(0) != '{') index_.fail(0, "expected a watch event");
    std::string type;
    std::string_view object;
    std::string scratch;
    const auto end = index_.close(0);
    for (auto next = JsonIndex::Token{1}; next < end; next = index_.after(next) + 1) {
      if (index_.at(next) != '"' || index_.at(next + 1) != ':') {
        index_.fail(next, "expected a field name in quotes and ':'");
      }
      const std::string_view key = index_.rawString(next);
      next += 2;
      if (key == "type" && index_.at(next) == '"') type = index_.string(next, scratch);
      if (key == "object") object = index_.rawValue(next);
      if (const auto after = index_.after(next); after != end && index_.at(after) != ',') {
        index_.fail(after, "expected ',' or '}'");
      }
    }
    if (end + 1 != index_.count()) index_.fail(end + 1, "unexpected text after the event");
    if (type.empty() || object.empty()) index_.fail(0, "a watch event has no type or object");
    const std::size_t start = static_cast<std::size_t>(object.data() - bytes.data());
    try {
      frame(type, object);
    } catch (const DecodeError& error) {
      DecodeError::Where where = error.where();
      where.offset = where.offset.value_or(0) + start;
      throw inside(error.withWhere(std::move(where)), "object");
    }
  }

  void protobufFrame(std::string_view bytes) {
    const ProtobufEnvelope envelope = openProtobuf(bytes);
    metav1::WatchEvent event;
    ProtobufDecoder(bytes, nullptr).message(TypeOf<metav1::WatchEvent>::info, &event, envelope.raw);
    const ProtobufEnvelope inner = openProtobuf(event.object.raw);
    frame(event.type, inner.raw);
  }

  void frame(std::string_view type, std::string_view object) {
    if (type == "ERROR") {
      into(TypeOf<metav1::Status>::info, sink_.status(), object);
    } else {
      into(type_, sink_.object(), object);
    }
    settle(type);
  }

  void checkKind() const {
    if (type_.resource == nullptr || kind_.empty()) return;
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

  // An object is complete.
  void settle(std::string_view event) {
    ++items_;
    if (options_.pool != nullptr) options_.pool->settle();
    sink_.done(event);
  }

  static DecodeError inside(const DecodeError& error, std::string path) {
    DecodeError::Where where = error.where();
    where.path = where.path.empty() ? std::move(path) : path + "." + where.path;
    return error.withWhere(std::move(where));
  }

  // An error inside a part, as seen from the whole body.
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
