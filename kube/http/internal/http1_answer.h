// An incremental parser of HTTP/1.1 answers. Boost.Beast parses. The limits are set here, because
// Beast limits only the head: input that it cannot use yet is kept here until more arrives.
//
//   Http1Answer answer(sink, maxHeaderBytes);
//   answer.expect({.toHead = false, .mayUpgrade = false});
//   switch (answer.feed(bytes)) ...  // in pieces of any size
//
// Skips informational answers, up to a limit. Skips chunk extensions and trailers, limited as the
// head is.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "kube/http/http.h"

namespace kube::detail {

class Http1Answer {
 public:
  class Sink {
   public:
    virtual void head(HttpResponse head) = 0;
    virtual void body(std::string_view bytes) = 0;
    /// Returns whether the rest of the answer is not needed; parsing stops then.
    virtual bool abandoned() const = 0;

   protected:
    ~Sink() = default;
  };

  enum class State : unsigned char {
    Reading,
    Complete,
    Upgraded,  // the following bytes belong to another protocol
    Failed,    // problem() says why; nothing more can be read
  };

  struct Expected {
    bool toHead = false;      // the answer to a HEAD, which has no body
    bool mayUpgrade = false;  // 101 is a valid answer
  };

  /// The limit of informational answers before the final one.
  static constexpr int kMaxInformational = 100;

  Http1Answer(Sink& sink, std::size_t maxHeaderBytes);
  ~Http1Answer();
  Http1Answer(const Http1Answer&) = delete;
  Http1Answer& operator=(const Http1Answer&) = delete;

  /// Begins the next answer.
  void expect(Expected expected);
  State feed(std::string_view bytes);
  /// Notes that the peer has closed its side, which ends some answers.
  State end();

  const std::string& problem() const { return problem_; }
  /// Returns whether the connection may be used again, after a complete answer.
  bool keepsAlive() const;
  /// Bytes that were received after the answer.
  bool hasRest() const { return !unparsed_.empty(); }
  std::string takeRest();

 private:
  class Parser;

  void begin();
  std::size_t parse(std::string_view bytes);
  void complete();
  void fail(std::string problem);

  Sink& sink_;
  const std::size_t maxHeaderBytes_;
  Expected expected_;
  std::unique_ptr<Parser> parser_;
  State state_ = State::Complete;
  int informational_ = 0;
  std::string unparsed_;  // the beginning of an incomplete line or head
  std::string problem_;
};

}  // namespace kube::detail
