// Runs the end-to-end tests against the cluster of $KUBECONFIG or, if that is not set, against an
// API server in this process.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "kube/rest/kubeconfig.h"
#include "kube/testing/api_server.h"
#include "kube/testing/host_program_testing.h"

namespace {

// An embedded server with the users that the tests need, and a folder with their kubeconfigs.
class Embedded {
 public:
  Embedded()
      : server_({.access = {.tokens = {{"nobody-token", {.name = "nobody", .groups = {}}}}},
                 .token = "admin-token"}) {
    server_.containers().exec("", "", kube::testing::runBuiltIn);
    std::string pattern = (std::filesystem::temp_directory_path() / "kubexx-e2e-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    // Containers with this name have the programs of this machine, and a file system.
    std::filesystem::create_directories(folder_ / "root" / "tmp");
    server_.containers().exec("", "host", kube::testing::hostProgram((folder_ / "root").string()));
    write("admin", server_.kubeconfig());
    write("token", server_.kubeconfig(server_.adminToken()));
    write("nobody", server_.kubeconfig("nobody-token"));
    setenv("KUBECONFIG", (folder_ / "admin.kubeconfig").c_str(), 1);
    setenv("KUBEXX_E2E_EMBEDDED", "1", 1);
  }
  ~Embedded() { std::filesystem::remove_all(folder_); }

 private:
  void write(const std::string& user, const std::string& text) const {
    kube::Kubeconfig::parse(text).write((folder_ / (user + ".kubeconfig")).string());
  }

  kube::testing::ApiServer server_;
  std::filesystem::path folder_;
};

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  std::optional<Embedded> embedded;
  if (std::getenv("KUBECONFIG") == nullptr && !::testing::GTEST_FLAG(list_tests))
    embedded.emplace();
  return RUN_ALL_TESTS();
}
