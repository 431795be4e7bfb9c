// kubexx serve: runs an API server in this process, for work without a cluster.
#pragma once

#include <functional>
#include <iosfwd>
#include <stop_token>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace kube::cmd {

struct ServeOptions {
  std::string address = "127.0.0.1";
  int port = 0;
  std::string kubeconfig = {};          // the file to write; empty: kubexx.kubeconfig
  std::vector<std::string> crds = {};   // files of objects that exist from the start
  std::string token = {};               // the admin's; empty: a random token
  std::vector<std::string> users = {};  // NAME=TOKEN
  std::vector<std::string> allow = {};  // USER:VERBS:RESOURCES[:NAMESPACES]
  bool keepOrphans = false;
  bool plain = false;  // HTTP without TLS
  bool allowAnonymousAdmin = false;
};

/// Serves until the token is triggered. Throws kube::Error.
void serve(const ServeOptions& options, std::ostream& out, const std::stop_token& stop);

void addServe(CLI::App& app);

}  // namespace kube::cmd
