// Decodes arbitrary bytes as HTTP/1.1 answers, in pieces of any size. The result is the same as for
// one piece, except that input that is too long is detected sooner in pieces. The first byte
// selects the request, the second the size of the pieces.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kube/http/internal/http1_answer.h"

namespace http1_answer_fuzz {

using namespace kube;
using kube::detail::Http1Answer;

constexpr std::size_t kMaxHeader = 1024;

void check(bool holds) {
  if (!holds) std::abort();
}

class Recorder final : public Http1Answer::Sink {
 public:
  void head(HttpResponse head) override {
    check(!headSeen);
    headSeen = true;
    check(head.status >= 101 && head.body.empty());
    // The whole answer is in the head.
    std::size_t size = 0;
    for (const HttpHeader& header : head.headers) size += header.name.size() + header.value.size();
    check(size <= kMaxHeader);
    answer.status = head.status;
    answer.headers = std::move(head.headers);
  }
  void body(std::string_view bytes) override {
    check(headSeen && !bytes.empty());
    answer.body.append(bytes);
  }
  bool abandoned() const override { return answer.body.size() > (1 << 20); }

  HttpResponse answer;
  bool headSeen = false;
};

struct Outcome {
  Http1Answer::State state = Http1Answer::State::Reading;
  std::string problem;
  HttpResponse answer;
  bool tooLong() const { return problem.find("longer") != std::string::npos; }
  bool isAnswer() const {
    return state == Http1Answer::State::Complete || state == Http1Answer::State::Upgraded;
  }
};

Outcome run(std::string_view bytes, Http1Answer::Expected expected, std::size_t piece) {
  Recorder recorder;
  Http1Answer reader(recorder, kMaxHeader);
  reader.expect(expected);
  Outcome outcome;
  while (outcome.state == Http1Answer::State::Reading && !bytes.empty()) {
    // A copy, so that the sanitizer detects reads past its end.
    const std::string some(bytes.substr(0, piece));
    bytes.remove_prefix(some.size());
    outcome.state = reader.feed(some);
  }
  if (outcome.state == Http1Answer::State::Reading) {
    // The kept bytes are bounded. This is an answer only if it ends with the connection.
    check(reader.takeRest().size() <= kMaxHeader);
    outcome.state = reader.end();
  }
  if (outcome.state == Http1Answer::State::Complete) reader.keepsAlive();
  check((outcome.state == Http1Answer::State::Failed) == !reader.problem().empty());
  outcome.problem = reader.problem();
  outcome.answer = std::move(recorder.answer);
  return outcome;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const Http1Answer::Expected expected{.toHead = (data[0] & 1) != 0,
                                       .mayUpgrade = (data[0] & 2) != 0};
  const Outcome atOnce = run(bytes, expected, std::max<std::size_t>(bytes.size(), 1));
  for (const std::size_t piece : {std::size_t{data[1]} + 1, std::size_t{1}}) {
    if (piece == 1 && bytes.size() > 4096) break;
    const Outcome inParts = run(bytes, expected, piece);
    if (atOnce.tooLong() || inParts.tooLong()) continue;
    // An error in a head that breaks off may be detected sooner or later.
    check(atOnce.isAnswer() == inParts.isAnswer());
    if (!atOnce.isAnswer()) continue;
    check(atOnce.state == inParts.state);
    check(atOnce.answer.status == inParts.answer.status);
    check(atOnce.answer.headers == inParts.answer.headers);
    check(atOnce.answer.body == inParts.answer.body);
  }
  return 0;
}

}  // namespace http1_answer_fuzz
