#include "test/soak/server_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include "kube/base/error.h"
#include "kube/testing/api_server.h"

namespace kube::soak {

namespace {

std::string readAll(int fd) {
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(fd, buffer, sizeof(buffer))) > 0;) {
    text.append(buffer, static_cast<std::size_t>(n));
  }
  close(fd);
  return text;
}

}  // namespace

ServerProcess::ServerProcess() {
  int toParent[2], toChild[2];
  if (pipe(toParent) != 0 || pipe(toChild) != 0) throw Error("cannot create a pipe");
  pid_ = fork();
  if (pid_ < 0) throw Error("cannot start a server process");
  if (pid_ == 0) {
    close(toParent[0]);
    close(toChild[1]);
    serve(toParent[1], toChild[0]);
  }
  close(toParent[1]);
  close(toChild[0]);
  life_ = toChild[1];
  kubeconfig_ = readAll(toParent[0]);
  if (kubeconfig_.empty()) throw Error("the server process did not start");
}

ServerProcess::~ServerProcess() {
  close(life_);
  waitpid(pid_, nullptr, 0);
}

void ServerProcess::serve(int out, int life) {
  {
    const testing::ApiServer server;
    const std::string text = server.kubeconfig();
    if (write(out, text.data(), text.size()) != static_cast<ssize_t>(text.size())) _exit(1);
    close(out);
    readAll(life);  // returns when the parent ends
  }
  _exit(0);
}

}  // namespace kube::soak
