// Runs a program of this machine as if it were in a container, with a folder as the container's
// root: for tests that need a real tar.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "kube/base/error.h"
#include "kube/testing/scripted_container.h"

namespace kube::testing {

/// Resolves absolute paths among the arguments below `root`, the container's root folder.
inline Program hostProgram(std::string root) {
  const char* path = std::getenv("PATH");
  std::string pathEntry = std::string("PATH=") + (path != nullptr ? path : "/usr/bin:/bin");
  return [root = std::move(root), pathEntry = std::move(pathEntry)](Process& process) {
    std::array<std::array<int, 2>, 3> pipes{};
    for (auto& pipe : pipes) {
      if (pipe2(pipe.data(), O_CLOEXEC) != 0) throw Error("no pipes");
    }
    std::vector<std::string> words = process.call().command;
    for (std::string& word : words) {
      if (word.starts_with('/')) word = word == "/" ? "." : word.substr(1);
    }
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, root.c_str());
    posix_spawn_file_actions_adddup2(&actions, pipes[0][0], 0);
    posix_spawn_file_actions_adddup2(&actions, pipes[1][1], 1);
    posix_spawn_file_actions_adddup2(&actions, pipes[2][1], 2);
    std::string onlyEntry = pathEntry;
    const std::array<char*, 2> environment{onlyEntry.data(), nullptr};
    pid_t child = -1;
    const int failed =
        posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environment.data());
    posix_spawn_file_actions_destroy(&actions);
    for (const int fd : {pipes[0][0], pipes[1][1], pipes[2][1]}) close(fd);
    if (failed != 0) {
      for (const int fd : {pipes[0][1], pipes[1][0], pipes[2][0]}) close(fd);
      throw Error("exec: \"" + words[0] + "\": executable file not found in $PATH: unknown");
    }
    const auto drain = [](int fd, auto&& use) {
      std::string buffer(64 << 10, '\0');
      for (ssize_t count = 0; (count = read(fd, buffer.data(), buffer.size())) > 0;) {
        use(std::string_view(buffer.data(), static_cast<std::size_t>(count)));
      }
      close(fd);
    };
    std::thread in([&] {
      while (const auto piece = process.read()) {
        std::string_view rest = *piece;
        while (!rest.empty()) {
          const ssize_t count = ::write(pipes[0][1], rest.data(), rest.size());
          if (count <= 0) break;
          rest.remove_prefix(static_cast<std::size_t>(count));
        }
      }
      close(pipes[0][1]);
    });
    std::thread err(
        [&] { drain(pipes[2][0], [&](std::string_view bytes) { process.writeError(bytes); }); });
    drain(pipes[1][0], [&](std::string_view bytes) { process.write(bytes); });
    err.join();
    int status = 0;
    waitpid(child, &status, 0);
    in.join();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 137;
  };
}

}  // namespace kube::testing
