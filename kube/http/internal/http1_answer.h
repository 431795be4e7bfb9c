// Answers of HTTP/1.1, taken apart while they come. Boost.Beast parses; the limits are set here,
// for it keeps to one only for the head: what it cannot use yet is kept here until more comes.
//
//   Http1Answer answer(sink, maxHeaderBytes);
//   answer.expect({.toHead = false, .mayUpgrade = false});
//   switch (answer.feed(bytes)) ...              // in pieces of any size
//
// Informational answers are passed over, but not without end. Extensions of chunks and trailers are
// passed over, too, and limited as the head is.
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
    /// Whether the rest of the answer matters to nobody any more: then it is not looked at.
    virtual bool abandoned() const = 0;

   protected:
    ~Sink() = default;
  };

  enum class State : unsigned char {
    Reading,
    Complete,
    Upgraded,  // what comes now is another protocol's
    Failed,    // problem() says why; nothing more can be read
  };

  struct Expected {
    bool toHead = false;      // the answer to a HEAD: it has no body
    bool mayUpgrade = false;  // 101 is an answer to that
  };

  /// More answers than these before the one that counts are too many.
  static constexpr int kMaxInformational = 100;

  Http1Answer(Sink& sink, std::size_t maxHeaderBytes);
  ~Http1Answer();
  Http1Answer(const Http1Answer&) = delete;
  Http1Answer& operator=(const Http1Answer&) = delete;

  /// Begins the next answer.
  void expect(Expected expected);
  State feed(std::string_view bytes);
  /// The peer has closed its side: for some answers that is the end.
  State end();

  const std::string& problem() const { return problem_; }
  /// Whether the connection may be used again, after a complete answer.
  bool keepsAlive() const;
  /// What came behind the answer.
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
  std::string unparsed_;  // the beginning of a line, or of a head, whose end is yet to come
  std::string problem_;
};

}  // namespace kube::detail
