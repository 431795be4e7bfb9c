// Access rules of the API server.
#include "kube/api/authentication/v1.h"
#include "kube/api/authorization/v1.h"
#include "kube/client/authentication/v1.h"
#include "kube/client/authorization/v1.h"
#include "kube/testing/access.h"
#include "kube/testing/api_server_testing.h"

namespace kube::apiserver {
namespace {

using namespace kube::testing;

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

AccessOptions users() {
  return {
      .tokens = {{"ann-token", {.name = "ann", .groups = {"dev"}, .uid = "7"}},
                 {"bob-token", {.name = "bob", .groups = {}}},
                 {"root-token", {.name = "root", .groups = {"system:masters"}}}},
      .allow = {
          {.groups = {"dev"},
           .verbs = {"get", "list"},
           .resources = {"configmaps"},
           .namespaces = {"default"}},
          {.users = {"bob"}, .verbs = {"impersonate"}, .resources = {"users"}},
          {.users = {"bob"}, .verbs = {"impersonate"}, .resources = {"groups"}, .names = {"dev"}},
          {.users = {"bob"},
           .verbs = {"impersonate"},
           .resources = {"userextras/example.com/scope"},
           .apiGroups = {"authentication.k8s.io"}},
          {.users = {"bob"},
           .verbs = {"impersonate"},
           .resources = {"serviceaccounts"},
           .namespaces = {"default"}},
          {.users = {"ann"}, .verbs = {"get"}, .paths = {"/metrics", "/custom/*"}}}};
}

class ApiServerAccessTest : public ApiServerTest {
 protected:
  ApiServerAccessTest() : ApiServerTest({.access = users()}) {}
  Answer as(std::string_view token, std::string method, std::string_view target,
            HttpHeaders headers = {}, std::string body = {}) const {
    headers.add("Authorization", token.empty() ? "" : "Bearer " + std::string(token));
    return call(std::move(method), target, std::move(body), std::move(headers));
  }
};

TEST_F(ApiServerAccessTest, AnUnknownTokenIsNobody) {
  const Answer refused = as("wrong", "GET", kMaps);
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(refused.asStatus().reason, "Unauthorized");
  EXPECT_EQ(refused.asStatus().message, "Unauthorized");
  EXPECT_EQ(call("GET", kMaps, {}, {{"Authorization", "Basic YTpi"}}).status, 401);
  EXPECT_EQ(call("GET", "/healthz", {}, {{"Authorization", "Bearer wrong"}}).status, 401);
}

TEST_F(ApiServerAccessTest, WithoutCredentialsOnlyHealthAndVersionAreOpen) {
  for (const char* path : {"/healthz", "/livez", "/readyz", "/version"}) {
    EXPECT_EQ(as("", "GET", path).status, 200) << path;
  }
  EXPECT_EQ(as("", "GET", "/healthz").body, "ok");
  const Answer refused = as("", "GET", kMaps);
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.asStatus().message,
            "configmaps is forbidden: User \"system:anonymous\" cannot list resource "
            "\"configmaps\" in API group \"\" in the namespace \"default\"");
  EXPECT_EQ(as("", "GET", "/apis").asStatus().message,
            "forbidden: User \"system:anonymous\" cannot get path \"/apis\"");
}

TEST_F(ApiServerAccessTest, RulesAllow) {
  maps().create(map("a"));
  EXPECT_EQ(as("ann-token", "GET", kMaps).status, 200);
  EXPECT_EQ(as("ann-token", "GET", std::string(kMaps) + "/a").status, 200);
  EXPECT_EQ(as("root-token", "DELETE", std::string(kMaps) + "/a").status, 200);
  const Answer deleted = as("ann-token", "DELETE", std::string(kMaps) + "/a");
  EXPECT_EQ(deleted.status, 403);
  EXPECT_EQ(deleted.asStatus().message,
            "configmaps \"a\" is forbidden: User \"ann\" cannot delete resource \"configmaps\" in "
            "API group \"\" in the namespace \"default\"");
  EXPECT_EQ(deleted.asStatus().details.read().name, "a");
  EXPECT_EQ(as("ann-token", "GET", "/api/v1/configmaps").asStatus().message,
            "configmaps is forbidden: User \"ann\" cannot list resource \"configmaps\" in API "
            "group \"\" at the cluster scope");
  EXPECT_EQ(as("bob-token", "GET", "/apis/apps/v1/namespaces/default/deployments/x/scale")
                .asStatus()
                .message,
            "deployments.apps \"x\" is forbidden: User \"bob\" cannot get resource "
            "\"deployments/scale\" in API group \"apps\" in the namespace \"default\"");
  EXPECT_EQ(as("ann-token", "GET", "/apis").status, 200) << "what there is, all may know";
  EXPECT_EQ(as("ann-token", "GET", "/metrics").status, 404) << "allowed, but not there";
  EXPECT_EQ(as("ann-token", "GET", "/custom/x").status, 404);
  EXPECT_EQ(as("bob-token", "GET", "/metrics").status, 403);
}

TEST_F(ApiServerAccessTest, ACertificateNamesTheAdmin) {
  const auto me = clients.authenticationV1().selfSubjectReviews().create({});
  EXPECT_EQ(me.status->userInfo->username, "kubexx-admin");
  EXPECT_THAT(me.status->userInfo->groups, ElementsAre("system:masters", "system:authenticated"));
}

TEST_F(ApiServerAccessTest, ATokenNamesItsUser) {
  const Clientset ann(server.config("ann-token"));
  const auto me = ann.authenticationV1().selfSubjectReviews().create({});
  EXPECT_EQ(me.status->userInfo->username, "ann");
  EXPECT_EQ(me.status->userInfo->uid, "7");
  EXPECT_THAT(me.status->userInfo->groups, ElementsAre("dev", "system:authenticated"));
  EXPECT_TRUE(isForbidden(ApiError(refusalOf([&] { ann.coreV1().pods("default").list(); }))));
}

TEST_F(ApiServerAccessTest, WhoMayActsAsAnother) {
  const HttpHeaders asAnn{{"Impersonate-User", "ann"}, {"Impersonate-Group", "dev"}};
  EXPECT_EQ(as("bob-token", "GET", kMaps).status, 403);
  EXPECT_EQ(as("bob-token", "GET", kMaps, asAnn).status, 200);
  const Answer refused = as("ann-token", "GET", kMaps, {{"Impersonate-User", "bob"}});
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.asStatus().message,
            "users \"bob\" is forbidden: User \"ann\" cannot impersonate resource \"users\" in API "
            "group \"\" at the cluster scope");
  EXPECT_EQ(as("root-token", "GET", kMaps, {{"Impersonate-User", "carl"}}).status, 403)
      << "with no more rights than that one has";
  Config config = server.config();
  config.impersonate.user = "carl";
  config.impersonate.groups = {"x", "y"};
  config.impersonate.extra = {{"scope", {"one", "two"}}};
  const auto me = Clientset(config).authenticationV1().selfSubjectReviews().create({});
  EXPECT_EQ(me.status->userInfo->username, "carl");
  EXPECT_THAT(me.status->userInfo->groups, ElementsAre("x", "y", "system:authenticated"));
  EXPECT_THAT(me.status->userInfo->extra.at("scope"), ElementsAre("one", "two"));
}

TEST_F(ApiServerAccessTest, EveryPartOfAnothersIdentityHasToBeAllowed) {
  const auto answer = [&](HttpHeaders headers) {
    headers.add("Impersonate-User", "ann");
    return as("bob-token", "GET", kMaps, std::move(headers));
  };
  EXPECT_EQ(answer({{"Impersonate-Group", "dev"}}).status, 200);
  const Answer masters =
      answer({{"Impersonate-Group", "dev"}, {"Impersonate-Group", "system:masters"}});
  EXPECT_EQ(masters.status, 403);
  EXPECT_EQ(masters.asStatus().message,
            "groups \"system:masters\" is forbidden: User \"bob\" cannot impersonate resource "
            "\"groups\" in API group \"\" at the cluster scope");
  EXPECT_EQ(answer({{"Impersonate-Group", "dev"}, {"Impersonate-Uid", "7"}}).asStatus().message,
            "uids.authentication.k8s.io \"7\" is forbidden: User \"bob\" cannot impersonate "
            "resource \"uids\" in API group \"authentication.k8s.io\" at the cluster scope");
  EXPECT_EQ(
      answer({{"Impersonate-Group", "dev"}, {"Impersonate-Extra-Color", "red"}}).asStatus().message,
      "userextras.authentication.k8s.io \"red\" is forbidden: User \"bob\" cannot "
      "impersonate resource \"userextras/color\" in API group \"authentication.k8s.io\" at "
      "the cluster scope");
  EXPECT_EQ(answer({{"Impersonate-Group", "dev"}, {"Impersonate-Extra-Example.com%2fScope", "all"}})
                .status,
            200);
  EXPECT_EQ(as("bob-token", "GET", kMaps, {{"Impersonate-Group", "dev"}}).status, 500)
      << "whose groups?";
}

TEST_F(ApiServerAccessTest, AServiceAccountIsImpersonatedAsOne) {
  const auto me = [&](std::string user) {
    return as("bob-token", "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
              {{"Impersonate-User", std::move(user)}}, "{}");
  };
  const Answer robot = me("system:serviceaccount:default:robot");
  EXPECT_EQ(robot.status, 201);
  EXPECT_THAT(robot.body, HasSubstr("system:serviceaccounts:default"));
  const Answer other = me("system:serviceaccount:kube-system:robot");
  EXPECT_EQ(other.asStatus().message,
            "serviceaccounts \"robot\" is forbidden: User \"bob\" cannot impersonate resource "
            "\"serviceaccounts\" in API group \"\" in the namespace \"kube-system\"");
}

TEST_F(ApiServerAccessTest, NobodySendsALongBodyForWhatHeMayNot) {
  const std::string body =
      "{\"metadata\":{\"name\":\"a\"},\"data\":{\"k\":\"" + std::string(200'000, 'x') + "\"}}";
  EXPECT_EQ(as("wrong", "POST", kMaps, {}, body).asStatus().reason, "Unauthorized");
  const Answer refused = as("ann-token", "POST", kMaps, {}, body);
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(refused.asStatus().message.str(), HasSubstr("User \"ann\" cannot create"));
  EXPECT_EQ(as("root-token", "POST", kMaps, {}, body).status, 201);
  EXPECT_EQ(server.stats().requests, 1u) << "of those that were read";
}

TEST_F(ApiServerAccessTest, TokensCannotBeGuessed) {
  EXPECT_EQ(server.adminToken().size(), 64u) << "256 bits";
  EXPECT_NE(server.adminToken(), ApiServer().adminToken());
}

TEST_F(ApiServerAccessTest, ReviewsSayWhatIsAllowed) {
  authorizationv1::SelfSubjectAccessReview mine;
  mine.spec->resourceAttributes->verb = "list";
  mine.spec->resourceAttributes->resource = "configmaps";
  mine.spec->resourceAttributes->namespace_ = "default";
  const Clientset ann(server.config("ann-token"));
  EXPECT_TRUE(ann.authorizationV1().selfSubjectAccessReviews().create(mine).status.read().allowed);
  mine.spec->resourceAttributes->verb = "delete";
  EXPECT_FALSE(ann.authorizationV1().selfSubjectAccessReviews().create(mine).status.read().allowed);
  authorizationv1::SelfSubjectAccessReview path;
  path.spec->nonResourceAttributes->verb = "get";
  path.spec->nonResourceAttributes->path = "/metrics";
  EXPECT_TRUE(ann.authorizationV1().selfSubjectAccessReviews().create(path).status.read().allowed);
  authorizationv1::SelfSubjectAccessReview neither;
  const metav1::Status refused =
      refusalOf([&] { ann.authorizationV1().selfSubjectAccessReviews().create(neither); });
  EXPECT_EQ(refused.code, 422);
  EXPECT_THAT(refused.message.str(), HasSubstr("exactly one of nonResourceAttributes or "
                                               "resourceAttributes must be specified"));
  authorizationv1::SubjectAccessReview other;
  other.spec->user = "bob";
  other.spec->resourceAttributes->verb = "impersonate";
  other.spec->resourceAttributes->resource = "users";
  EXPECT_TRUE(clients.authorizationV1().subjectAccessReviews().create(other).status.read().allowed);
  other.spec->user = "ann";
  EXPECT_FALSE(
      clients.authorizationV1().subjectAccessReviews().create(other).status.read().allowed);
  other.spec->groups = {"system:masters"};
  EXPECT_TRUE(clients.authorizationV1().subjectAccessReviews().create(other).status.read().allowed);
  EXPECT_EQ(as("ann-token", "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {}, "{}")
                .status,
            403)
      << "not everyone may ask about others";
}

TEST_F(ApiServerAccessTest, TokensAreReviewed) {
  authenticationv1::TokenReview review;
  review.spec->token = "ann-token";
  const auto known = clients.authenticationV1().tokenReviews().create(review);
  EXPECT_TRUE(known.status->authenticated);
  EXPECT_EQ(known.status->user->username, "ann");
  review.spec->token = "none";
  EXPECT_FALSE(
      clients.authenticationV1().tokenReviews().create(review).status.read().authenticated);
}

TEST_F(ApiServerAccessTest, AServiceAccountGetsATokenOfItsOwn) {
  corev1::ServiceAccount account;
  account.metadata.name = "robot";
  const auto accounts = clients.coreV1().serviceAccounts("default");
  accounts.create(account);
  authenticationv1::TokenRequest wanted;
  wanted.spec->expirationSeconds = 1200;
  const auto made = accounts.createToken("robot", wanted);
  ASSERT_FALSE(made.status->token.empty());
  EXPECT_GT(made.status->expirationTimestamp, Time::now());
  const Clientset robot(server.config(made.status->token.view()));
  const auto me = robot.authenticationV1().selfSubjectReviews().create({});
  EXPECT_EQ(me.status->userInfo->username, "system:serviceaccount:default:robot");
  EXPECT_THAT(me.status->userInfo->groups, Contains("system:serviceaccounts:default"));
  wanted.spec->expirationSeconds = 5;
  const metav1::Status refused = refusalOf([&] { accounts.createToken("robot", wanted); });
  EXPECT_EQ(refused.code, 422);
  EXPECT_THAT(refused.message.str(), HasSubstr("may not specify a duration less than 10 minutes"));
  wanted.spec->expirationSeconds = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(refusalOf([&] { accounts.createToken("robot", wanted); }).code, 422);
  EXPECT_EQ(refusalOf([&] { accounts.createToken("nobody", {}); }).code, 404);
}

TEST(ApiServerPlainTest, NeedsNoTls) {
  const ApiServer server({.tls = false, .token = "chosen"});
  EXPECT_THAT(server.url(), ::testing::StartsWith("http://"));
  EXPECT_EQ(server.adminToken(), "chosen");
  EXPECT_EQ(Clientset(server.config()).coreV1().namespaces().list().items.size(), 4u);
  EXPECT_THROW(Clientset(server.config("chosen")), ConfigError) << "a token without TLS";
  const auto me = Clientset(server.config()).authenticationV1().selfSubjectReviews().create({});
  EXPECT_EQ(me.status->userInfo->username, "system:unsecured");
}

TEST(ApiServerPlainTest, StaysAtHomeUnlessToldOtherwise) {
  for (const char* address : {"0.0.0.0", "::"}) {
    EXPECT_THROW(ApiServer({.address = address, .tls = false}), ConfigError) << address;
    const ApiServer open({.address = address, .tls = false, .allowAnonymousAdmin = true});
    const ApiServer secure({.address = address});
  }
  const ApiServer other({.address = "127.0.0.2", .tls = false});
}

// --- The rules themselves.

TEST(AccessRulesTest, AnEmptyListOrAStarFitsEverything) {
  const Access access({.allow = {{.users = {"ann"}},
                                 {.users = {"*"}, .verbs = {"get"}, .resources = {"*"}},
                                 {.groups = {"dev"}, .resources = {"pods/log"}}}});
  const User ann{.name = "ann", .groups = {}}, bob{.name = "bob", .groups = {}},
      dev{.name = "carl", .groups = {"dev"}};
  const AccessQuestion remove{.verb = "delete", .resource = "pods"};
  EXPECT_TRUE(access.allows(ann, remove));
  EXPECT_FALSE(access.allows(bob, remove));
  EXPECT_TRUE(access.allows(bob, {.verb = "get", .resource = "pods"}));
  EXPECT_TRUE(access.allows(bob, {.verb = "get", .group = "apps", .resource = "deployments"}));
  EXPECT_TRUE(access.allows(dev, {.verb = "create", .resource = "pods", .subresource = "log"}));
  EXPECT_FALSE(access.allows(dev, {.verb = "create", .resource = "pods"}));
  EXPECT_FALSE(access.allows(ann, {.verb = "get", .path = "/metrics"}))
      << "rules about resources say nothing of other paths";
}

TEST(AccessRulesTest, GroupsOfTheApiAndNamespacesNarrowThem) {
  const Access access({.allow = {{.apiGroups = {"apps"}, .namespaces = {"book"}}}});
  EXPECT_TRUE(access.allows({}, {.group = "apps", .resource = "x", .namespace_ = "book"}));
  EXPECT_FALSE(access.allows({}, {.group = "", .resource = "x", .namespace_ = "book"}));
  EXPECT_FALSE(access.allows({}, {.group = "apps", .resource = "x", .namespace_ = "other"}));
  EXPECT_FALSE(access.allows({}, {.group = "apps", .resource = "x"}));
}

}  // namespace
}  // namespace kube::apiserver
