// Error messages in kubectl's words, which people and scripts know.
//
//   Error from server (NotFound): pods "web" not found
//   error: the server doesn't have a resource type "pots"
//   The connection to the server 127.0.0.1:6443 was refused - did you specify the right host or ...
#pragma once

#include <exception>
#include <iosfwd>
#include <string>
#include <utility>

namespace kube::cmd {

/// Returns one or several lines, without the last newline. `server` is the server's address, if it
/// is known.
std::string errorText(const std::exception& error, const std::string& server = {});

/// Prints the errors of several objects. Repetitions of the last message are left out. The caller
/// sets the exit code if any() is true.
class SeveralErrors {
 public:
  explicit SeveralErrors(std::ostream& out, std::string server = {})
      : out_(out), server_(std::move(server)) {}

  void add(const std::exception& error);
  bool any() const noexcept { return !last_.empty(); }

 private:
  std::ostream& out_;
  std::string server_;
  std::string last_;
};

}  // namespace kube::cmd
