#include "cmd/kubexx/serve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <stop_token>

#include "kube/base/error.h"

namespace kube::cmd {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ServeTest, RefusesPlainOnOtherAddressesUnlessAllowed) {
  std::stop_source stop;
  stop.request_stop();
  std::ostringstream out;
  const std::string file =
      (std::filesystem::path(::testing::TempDir()) / "serve_test.kubeconfig").string();
  ServeOptions options{.address = "0.0.0.0", .kubeconfig = file, .plain = true};
  try {
    serve(options, out, stop.get_token());
    ADD_FAILURE() << "it must be refused";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("--allow-anonymous-admin"));
  }
  EXPECT_EQ(out.str(), "");
  options.allowAnonymousAdmin = true;
  serve(options, out, stop.get_token());
  EXPECT_THAT(out.str(), StartsWith("serving http://0.0.0.0:"));
  options = {.kubeconfig = file, .plain = true};
  serve(options, out, stop.get_token());
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace kube::cmd
