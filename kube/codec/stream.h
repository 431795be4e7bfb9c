// Decodes lists and watches while they arrive.
//
//   kube::ListDecoder<kube::corev1::Pod> list([&](kube::corev1::Pod&& pod) { ... });
//   while (...) list.feed(chunk);                 // chunks of any size
//   kube::metav1::ListMeta meta = list.finish();  // throws if the body was cut short
//
// The first byte tells JSON from protobuf. Only the unfinished item is held, so filling a cache
// needs no more memory than the cache. Items share equal parts through a Pool: the caller's, or one
// that lives as long as the stream. Errors are DecodeErrors with the offset in the body; exceptions
// of the callback pass through. After either, the stream must not be used again.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string_view>

#include "kube/base/internal/text_formatter.h"
#include "kube/base/pool.h"
#include "kube/meta/type_info.h"
#include "kube/meta/v1.h"

namespace kube {

enum class EventType : std::uint8_t { Added, Modified, Deleted, Bookmark, Error };

/// ADDED, MODIFIED, DELETED, BOOKMARK, ERROR.
std::string_view toString(EventType type) noexcept;
std::optional<EventType> parseEventType(std::string_view text) noexcept;
std::ostream& operator<<(std::ostream& out, EventType type);

/// A limit for a list as a whole: its text, plus the size of each item's struct, however short the
/// item's text is.
class ListBudget {
 public:
  virtual ~ListBudget() = default;
  void spend(std::uint64_t bytes) {
    spent_ += bytes;
    if (spent_ > limit_) exceeded();
  }
  std::uint64_t spent() const noexcept { return spent_; }

 protected:
  explicit ListBudget(std::uint64_t limit) noexcept : limit_(limit) {}
  /// Throws, or makes the limit larger.
  virtual void exceeded() = 0;

  std::uint64_t limit_;

 private:
  std::uint64_t spent_ = 0;
};

struct StreamOptions {
  Pool* pool = nullptr;                 // null: a pool of the stream's own, or none
  bool ownPool = true;                  // a stream without a pool makes one
  std::size_t maxItemBytes = 64 << 20;  // an item or frame longer than this is an error
  bool checkKind = true;         // an object that names its kind must be of the stream's type
  ListBudget* budget = nullptr;  // for lists; null: no limit. It must outlive the stream
};

namespace detail {

/// The receiver of decoded objects.
class ObjectSink {
 public:
  virtual ~ObjectSink() = default;
  /// True if all objects stay where they are put until the stream is done.
  virtual bool keepsAll() const { return false; }
  /// Returns a default-constructed object of the stream's type to decode into.
  virtual void* object() = 0;
  /// Returns a Status to decode into, for a watch's ERROR event.
  virtual metav1::Status* status() { return nullptr; }
  /// The object that was returned last is complete. In a list, every event is Added.
  virtual void done(EventType event) = 0;
};

/// ListDecoder and WatchDecoder without the C++ type of their items.
class ObjectStream {
 public:
  enum class Mode : std::uint8_t { List, Watch };

  ObjectStream(Mode mode, const TypeInfo& type, StreamOptions options, ObjectSink& sink);
  ~ObjectStream();
  ObjectStream(const ObjectStream&) = delete;
  ObjectStream& operator=(const ObjectStream&) = delete;

  void feed(std::string_view chunk);
  metav1::ListMeta finish();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace detail

namespace detail {

/// Passes the items of a list to a function.
template <Described T>
class ItemSink final : public ObjectSink {
 public:
  explicit ItemSink(std::function<void(T&&)> onItem) : onItem_(std::move(onItem)) {}

 private:
  void* object() override { return &(item_ = T()); }
  void done(EventType) override { onItem_(std::move(item_)); }

  std::function<void(T&&)> onItem_;
  T item_{};
};

}  // namespace detail

template <Described T>
class ListDecoder {
 public:
  explicit ListDecoder(std::function<void(T&&)> onItem, StreamOptions options = {})
      : items_(std::move(onItem)),
        stream_(detail::ObjectStream::Mode::List, TypeOf<T>::info, options, items_) {}

  /// Throws DecodeError.
  void feed(std::string_view chunk) { stream_.feed(chunk); }
  /// Throws DecodeError if the list is not complete.
  metav1::ListMeta finish() { return stream_.finish(); }

 private:
  detail::ItemSink<T> items_;
  detail::ObjectStream stream_;
};

template <Described T>
struct WatchEvent {
  EventType type = EventType::Added;
  T object{};             // empty for Error; for Bookmark, only its resourceVersion
  metav1::Status status;  // for Error only
};

namespace detail {

/// Passes the events of a watch to a function. `Make` knows how an event holds its object: it names
/// the type `Event`, which has members `type` and `status`, and returns the place of an object:
/// `void* operator()(Event&)`.
template <class Make>
class EventCollector final : public ObjectSink {
 public:
  using Event = typename Make::Event;

  explicit EventCollector(std::function<void(Event&&)> onEvent, Make make = {})
      : onEvent_(std::move(onEvent)), make_(make) {}

 private:
  void* object() override { return make_(event_ = {}); }
  metav1::Status* status() override { return &(event_ = {}).status; }
  void done(EventType type) override {
    event_.type = type;
    onEvent_(std::move(event_));
  }

  std::function<void(Event&&)> onEvent_;
  Make make_;
  Event event_;
};

template <Described T>
struct MakeWatchEvent {
  using Event = WatchEvent<T>;
  void* operator()(Event& event) const { return &event.object; }
};

}  // namespace detail

template <Described T>
class WatchDecoder {
 public:
  explicit WatchDecoder(std::function<void(WatchEvent<T>&&)> onEvent, StreamOptions options = {})
      : events_(std::move(onEvent)),
        stream_(detail::ObjectStream::Mode::Watch, TypeOf<T>::info, options, events_) {}

  /// Throws DecodeError.
  void feed(std::string_view chunk) { stream_.feed(chunk); }
  /// Ends the stream when the connection has ended. Throws DecodeError if that was inside a frame.
  void finish() { stream_.finish(); }

 private:
  detail::EventCollector<detail::MakeWatchEvent<T>> events_;
  detail::ObjectStream stream_;
};

}  // namespace kube

template <>
struct fmt::formatter<kube::EventType> : kube::detail::TextFormatter {
  auto format(kube::EventType type, fmt::format_context& context) const {
    return text(kube::toString(type), context);
  }
};
