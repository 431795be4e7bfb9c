#include "kube/apiserver/server/watch_body.h"

#include <fmt/core.h>

#include "kube/codec/stream_encode.h"
#include "kube/meta/api_error.h"
#include "kube/testing/faults.h"

namespace kube::apiserver {

namespace {

constexpr std::size_t kWatchPiece = 64 << 10;
constexpr std::size_t kChangesAtOnce = 256;  // the most that are processed at once

}  // namespace

WatchBody::WatchBody(Storage& storage, ResourcePtr resource, ObjectFilter filter, ObjectForms forms,
                     WatchPlan plan, Clock& clock)
    : storage_(storage),
      resource_(std::move(resource)),
      filter_(std::move(filter)),
      forms_(std::move(forms)),
      plan_(std::move(plan)),
      clock_(clock),
      at_(plan_.from) {}

WatchBody::~WatchBody() {
  if (id_ != 0) storage_.unwatch(*resource_->objects, id_);
}

std::shared_ptr<WatchBody> WatchBody::start(std::shared_ptr<WatchBody> body,
                                            const Responder& responder) {
  const Format format = body->forms_.form().format;
  HttpHeaders headers{{"Content-Type", format == Format::Protobuf
                                           ? "application/vnd.kubernetes.protobuf;stream=watch"
                                           : "application/json"}};
  headers.add("Cache-Control", "no-cache, private");
  body->handle_ = responder.stream(200, std::move(headers),
                                   [body](std::string& out) { return body->fill(out); });
  const std::weak_ptr<WatchBody> weak = body;
  body->id_ =
      body->storage_.watch(*body->resource_->objects, [handle = body->handle_] { handle.wake(); });
  {
    const detail::Lock lock(body->timersMutex_);
    body->timeout_ = body->clock_.callAfter(body->plan_.timeout, [weak] {
      if (const auto self = weak.lock()) {
        self->timedOut_ = true;
        self->handle_.wake();
      }
    });
  }
  if (body->plan_.bookmarks) body->scheduleBookmark();
  body->handle_.wake();  // for changes since the list was made
  return body;
}

void WatchBody::scheduleBookmark() {
  const detail::Lock lock(timersMutex_);
  bookmark_ = clock_.callAfter(plan_.bookmarkPeriod, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) {
      self->bookmarkDue_ = true;
      self->handle_.wake();
    }
  });
}

void WatchBody::fail(testing::WatchFault fault) {
  fault_ = static_cast<int>(fault);
  handle_.wake();
}

BodyState WatchBody::failNow(testing::WatchFault fault, std::string& out) {
  switch (fault) {
    case testing::WatchFault::End:
      return BodyState::End;
    case testing::WatchFault::Cut:
      return BodyState::Break;
    case testing::WatchFault::CutInFrame:
      out = forms_.bookmark(at_, false);
      out.resize(out.size() / 2);
      // Data that is not taken before the break is lost, so the break waits for the next call.
      fault_ = static_cast<int>(testing::WatchFault::Cut);
      return BodyState::More;
    case testing::WatchFault::Garbage:
      out = testing::kGarbage;
      return BodyState::End;
    case testing::WatchFault::Expire:
      return expire(out);
    case testing::WatchFault::Silence:
      break;
  }
  return BodyState::Wait;
}

// As kube-apiserver: this is an event, not an answer with status 410.
BodyState WatchBody::expire(std::string& out) const {
  out += encodeWatchEvent(
      EventType::Error,
      AnyObject(status::expired(fmt::format("too old resource version: {} ({})", at_,
                                            storage_.compacted(*resource_->objects)))),
      forms_.form().format);
  return BodyState::End;
}

void WatchBody::addFrame(EventType type, const AnyObject& object, std::string& out) {
  out += forms_.event(type, object, std::exchange(first_, false));
}

void WatchBody::add(const Change& change, std::string& out) {
  if (!filter_.prefix.empty()) {
    const metav1::ObjectMeta& meta = change.after->meta();
    const std::string_view wanted = std::string_view(filter_.prefix);
    if (wanted.substr(0, wanted.size() - 1) != meta.namespace_) return;
  }
  const bool before = change.before && filter_(*change.before);
  const bool after = !change.deleted && filter_(*change.after);
  if (!before && !after) return;
  const EventType type = !after   ? EventType::Deleted
                         : before ? EventType::Modified
                                  : EventType::Added;
  if (!after && !change.deleted) {
    // The object left the selection: the watcher sees its old state, at this revision.
    AnyObject last = change.before->object();
    metav1::ObjectMeta meta = metaOf(last);
    meta.resourceVersion = std::to_string(change.revision);
    setMeta(last, std::move(meta));
    return addFrame(type, last, out);
  }
  if (!forms_.cacheable()) return addFrame(type, change.after->object(), out);
  const std::string form = forms_.name() + std::string(toString(type));
  out +=
      change.frame(form, [&] { return forms_.event(type, change.after->object(), false); }).view();
}

BodyState WatchBody::fill(std::string& out) {
  if (const int fault = fault_; fault != kNoFault) {
    return failNow(static_cast<testing::WatchFault>(fault), out);
  }
  if (plan_.expired) return expire(out);
  while (sentInitial_ < plan_.initial.size() && out.size() < kWatchPiece) {
    addFrame(EventType::Added, plan_.initial[sentInitial_]->object(), out);
    plan_.initial[sentInitial_++] = nullptr;
  }
  if (sentInitial_ < plan_.initial.size()) return BodyState::More;
  if (std::exchange(plan_.endInitial, false)) out += forms_.bookmark(at_, true);
  while (out.size() < kWatchPiece) {
    const Changes next = storage_.changes(*resource_->objects, at_, kChangesAtOnce);
    if (next.gone) return expire(out);
    at_ = next.revision;
    for (const ChangePtr& change : next.changes) add(*change, out);
    if (next.over) return BodyState::End;
    if (next.changes.size() < kChangesAtOnce) break;
  }
  if (timedOut_) {
    if (plan_.bookmarks) out += forms_.bookmark(at_, false);
    return BodyState::End;
  }
  if (bookmarkDue_.exchange(false)) {
    out += forms_.bookmark(at_, false);
    scheduleBookmark();
  }
  return out.empty() ? BodyState::Wait : BodyState::More;
}

}  // namespace kube::apiserver
