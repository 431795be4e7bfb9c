// A fuzzer for label and field selectors with arbitrary text. A parsed selector prints as text that
// parses to an equal selector, and its matching agrees with its requirements. Other text is one
// clear error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "kube/base/error.h"
#include "kube/meta/selectors/field_selector.h"
#include "kube/meta/selectors/label_selector.h"

namespace selector_fuzz {

using namespace kube;

void check(bool holds) {
  if (!holds) std::abort();
}

template <class Selector>
std::optional<Selector> tryParse(std::string_view text) {
  try {
    return Selector::parse(text);
  } catch (const DecodeError& e) {
    check(e.offset().value() <= text.size() && !e.reason().empty());
    return std::nullopt;
  }
}

template <class Selector>
void checkPrinting(const Selector& selector) {
  const std::string printed = selector.str();
  const auto again = tryParse<Selector>(printed);
  check(again && *again == selector && again->str() == printed);
  check(selector.empty() == printed.empty() && !selector.matchesNothing());
}

void checkLabels(std::string_view text) {
  const auto selector = tryParse<labels::Selector>(text);
  if (!selector) return;
  checkPrinting(*selector);

  // Labels taken from the selector, so that every requirement can be decided by itself.
  Map<String> some;
  for (const labels::Requirement& requirement : selector->requirements()) {
    check(labels::Requirement::validate(requirement.key(), requirement.op(), requirement.values())
              .empty());
    some.insert_or_assign(requirement.key(), requirement.values()[0]);
  }
  bool all = true;
  for (const labels::Requirement& requirement : selector->requirements()) {
    all = all && requirement.matches(some);
  }
  check(selector->matches(some) == all);
  check(selector->matches([&](std::string_view key) -> std::optional<std::string_view> {
    return some[key].view();
  }) == all);
  for (const auto& [key, value] : some) {
    const auto exact = selector->requiresExactMatch(key);
    if (all && exact) check(*exact == value);
  }

  // The form in API objects has the same meaning, if it can express it.
  try {
    const auto api = labels::toLabelSelector(*selector);
    const auto back = labels::Selector::from(api);
    check(back.matches(some) == all &&
          back.matches(Map<String>()) == selector->matches(Map<String>()));
  } catch (const Error&) {
  }
}

void checkFields(std::string_view text) {
  const auto selector = tryParse<fields::Selector>(text);
  if (!selector) return;
  checkPrinting(*selector);
  Map<String> some;
  for (const fields::Requirement& term : selector->requirements()) {
    check(fields::unescapeValue(fields::escapeValue(term.value)) == term.value);
    some.insert_or_assign(term.field, term.value);
  }
  bool all = true;
  for (const fields::Requirement& term : selector->requirements()) {
    all = all && term.matchesValue(some[term.field]);
  }
  check(selector->matches(some) == all);
  const auto same = selector->transform(
      [](const String& field, const String& value) { return std::pair(field, value); });
  check(same == *selector);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  checkLabels(text);
  checkFields(text);
  return 0;
}

}  // namespace selector_fuzz
