// Makes text harmless for a terminal. Names, messages and fields come from servers and containers,
// and must not move the cursor, set the window's title or hide a line. All output to a terminal
// passes through a filter that writes control characters as words, such as U+001B. Output to a file
// or a pipe is unchanged.
//
//   const TerminalText out(std::cout, STDOUT_FILENO);   // once, in main()
//   std::cout << serversMessage;                        // harmless
//   std::cout << OwnText{table};                        // has colours, and is harmless already
//
// The output of exec and attach is not filtered: there, the terminal is the container's.
//
// Thread safety: that of the stream.
#pragma once

#include <memory>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

namespace kube::cmd {

/// Replaces the control characters of a text by words. The text is given in pieces.
class ControlFilter {
 public:
  /// `colours`: keeps colours (SGR, "ESC [ 31 m").
  explicit ControlFilter(bool colours = false) : colours_(colours) {}

  /// Filters the next piece. Holds back an end that may be the beginning of a control sequence.
  std::string feed(std::string_view piece);

 private:
  const bool colours_;
  std::string kept_;
};

/// While it lives, a stream to a terminal passes through a ControlFilter.
class TerminalText {
 public:
  /// `fd` is the file that the stream writes to. Does nothing if it is not a terminal.
  TerminalText(std::ostream& out, int fd);
  /// Treats the stream as a terminal.
  explicit TerminalText(std::ostream& out);
  ~TerminalText();
  TerminalText(const TerminalText&) = delete;
  TerminalText& operator=(const TerminalText&) = delete;

 private:
  std::ostream& out_;
  std::streambuf* const before_;
  std::unique_ptr<std::streambuf> filter_;  // null: not a terminal
};

/// Text with the program's own colours and cursor movements. Any part of it that comes from a
/// server must have passed through withoutControls().
struct OwnText {
  std::string_view text;
};
std::ostream& operator<<(std::ostream& out, OwnText own);

}  // namespace kube::cmd
