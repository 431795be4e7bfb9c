#include "kube/testing/faults.h"

#include <fmt/core.h>

#include <limits>
#include <utility>

#include "kube/meta/api_error.h"

namespace kube::testing {

metav1::Status statusOf(const Fault& fault, const ApiRequest& request) {
  constexpr std::string_view kMessage = "this server fails on purpose";
  const GroupResource resource{request.resource.group, request.resource.resource};
  metav1::Status status = status::fromResponse(fault.status, request.http.method, resource,
                                               request.name, kMessage, fault.retryAfter, false);
  // fromResponse() guesses reasons as clients do; real servers send these two themselves.
  if (fault.status == 410) status.reason = "Expired";
  if (fault.status == 413) status.reason = "RequestEntityTooLarge";
  if (!fault.reason.empty()) status.reason = fault.reason;
  status.message = kMessage;
  return status;
}

BodySource damaged(const Fault& fault, BodySource body) {
  if (fault.garbage) {
    return [](std::string& out) {
      out = kGarbage;
      return BodyState::End;
    };
  }
  if (fault.cut) return [](std::string&) { return BodyState::Break; };
  return [body = std::move(body), broken = false](std::string& out) mutable {
    if (broken) return BodyState::Break;
    const BodyState state = body(out);
    if (out.empty()) return state == BodyState::Wait ? state : BodyState::Break;
    out.resize((out.size() + 1) / 2);
    broken = true;
    return BodyState::More;  // bytes that are not sent before the break are lost
  };
}

FaultId Faults::add(Fault fault) {
  const detail::Lock lock(faultsMutex_);
  faults_.emplace(next_, std::move(fault));
  return next_++;
}

void Faults::remove(FaultId id) {
  const detail::Lock lock(faultsMutex_);
  faults_.erase(id);
}

void Faults::clear() {
  const detail::Lock lock(faultsMutex_);
  faults_.clear();
}

std::uint64_t Faults::hits() const {
  const detail::Lock lock(faultsMutex_);
  return hits_;
}

std::optional<Fault> Faults::take(const ApiRequest& request) {
  const detail::Lock lock(faultsMutex_);
  for (auto it = faults_.begin(); it != faults_.end(); ++it) {
    Fault& fault = it->second;
    if (!request.is(fault.verb, fault.resource, fault.path)) continue;
    if (fault.probability < 1 &&
        std::uniform_real_distribution<double>(0, 1)(random_) >= fault.probability) {
      continue;
    }
    ++hits_;
    Fault taken = fault;
    if (fault.times > 0 && --fault.times == 0) faults_.erase(it);
    return taken;
  }
  return std::nullopt;
}

Fault Faults::fromValue(const Value& value) {
  if (!value.isObject()) throw ApiError(status::badRequest("fault: expected a JSON object"));
  Fault fault;
  for (const auto& member : value.asObject()) {
    const std::string_view name = member.key;
    const Value& field = member.value;
    const auto expect = [&](bool holds, std::string_view what) {
      if (!holds)
        throw ApiError(status::badRequest(fmt::format("fault: {}: expected {}", name, what)));
    };
    const auto text = [&] {
      expect(field.isString(), "a string");
      return field.asString().str();
    };
    const auto flag = [&] {
      expect(field.isBool(), "true or false");
      return field.asBool();
    };
    const auto integer = [&] {
      constexpr int kMost = std::numeric_limits<int>::max();
      expect(field.isInt() && field.asInt() >= -kMost && field.asInt() <= kMost, "an integer");
      return static_cast<int>(field.asInt());
    };
    if (name == "verb") {
      fault.verb = text();
    } else if (name == "resource") {
      fault.resource = text();
    } else if (name == "path") {
      fault.path = text();
    } else if (name == "probability") {
      expect(field.isNumber(), "a number");
      fault.probability = field.asDouble();
    } else if (name == "times") {
      fault.times = integer();
    } else if (name == "delayMilliseconds") {
      fault.delay = std::chrono::milliseconds(integer());
    } else if (name == "status") {
      fault.status = integer();
      expect(fault.status >= 200 && fault.status <= 599, "an HTTP code");
    } else if (name == "reason") {
      fault.reason = text();
    } else if (name == "retryAfter") {
      fault.retryAfter = integer();
    } else if (name == "cut") {
      fault.cut = flag();
    } else if (name == "cutInBody") {
      fault.cutInBody = flag();
    } else if (name == "garbage") {
      fault.garbage = flag();
    } else if (name == "hang") {
      fault.hang = flag();
    } else {
      throw ApiError(status::badRequest(
          "fault: unknown field \"" + std::string(name) +
          "\"; known fields: verb, resource, path, probability, times, delayMilliseconds, status, "
          "reason, retryAfter, cut, cutInBody, garbage, hang"));
    }
  }
  return fault;
}

Value Faults::toValue() const {
  const detail::Lock lock(faultsMutex_);
  Value::Array all;
  for (const auto& [id, fault] : faults_) {
    all.push_back(Value::Object{{"id", id},
                                {"verb", fault.verb},
                                {"resource", fault.resource},
                                {"path", fault.path},
                                {"probability", fault.probability},
                                {"times", fault.times},
                                {"delayMilliseconds", fault.delay.count()},
                                {"status", fault.status},
                                {"reason", fault.reason},
                                {"retryAfter", fault.retryAfter},
                                {"cut", fault.cut},
                                {"cutInBody", fault.cutInBody},
                                {"garbage", fault.garbage},
                                {"hang", fault.hang}});
  }
  return Value::Object{{"faults", all}, {"hits", hits_}};
}

}  // namespace kube::testing
