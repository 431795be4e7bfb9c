// Text for a terminal. Names, messages and fields come from servers and containers, and none
// of them may move the cursor, set the window's title or hide a line: whatever the program prints
// to a terminal goes through here, and control characters come out in words. What it prints
// elsewhere, into a file or a pipe, stays as it is.
//
//   const TerminalText out(std::cout, STDOUT_FILENO);   // once, in main()
//   std::cout << serversMessage;                        // harmless
//   std::cout << OwnText{table};                        // has colours, and is harmless already
//
// Only the output of exec and attach is not: there, the terminal is the container's.
//
// Thread safety: that of the stream.
#pragma once

#include <memory>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

namespace kube::cmd {

/// Control characters in words, of text that comes in pieces.
class ControlFilter {
 public:
  /// `colours`: those (SGR, "ESC [ 31 m") may stay.
  explicit ControlFilter(bool colours = false) : colours_(colours) {}

  /// The next piece, but for what the piece after it decides about.
  std::string feed(std::string_view piece);

 private:
  const bool colours_;
  std::string kept_;
};

/// While it lives, what goes to a stream that is a terminal goes through a ControlFilter.
class TerminalText {
 public:
  /// Does nothing where `fd`, which the stream writes to, is no terminal.
  TerminalText(std::ostream& out, int fd);
  /// Takes the stream for a terminal.
  explicit TerminalText(std::ostream& out);
  ~TerminalText();
  TerminalText(const TerminalText&) = delete;
  TerminalText& operator=(const TerminalText&) = delete;

 private:
  std::ostream& out_;
  std::streambuf* const before_;
  std::unique_ptr<std::streambuf> filter_;  // null: no terminal
};

/// Text with the program's own colours and movements of the cursor. Nothing of a server's is in it
/// but what went through withoutControls().
struct OwnText {
  std::string_view text;
};
std::ostream& operator<<(std::ostream& out, OwnText own);

}  // namespace kube::cmd
