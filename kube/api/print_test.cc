#include "kube/codec/print.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>

#include "kube/api/apps/v1.h"
#include "kube/api/authentication/v1.h"
#include "kube/api/core/v1.h"
#include "kube/codec/json.h"
#include "kube/codec/yaml.h"
#include "kube/meta/describe.h"
#include "kube/meta/unstructured.h"

// In a namespace that no list of the library has.
namespace printed_elsewhere {
struct Site {
  kube::metav1::ObjectMeta metadata;
  kube::String domain;
};
}  // namespace printed_elsewhere
KUBE_DESCRIBE_KIND(printed_elsewhere::Site,
                   (.group = "example.com", .version = "v1", .kind = "Site"), metadata, domain);

namespace {

printed_elsewhere::Site site() {
  printed_elsewhere::Site site;
  site.domain = "example.com";
  return site;
}
constexpr const char* kSite =
    R"({"kind":"Site","apiVersion":"example.com/v1","metadata":{},"domain":"example.com"})";

// Outside of the namespace kube, as in a program.
template <class T>
std::string streamed(const T& object) {
  std::ostringstream out;
  out << object;
  return out.str();
}

kube::corev1::Secret secret() {
  kube::corev1::Secret secret;
  secret.metadata.name = "db";
  secret.metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"] =
      R"({"data":{"password":"aHVudGVyMg=="}})";
  secret.metadata.annotations["note"] = "kept";
  secret.data["password"] = "hunter2";
  secret.stringData["token"] = "sesame";
  return secret;
}

}  // namespace

TEST(PrintTest, ObjectsAreFormattedAsJsonOnOneLineOrSeveralAndAsYaml) {
  kube::corev1::Pod pod;
  pod.metadata.name = "web";
  EXPECT_EQ(fmt::format("{}", pod), kube::toJson(pod));
  EXPECT_EQ(fmt::format("{:p}", pod), kube::toJson(pod, 2));
  EXPECT_EQ(fmt::format("{:y}", pod), kube::toYaml(pod));
  EXPECT_EQ(fmt::format("{}", pod.metadata), R"({"name":"web"})");
  EXPECT_THROW((void)fmt::format(fmt::runtime("{:x}"), pod), std::runtime_error);
  EXPECT_THROW((void)fmt::format(fmt::runtime("{:yy}"), pod), std::runtime_error);
}

TEST(PrintTest, ObjectsStream) {
  kube::corev1::Pod pod;
  pod.metadata.name = "web";
  EXPECT_EQ(streamed(pod), kube::toJson(pod));
  std::ostringstream out;
  out << "pod " << pod.metadata << '\n';
  EXPECT_EQ(out.str(), "pod {\"name\":\"web\"}\n");
}

TEST(PrintTest, UserDefinedTypesPrintAsWell) {
  EXPECT_EQ(fmt::format("{}", site()), kSite);
  std::ostringstream out;
  out << site();
  EXPECT_EQ(out.str(), kSite);
}

TEST(PrintTest, DynamicObjectsPrint) {
  const kube::Value value = kube::parseJson(R"({"kind":"Site","size":[1,null]})");
  EXPECT_EQ(streamed(value), R"({"kind":"Site","size":[1,null]})");
  EXPECT_EQ(streamed(kube::Unstructured(value)), R"({"kind":"Site","size":[1,null]})");
  EXPECT_EQ(fmt::format("{:y}", value), "kind: Site\nsize:\n- 1\n- null\n");
  EXPECT_EQ(streamed(kube::AnyObject(site())), kSite);
  EXPECT_EQ(streamed(kube::Value(7)) + streamed(kube::Value("text")), R"(7"text")");
}

TEST(PrintTest, SecretsAreShownBySize) {
  const std::string text = fmt::format("{}", secret());
  EXPECT_EQ(text, R"({"apiVersion":"v1","data":{"password":"7 bytes"},"kind":"Secret",)"
                  R"("metadata":{"annotations":{"note":"kept"},"name":"db"},)"
                  R"("stringData":{"token":"6 bytes"}})");
  EXPECT_EQ(streamed(secret()), text);
  const std::string yaml = fmt::format("{:y}", secret());
  EXPECT_NE(yaml.find("password: 7 bytes"), std::string::npos) << yaml;
  EXPECT_EQ(yaml.find("aHVudGVyMg"), std::string::npos) << yaml;
  EXPECT_EQ(kube::debugText(kube::TypeOf<kube::corev1::Secret>::info, nullptr),
            std::string("null\n"));
  const kube::corev1::Secret object = secret();
  EXPECT_EQ(kube::debugText(kube::TypeOf<kube::corev1::Secret>::info, &object), yaml);
}

TEST(PrintTest, SecretsInListsAndDynamicObjectsAreHiddenToo) {
  kube::corev1::SecretList list;
  list.items.push_back(secret());
  const kube::Value dynamic = kube::parseJson(kube::toJson(secret()));
  kube::Value mixed = kube::parseJson(R"({"kind":"List","apiVersion":"v1","items":[{}]})");
  mixed["items"][0] = dynamic;
  for (const std::string& text :
       {streamed(list), streamed(dynamic), streamed(kube::Unstructured(dynamic)), streamed(mixed),
        streamed(kube::AnyObject(list)), std::string(kube::debugText(dynamic)),
        std::string(kube::debugText(kube::AnyObject(list)))}) {
    EXPECT_NE(text.find("7 bytes"), std::string::npos) << text;
    EXPECT_EQ(text.find("aHVudGVyMg"), std::string::npos) << text;
    EXPECT_EQ(text.find("sesame"), std::string::npos) << text;
  }
  EXPECT_EQ(dynamic["data"]["password"].asString(), "aHVudGVyMg==");  // unchanged
}

TEST(PrintTest, TokensAreHidden) {
  kube::authenticationv1::TokenReview review;
  review.spec->token = "sesame";
  EXPECT_EQ(streamed(review).find("sesame"), std::string::npos) << streamed(review);
  kube::authenticationv1::TokenRequest request;
  request.status->token = "sesame";
  EXPECT_EQ(streamed(request).find("sesame"), std::string::npos) << streamed(request);
  EXPECT_NE(streamed(request).find("hidden"), std::string::npos) << streamed(request);
}

TEST(PrintTest, EveryGroupOfTheApiIsListed) {
  std::ifstream file("kube/codec/print.h");
  const std::string header(std::istreambuf_iterator<char>(file), {});
  ASSERT_FALSE(header.empty());
  // registry.cc includes each group-version.
  std::ifstream registry("kube/api/registry.cc");
  std::set<std::string> groups;
  const std::regex include(R"re(#include "kube/api/([a-z]+)/(v[0-9a-z]+)\.h")re");
  for (std::string line; std::getline(registry, line);) {
    if (std::smatch match; std::regex_search(line, match, include)) {
      groups.insert(match[1].str() + match[2].str());
    }
  }
  EXPECT_GT(groups.size(), 20U);
  for (const std::string& group : groups) {
    EXPECT_NE(header.find("KUBE_DETAIL_PRINTS(" + group + ")"), std::string::npos)
        << group << " is missing in kube/codec/print.h";
  }
}
