// The handles through which handlers answer.
#include <utility>

#include "kube/http/internal/server/http_session.h"

namespace kube {

struct ResponseStream::Ending {
  std::shared_ptr<detail::BodyQueue> queue;
  ~Ending() { queue->finish(true); }
};

ResponseStream::ResponseStream(std::shared_ptr<detail::BodyQueue> queue)
    : ending_(new Ending{std::move(queue)}) {}

bool ResponseStream::write(String piece, std::stop_token stop) const {
  return ending_->queue->push(std::move(piece), true, stop);
}
bool ResponseStream::tryWrite(String piece) const {
  return ending_->queue->push(std::move(piece), false, {});
}
void ResponseStream::close() const { ending_->queue->finish(true); }
void ResponseStream::abort() const { ending_->queue->finish(false); }
bool ResponseStream::closed() const { return ending_->queue->closed(); }
void ResponseStream::onClosed(std::function<void()> function) const {
  ending_->queue->onClosed(std::move(function));
}

struct RawStream::Closing {
  std::shared_ptr<detail::RawSocket> socket;
  ~Closing() { socket->closeLater(); }
};

RawStream::RawStream(std::shared_ptr<detail::RawSocket> socket)
    : closing_(new Closing{std::move(socket)}) {}

void RawStream::read(std::function<void(std::string_view)> onData) const {
  closing_->socket->read(std::move(onData));
}
void RawStream::pause() const { closing_->socket->pause(1); }
void RawStream::resume() const { closing_->socket->pause(-1); }
void RawStream::write(String bytes) const { closing_->socket->write(std::move(bytes)); }
std::size_t RawStream::queued() const { return closing_->socket->queued(); }
bool RawStream::waitForRoom(std::size_t bytes, std::stop_token stop) const {
  return closing_->socket->waitForRoom(bytes, stop);
}
void RawStream::close() const { closing_->socket->closeLater(); }

Responder::Responder(std::shared_ptr<detail::ReplyTo> replyTo) : replyTo_(std::move(replyTo)) {}

Responder Responder::changing(BodyChange change) const {
  Responder changed = *this;
  changed.change_ = std::move(change);
  return changed;
}

Responder Responder::answering(AnswerChange change) const {
  Responder changed = *this;
  changed.answerChange_ = std::move(change);
  return changed;
}

void Responder::send(ServerResponse response) const {
  if (answerChange_) answerChange_(response);
  if (!change_) return replyTo_->send(std::move(response));
  startBody(response.status, std::move(response.headers),
            [body = std::move(response.body)](std::string& out) {
              out += body;
              return BodyState::End;
            });
}

ResponseStream Responder::stream(int status, HttpHeaders headers) const {
  ServerResponse head{.status = status, .headers = std::move(headers)};
  if (answerChange_) answerChange_(head);
  return ResponseStream(replyTo_->stream(head.status, std::move(head.headers)));
}

BodyHandle Responder::stream(int status, HttpHeaders headers, BodySource source) const {
  if (!answerChange_) return startBody(status, std::move(headers), std::move(source));
  ServerResponse answer{.status = status, .headers = std::move(headers)};
  std::string made;
  BodyState state = BodyState::More;
  while (state == BodyState::More || state == BodyState::Ahead) {
    std::string piece;
    state = source(piece);
    made += piece;
  }
  if (state == BodyState::End) {
    answer.body = std::move(made);
    send(std::move(answer));
    return {};
  }
  answerChange_(answer);
  return startBody(answer.status, std::move(answer.headers),
                   [made = std::move(made), state, source = std::move(source),
                    first = true](std::string& out) mutable {
                     const bool late = !std::exchange(first, false) || made.empty();
                     if (late && state != BodyState::Break) return source(out);
                     out += made;
                     // A source that waits is asked again: nothing has woken it so far.
                     return state == BodyState::Wait ? BodyState::More : state;
                   });
}

BodyHandle Responder::startBody(int status, HttpHeaders headers, BodySource source) const {
  if (change_) source = change_(std::move(source));
  return BodyHandle(replyTo_->stream(status, std::move(headers), std::move(source)));
}

void BodyHandle::wake() const {
  if (const auto queue = queue_.lock()) queue->sourceReady();
}

void BodyHandle::abort() const {
  if (const auto queue = queue_.lock()) queue->finish(false);
}

void Responder::upgrade(HttpHeaders headers, std::function<void(RawStream)> taken) const {
  replyTo_->upgrade(std::move(headers),
                    [taken = std::move(taken)](std::shared_ptr<detail::RawSocket> socket) {
                      taken(RawStream(std::move(socket)));
                    });
}

}  // namespace kube
