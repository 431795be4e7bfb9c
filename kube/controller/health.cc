#include "kube/controller/health.h"

#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <optional>

#include "kube/base/error.h"
#include "kube/base/internal/shared_fetch.h"
#include "kube/base/log.h"
#include "kube/base/task.h"

namespace kube {
namespace {

constexpr std::size_t kMostWaiting = 1000;

// The error of a check; none if it passes.
std::optional<std::string> problemOf(const HealthCheck& check) {
  try {
    check();
    return std::nullopt;
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception that is not a std::exception";
  }
}

ServerResponse textAnswer(int status, std::string body) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"},
                      {"X-Content-Type-Options", "nosniff"},
                      {"Cache-Control", "no-cache, private"}},
          .body = std::move(body)};
}

struct Query {
  bool verbose = false;
  std::vector<std::string_view> excluded;

  explicit Query(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('&'), text.size());
      const std::string_view part = text.substr(0, end);
      if (part == "verbose" || part.starts_with("verbose=")) verbose = true;
      if (part.starts_with("exclude=")) excluded.push_back(part.substr(8));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }
  bool excludes(const std::string& name) const {
    return std::ranges::find(excluded, name) != excluded.end();
  }
};

}  // namespace

HealthCheck keptFor(Clock::Duration time, Clock& clock, HealthCheck check) {
  struct Outcome {
    Clock::TimePoint until;
    std::optional<std::string> problem;
  };
  const auto outcomes = std::make_shared<SharedFetch<Outcome>>();
  return [outcomes, time, &clock, check = std::move(check)] {
    const auto ask = [&] {
      auto problem = problemOf(check);
      return std::make_shared<const Outcome>(
          Outcome{clock.deadlineAfter(time), std::move(problem)});
    };
    auto outcome = detail::runBlocking(outcomes->get(ask), {});
    if (clock.now() >= outcome->until) {
      outcome = detail::runBlocking(outcomes->getNewer(outcome, ask), {});
    }
    if (outcome->problem) throw Error(*outcome->problem);
  };
}

void HealthChecks::add(std::string name, HealthCheck check) {
  const detail::Lock lock(checksMutex_);
  if (std::ranges::find(checks_, name, &std::pair<std::string, HealthCheck>::first) !=
      checks_.end()) {
    throw Error(fmt::format("{}: a check \"{}\" exists already", name_, name));
  }
  checks_.emplace_back(std::move(name), std::move(check));
}

bool HealthChecks::serves(std::string_view target) const {
  const std::string_view path = target.substr(0, target.find('?'));
  if (!path.starts_with('/') || !path.substr(1).starts_with(name_)) return false;
  const std::string_view rest = path.substr(1 + name_.size());
  return rest.empty() || rest.starts_with('/');
}

ServerResponse HealthChecks::answer(std::string_view target) const {
  const std::size_t question = target.find('?');
  const Query query(question == std::string_view::npos ? std::string_view()
                                                       : target.substr(question + 1));
  std::string_view one = target.substr(0, question);
  one.remove_prefix(std::min(one.size(), 1 + name_.size()));
  if (one.starts_with('/')) one.remove_prefix(1);
  std::vector<std::pair<std::string, HealthCheck>> checks;
  {
    const detail::Lock lock(checksMutex_);
    checks = checks_;
  }

  if (!one.empty()) {
    const auto found = std::ranges::find(
        checks, one, [](const auto& check) -> std::string_view { return check.first; });
    if (found == checks.end()) return textAnswer(404, fmt::format("no check \"{}\"\n", one));
    const auto problem = problemOf(found->second);
    if (!problem) return textAnswer(200, "ok");
    return textAnswer(500, fmt::format("{}: {}\n", found->first, *problem));
  }

  std::string lines;
  bool failed = false;
  for (const auto& [name, check] : checks) {
    if (query.excludes(name)) {
      lines += fmt::format("[+]{} excluded: ok\n", name);
      continue;
    }
    const auto problem = problemOf(check);
    tell(name, problem);
    if (problem) {
      failed = true;
      lines += fmt::format("[-]{} failed: {}\n", name, *problem);
    } else {
      lines += fmt::format("[+]{} ok\n", name);
    }
  }
  if (failed) return textAnswer(500, lines + name_ + " check failed\n");
  return textAnswer(200, query.verbose ? lines + name_ + " check passed\n" : "ok");
}

void HealthChecks::tell(const std::string& name, const std::optional<std::string>& problem) const {
  {
    const detail::Lock lock(checksMutex_);
    const auto told = failing_.find(name);
    if (problem ? told != failing_.end() && told->second == *problem : told == failing_.end()) {
      return;
    }
    if (problem) {
      failing_.insert_or_assign(name, *problem);
    } else {
      failing_.erase(told);
    }
  }
  if (problem) {
    Logger("health").warning({{"check", name}}, "{} failed: {}", name_, *problem);
  } else {
    Logger("health").info({{"check", name}}, "{} passes again", name_);
  }
}

void AnswerQueue::ask(const std::string& target, Responder responder) {
  std::optional<Question> dropped;
  {
    const detail::Lock lock(waitingMutex_);
    if (waitingResponders_ >= kMostWaiting) {
      dropped = std::move(waiting_.front());
      waiting_.pop_front();
      waitingResponders_ -= dropped->responders.size();
    }
    auto question = std::ranges::find(waiting_, target, &Question::target);
    if (question == waiting_.end()) question = waiting_.insert(waiting_.end(), {target, {}});
    question->responders.push_back(std::move(responder));
    ++waitingResponders_;
    if (working_ < atOnce_) {
      threads_.run([this] { work(); });  // throws if there is no thread to be had
      ++working_;
    }
  }
  if (!dropped) return;
  for (const Responder& waiting : dropped->responders) {
    waiting.send(textAnswer(503, "too many requests are waiting\n"));
  }
}

void AnswerQueue::work() {
  detail::Lock lock(waitingMutex_);
  while (!waiting_.empty()) {
    const Question question = std::move(waiting_.front());
    waiting_.pop_front();
    waitingResponders_ -= question.responders.size();
    lock.unlock();
    const ServerResponse answer = answer_(question.target);
    for (const Responder& responder : question.responders) responder.send(answer);
    lock.lock();
  }
  --working_;
}

}  // namespace kube
