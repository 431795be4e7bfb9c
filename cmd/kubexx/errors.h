// What goes wrong, in kubectl's words: people and scripts know them.
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

/// One or several lines, without the last newline. `server` is its address, where one is known.
std::string errorText(const std::exception& error, const std::string& server = {});

/// Errors of several objects: each is printed, once; the program's exit code tells that there were.
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
