// Checks of addresses and networks. They parse addresses themselves instead of calling inet_pton,
// because the messages distinguish a text that is not an address from an address in another form.
#include <fmt/format.h>

#include <array>
#include <optional>

#include "kube/base/internal/utf8.h"
#include "kube/meta/validation/validation.h"

namespace kube::validation {
namespace {

struct Address {
  std::array<std::uint8_t, 16> bytes{};  // IPv4: in the last four
  bool isV4Text = false;                 // was written as a.b.c.d
  bool hasLeadingZeros = false;          // more digits than the strict forms allow

  bool isMapped() const noexcept {
    for (std::size_t i = 0; i < 10; ++i) {
      if (bytes[i] != 0) return false;
    }
    return !isV4Text && bytes[10] == 0xFF && bytes[11] == 0xFF;
  }
  /// True for an IPv4 address in either form.
  bool isV4() const noexcept { return isV4Text || isMapped(); }
  /// The canonical form (RFC 5952); an IPv4-mapped IPv6 address is printed as IPv4.
  std::string str() const;
};

std::string Address::str() const {
  if (isV4()) return fmt::format("{}", fmt::join(bytes.begin() + 12, bytes.end(), "."));
  std::array<unsigned, 8> groups{};
  for (std::size_t i = 0; i < 8; ++i) {
    groups[i] = static_cast<unsigned>(bytes[2 * i]) << 8 | bytes[2 * i + 1];
  }
  std::size_t gap = 8;  // the first of the longest runs of at least two zeros
  std::size_t gapLength = 1;
  for (std::size_t i = 0; i < 8; ++i) {
    std::size_t length = 0;
    while (i + length < 8 && groups[i + length] == 0) ++length;
    if (length > gapLength) {
      gap = i;
      gapLength = length;
    }
  }
  std::string text;
  for (std::size_t i = 0; i < 8; ++i) {
    if (i == gap) {
      text += "::";
      i += gapLength - 1;
      continue;
    }
    if (!text.empty() && text.back() != ':') text += ':';
    text += fmt::format("{:x}", groups[i]);
  }
  return text;
}

int digitOf(char c, int base) {
  int digit = base;
  if (c >= '0' && c <= '9') digit = c - '0';
  if (c >= 'a' && c <= 'f') digit = c - 'a' + 10;
  if (c >= 'A' && c <= 'F') digit = c - 'A' + 10;
  return digit < base ? digit : -1;
}

/// Removes a number of at most `max` from the front. Returns the number of digits; 0 if there is no
/// number, or it is too great.
std::size_t takeNumber(std::string_view& text, int base, unsigned max, unsigned& number) {
  number = 0;
  std::size_t count = 0;
  for (; count < text.size(); ++count) {
    const int digit = digitOf(text[count], base);
    if (digit < 0) break;
    number = number * static_cast<unsigned>(base) + static_cast<unsigned>(digit);
    if (number > max) return 0;
  }
  text.remove_prefix(count);
  return count;
}

/// Reads four bytes to the position `at`.
bool readV4(std::string_view text, Address& address, std::size_t at) {
  for (std::size_t i = 0; i < 4; ++i) {
    if (i > 0) {
      if (!text.starts_with('.')) return false;
      text.remove_prefix(1);
    }
    const bool startsWithZero = text.starts_with('0');
    unsigned number = 0;
    const std::size_t digits = takeNumber(text, 10, 255, number);
    if (digits == 0) return false;
    if (startsWithZero && digits > 1) address.hasLeadingZeros = true;
    address.bytes[at + i] = static_cast<std::uint8_t>(number);
  }
  return text.empty();
}

bool readV6(std::string_view text, Address& address) {
  std::size_t at = 0;
  std::optional<std::size_t> gap;
  if (text.starts_with("::")) {
    gap = 0;
    text.remove_prefix(2);
  }
  while (at < 16 && !text.empty()) {
    const std::string_view whole = text;
    unsigned number = 0;
    const std::size_t digits = takeNumber(text, 16, 0xFFFF, number);
    if (digits == 0) return false;
    if (text.starts_with('.')) {  // ends in an IPv4 address
      if ((!gap && at != 12) || at + 4 > 16 || !readV4(whole, address, at)) return false;
      at += 4;
      text = {};
      break;
    }
    if (digits > 4) address.hasLeadingZeros = true;
    address.bytes[at++] = static_cast<std::uint8_t>(number >> 8);
    address.bytes[at++] = static_cast<std::uint8_t>(number);
    if (text.empty()) break;
    if (!text.starts_with(':') || text.size() == 1) return false;
    text.remove_prefix(1);
    if (text.starts_with(':')) {
      if (gap) return false;
      gap = at;
      text.remove_prefix(1);
    }
  }
  if (!text.empty()) return false;
  if (!gap) return at == 16;
  if (at == 16) return false;  // the gap stands for at least one group
  const std::size_t missing = 16 - at;
  for (std::size_t i = at; i-- > *gap;) {
    address.bytes[i + missing] = address.bytes[i];
    address.bytes[i] = 0;
  }
  return true;
}

std::optional<Address> readAddress(std::string_view text) {
  Address address;
  const std::size_t first = text.find_first_of(".:");
  if (first == std::string_view::npos) return std::nullopt;
  if (text[first] == ':') {
    if (!readV6(text, address)) return std::nullopt;
    return address;
  }
  address.isV4Text = true;
  address.bytes[10] = address.bytes[11] = 0xFF;
  if (!readV4(text, address, 12)) return std::nullopt;
  return address;
}

struct Network {
  Address address;  // as it was written
  Address masked;
  unsigned prefix = 0;  // of 32 bits for an IPv4 text, else of 128
  bool hasLeadingZeros = false;

  /// The prefix; of 32 bits for IPv4 in either form.
  unsigned prefixOf(const Address& of) const noexcept {
    return !of.isV4Text && of.isV4() && prefix > 32 ? prefix - 96 : prefix;
  }
};

std::optional<Network> readNetwork(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto address = readAddress(text.substr(0, slash));
  if (!address) return std::nullopt;
  std::string_view rest = text.substr(slash + 1);
  Network network{.address = *address, .masked = *address};
  const bool startsWithZero = rest.starts_with('0');
  const std::size_t digits = takeNumber(rest, 10, address->isV4Text ? 32 : 128, network.prefix);
  if (digits == 0 || !rest.empty()) return std::nullopt;
  network.hasLeadingZeros = address->hasLeadingZeros || (startsWithZero && digits > 1);
  const unsigned bits = network.prefix + (address->isV4Text ? 96 : 0);
  for (unsigned i = 0; i < 16; ++i) {
    const unsigned kept = bits >= 8 * (i + 1) ? 8 : bits > 8 * i ? bits - 8 * i : 0;
    network.masked.bytes[i] &= static_cast<std::uint8_t>(0xFF00U >> kept);
  }
  return network;
}

FieldErrors notCanonical(const ErrorPath& path, std::string_view text, std::string_view canonical) {
  if (text == canonical) return {};
  return {FieldError::invalid(
      path, text, fmt::format("must be in canonical form ({})", detail::quoted(canonical)))};
}

FieldErrors checkIP(const ErrorPath& path, std::string_view text,
                    const std::optional<Address>& address, bool strict) {
  if (!address) {
    return {FieldError::invalid(path, text,
                                "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")};
  }
  if (!strict) return {};
  if (address->hasLeadingZeros) {
    return {FieldError::invalid(path, text, "must not have leading 0s")};
  }
  if (address->isMapped()) {
    return {FieldError::invalid(path, text, "must not be an IPv4-mapped IPv6 address")};
  }
  return {};
}

FieldErrors checkCIDR(const ErrorPath& path, std::string_view text,
                      const std::optional<Network>& network, bool strict) {
  if (!network) {
    return {FieldError::invalid(path, text,
                                "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)")};
  }
  if (!strict) return {};
  if (network->hasLeadingZeros) {
    return {FieldError::invalid(path, text, "must not have leading 0s in IP or prefix length")};
  }
  if (network->address.isMapped()) {
    return {FieldError::invalid(path, text, "must not have an IPv4-mapped IPv6 address")};
  }
  if (network->address.bytes != network->masked.bytes) {
    return {FieldError::invalid(path, text, "must not have bits set beyond the prefix length")};
  }
  return {};
}

}  // namespace

FieldErrors isValidIP(const ErrorPath& path, std::string_view text) {
  const auto address = readAddress(text);
  FieldErrors errors = checkIP(path, text, address, true);
  return errors.empty() ? notCanonical(path, text, address->str()) : errors;
}

FieldErrors isValidIPv4(const ErrorPath& path, std::string_view text) {
  const auto address = readAddress(text);
  if (!address || !address->isV4()) {
    return {FieldError::invalid(path, text, "must be a valid IPv4 address")};
  }
  return isValidIP(path, text);
}

FieldErrors isValidIPv6(const ErrorPath& path, std::string_view text) {
  const auto address = readAddress(text);
  if (!address || address->isV4()) {
    return {FieldError::invalid(path, text, "must be a valid IPv6 address")};
  }
  return isValidIP(path, text);
}

FieldErrors isValidCIDR(const ErrorPath& path, std::string_view text) {
  const auto network = readNetwork(text);
  FieldErrors errors = checkCIDR(path, text, network, true);
  if (!errors.empty()) return errors;
  return notCanonical(path, text, fmt::format("{}/{}", network->masked.str(), network->prefix));
}

FieldErrors isValidInterfaceAddress(const ErrorPath& path, std::string_view text) {
  const auto network = readNetwork(text);
  if (!network) {
    return {FieldError::invalid(
        path, text, "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)")};
  }
  return notCanonical(
      path, text,
      fmt::format("{}/{}", network->address.str(), network->prefixOf(network->address)));
}

FieldErrors isValidIPForLegacyField(const ErrorPath& path, std::string_view text, bool strict) {
  return checkIP(path, text, readAddress(text), strict);
}

FieldErrors isValidCIDRForLegacyField(const ErrorPath& path, std::string_view text, bool strict) {
  return checkCIDR(path, text, readNetwork(text), strict);
}

}  // namespace kube::validation
