#include "codegen/names.h"

#include <algorithm>
#include <cctype>

#include "kube/base/internal/text.h"

namespace kube::codegen {

namespace {

const std::set<std::string> kReserved = {
    // Keywords.
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break",
    "case", "catch", "char", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return",
    "co_yield", "compl", "concept", "const", "const_cast", "consteval", "constexpr", "constinit",
    "continue", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum",
    "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if", "inline",
    "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr",
    "operator", "or", "or_eq", "private", "protected", "public", "register", "reinterpret_cast",
    "requires", "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast",
    "struct", "switch", "template", "this", "thread_local", "throw", "true", "try", "typedef",
    "typeid", "typename", "union", "unsigned", "using", "virtual", "void", "volatile", "wchar_t",
    "while", "xor", "xor_eq",
    // Macros of compilers with extensions, and of common headers.
    "linux", "unix", "i386", "errno", "assert", "offsetof", "environ", "major", "minor", "makedev",
    "NULL", "EOF", "TRUE", "FALSE", "DOMAIN", "OVERFLOW", "UNDERFLOW", "SING", "PLOSS", "TLOSS",
    "NAN", "INFINITY", "HUGE", "BUFSIZ", "DEBUG", "NDEBUG", "ERROR", "INT_MAX", "INT_MIN",
    "PATH_MAX", "NAME_MAX", "RAND_MAX", "SIGINT", "SIGTERM", "SIGKILL", "SIGHUP"};

}  // namespace

bool isReserved(const std::string& name) { return kReserved.contains(name); }

bool isIdentifierCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::string upperFirst(std::string text) {
  text[0] = detail::upper(text[0]);
  return text;
}

namespace {

// True if the text begins with a character (of three bytes) that changes the direction of text.
// Compilers warn of these, because they make code look like other code.
bool turnsText(std::string_view text) {
  if (text.size() < 3 || text[0] != '\xe2') return false;
  const char last = text[2];
  if (text[1] == '\x80') {
    return last == '\x8e' || last == '\x8f' || (last >= '\xaa' && last <= '\xae');
  }
  return text[1] == '\x81' && last >= '\xa6' && last <= '\xa9';
}

}  // namespace

std::string literal(std::string_view text) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (turnsText(text.substr(i))) {
      for (const std::size_t end = i + 3; i < end; ++i) {
        out += fmt::format("\\{:03o}", static_cast<unsigned char>(text[i]));
      }
      --i;
      continue;
    }
    // Two question marks may begin a trigraph, about which compilers warn.
    if (c == '"' || c == '\\' || (c == '?' && out.ends_with('?'))) {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string comment(std::string_view text, std::string_view indent) {
  std::string out;
  std::string line;
  const auto flush = [&] {
    if (!line.empty()) out += fmt::format("{}/// {}\n", indent, line);
    line.clear();
  };
  std::string word;
  const auto add = [&] {
    if (word.empty()) return;
    // A backslash at the end of a line would continue the comment; so would its trigraph.
    while (word.ends_with('\\') || word.ends_with("?\?/")) word.pop_back();
    if (!line.empty() && line.size() + word.size() > 90) flush();
    if (!line.empty() && !word.empty()) line += ' ';
    line += word;
    word.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (turnsText(text.substr(i))) {
      i += 2;
    } else if (static_cast<unsigned char>(text[i]) <= ' ') {
      add();
    } else {
      word += text[i];
    }
  }
  add();
  flush();
  return out;
}

std::string identifier(std::string_view text) {
  std::string out;
  bool upper = false;
  for (const char c : text) {
    if (!isIdentifierCharacter(c)) {
      upper = !out.empty();
      continue;
    }
    out += upper ? detail::upper(c) : c;
    upper = false;
  }
  if (out.empty() || (out[0] >= '0' && out[0] <= '9')) out.insert(0, "x");
  return out;
}

std::string lowerFirst(std::string text) {
  const auto upper = [&](std::size_t i) { return i < text.size() && detail::isUpper(text[i]); };
  for (std::size_t i = 0; upper(i) && (i == 0 || upper(i + 1) || i + 1 == text.size()); ++i) {
    text[i] = detail::lower(text[i]);
  }
  return text;
}

std::string groupVersionName(const Package& package) {
  const std::string group = !package.groupName.empty() ? package.groupName
                            : package.group.empty()
                                ? "core"
                                : package.group.substr(0, package.group.find('.'));
  return upperFirst(identifier(group)) + upperFirst(identifier(package.version));
}

std::string accessorName(const Kind& kind) {
  if (!kind.accessor.empty()) return kind.accessor;
  const auto [end, rest] = std::ranges::mismatch(
      kind.kind, kind.resource, {}, [](char c) { return detail::lower(c); },
      [](char c) { return detail::lower(c); });
  return lowerFirst(std::string(kind.kind.begin(), end) + std::string(rest, kind.resource.end()));
}

}  // namespace kube::codegen
