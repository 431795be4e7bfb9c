// Credentials against a real API server: KUBECONFIG names an admin's kubeconfig. The users are
// those that a cluster of ./dev e2e has, or else service accounts that the test makes.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "kube/api/authentication/v1.h"
#include "kube/api/core/v1.h"
#include "kube/api/rbac/v1.h"
#include "kube/client/resource_client.h"
#include "kube/client/retry.h"
#include "kube/meta/api_error.h"

namespace kube {
namespace {

using corev1::Namespace;
using corev1::ServiceAccount;

// An admin and a user without rights, both with tokens.
class CredentialsTest : public ::testing::Test {
 protected:
  CredentialsTest() : admin(Config::load()), bearer(admin), nobody(admin) {
    const std::filesystem::path folder =
        std::filesystem::path(std::getenv("KUBECONFIG")).parent_path();
    if (std::filesystem::exists(folder / "nobody.kubeconfig")) {
      bearer = Config::load({.path = (folder / "token.kubeconfig").string()});
      nobody = Config::load({.path = (folder / "nobody.kubeconfig").string()});
      return;
    }
    const RestClient rest(admin);
    Namespace wanted;
    wanted.metadata.generateName = "kubexx-e2e-";
    space = ResourceClient<Namespace>(rest).create(wanted).metadata.name;
    bearer = withToken(tokenOf("admin"));
    nobody = withToken(tokenOf("nobody"));
    rbacv1::ClusterRoleBinding binding;
    binding.metadata.name = space;
    binding.roleRef->kind = "ClusterRole";
    binding.roleRef->name = "cluster-admin";
    binding.roleRef->apiGroup = "rbac.authorization.k8s.io";
    rbacv1::Subject subject;
    subject.kind = "ServiceAccount";
    subject.name = "admin";
    subject.namespace_ = space;
    binding.subjects = {subject};
    ResourceClient<rbacv1::ClusterRoleBinding>(rest).create(binding);
    // Authorizers learn of a binding a moment later.
    retryOnError([](const std::exception& error) { return isForbidden(error); },
                 [&] { list<Namespace>(bearer); },
                 {.initial = std::chrono::milliseconds(100), .factor = 2, .steps = 6});
  }
  ~CredentialsTest() override {
    if (space.empty()) return;
    const RestClient rest(admin);
    ResourceClient<rbacv1::ClusterRoleBinding>(rest).remove(space);
    ResourceClient<Namespace>(rest).remove(space);
  }

  template <class T>
  static ObjectList<T> list(const Config& config) {
    return ResourceClient<T>(RestClient(config)).list();
  }

  std::string tokenOf(std::string_view name) const {
    const ResourceClient<ServiceAccount> accounts(RestClient(admin), space);
    ServiceAccount account;
    account.metadata.name = name;
    accounts.create(account);
    const auto request = accounts.createSubresource<authenticationv1::TokenRequest>(
        name, "token", authenticationv1::TokenRequest{});
    return std::string(request.status->token.view());
  }
  Config withToken(std::string token) const {
    Config config;
    config.host = admin.host;
    config.tls = admin.tls;
    config.tls.certFile = config.tls.certData = config.tls.keyFile = config.tls.keyData = {};
    config.bearerToken = std::move(token);
    return config;
  }

  const Config admin;
  Config bearer;
  Config nobody;
  String space;  // empty if the cluster has such users
};

TEST_F(CredentialsTest, CertificatesTokensAndImpersonationAreAccepted) {
  EXPECT_FALSE(list<Namespace>(bearer).items.empty());
  Config config = admin;
  config.impersonate.user = "nobody";
  try {
    list<Namespace>(config);
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_TRUE(isForbidden(error));
  }
}

TEST_F(CredentialsTest, AUserWithoutRightsIsForbiddenAndAnUnknownOneUnauthorized) {
  Config config = nobody;
  try {
    list<corev1::Node>(config);
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_TRUE(isForbidden(error));
  }
  config.bearerToken = "wrong";
  try {
    list<corev1::Node>(config);
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_TRUE(isUnauthorized(error));
  }
}

TEST_F(CredentialsTest, ATokenFileMayBeRotatedAndAPluginAsked) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("kubexx-e2e-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const auto token = folder / "token";
  std::ofstream(token) << "stale";
  Config config = bearer;
  config.bearerToken.clear();
  config.bearerTokenFile = token.string();
  const ResourceClient<Namespace> client{RestClient(config)};
  EXPECT_THROW(client.list(), ApiError);
  std::ofstream(token) << bearer.bearerToken;
  EXPECT_FALSE(client.list().items.empty());

  const auto plugin = folder / "plugin";
  std::ofstream(plugin)
      << "#!/bin/sh\n"
         R"(echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":")"
      << bearer.bearerToken << "\"}}'";
  std::filesystem::permissions(plugin, std::filesystem::perms::owner_all);
  Config asked = bearer;
  asked.bearerToken.clear();
  asked.exec->command = plugin.string();
  asked.exec->apiVersion = "client.authentication.k8s.io/v1";
  asked.exec->interactiveMode = "Never";
  EXPECT_FALSE(list<Namespace>(asked).items.empty());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace kube
