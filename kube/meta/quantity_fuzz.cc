// A fuzzer for Quantity with arbitrary text: a parsed quantity has a stable text, a stable number
// and sane arithmetic.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "kube/meta/quantity.h"

namespace quantity_fuzz {

using kube::Quantity;
using kube::String;

void check(bool holds) {
  if (!holds) std::abort();
}

/// True if an amount is at the cap, where sums no longer cancel out.
bool isCapped(const Quantity& quantity) {
  static const Quantity most("1e28");
  return quantity >= most || quantity <= -most;
}

void checkStable(const Quantity& quantity) {
  const String& text = quantity.text();
  check(Quantity::isCanonical(text));
  Quantity again;
  check(Quantity::tryParse(text, again));
  check(again.sameText(quantity) && again == quantity);
  Quantity adopted;
  check(Quantity::tryAdopt(text, adopted) && adopted.text().sharesWith(text));
  check(again.format() == quantity.format());
  check(quantity.isZero() == (text == "0"));
}

void checkNumber(const Quantity& quantity) {
  const int sign = quantity.sign();
  check((quantity > Quantity()) == (sign > 0) && (quantity < Quantity()) == (sign < 0));
  const auto value = quantity.value();
  check((value > 0) - (value < 0) == sign);
  const double real = quantity.asDouble();
  check((real > 0) - (real < 0) == sign);
  if (const auto exact = quantity.asInt64()) {
    check(*exact == value && Quantity::of(*exact, quantity.format()) == quantity);
  }
}

void checkArithmetic(const Quantity& a, const Quantity& b) {
  const Quantity sum = a + b;
  checkStable(sum);
  check(sum == b + a);
  checkStable(a - b);
  check(a - b == -(b - a));
  check((a - b).sign() == a.cmp(b));
  if (!isCapped(sum)) check(sum - b == a);
  check(-(-a) == a && (a - a).isZero());
  check(a * 2 == a + a && a * -1 == -a);
  Quantity rounded = a;
  const bool exact = rounded.roundUp(0);
  checkStable(rounded);
  check(exact == (rounded == a) && rounded.value() == a.value());
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Two quantities, separated by a space; either may be invalid.
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t space = input.find(' ');
  const std::string_view first = input.substr(0, space);
  const std::string_view second =
      space == std::string_view::npos ? std::string_view("1") : input.substr(space + 1);

  Quantity a("7");
  std::string_view why;
  const bool parsed = Quantity::tryParse(first, a, &why);
  check(parsed || (a.text() == "7" && !why.empty() && !Quantity::isCanonical(first)));
  if (!parsed) return 0;
  check(Quantity::isCanonical(first) == (a.text() == first));
  checkStable(a);
  checkNumber(a);

  Quantity b;
  if (Quantity::tryParse(second, b)) checkArithmetic(a, b);
  return 0;
}

}  // namespace quantity_fuzz
