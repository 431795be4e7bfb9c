// Malformed requests: the API server answers as kube-apiserver does.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kube/testing/api_request.h"
#include "kube/testing/api_server_testing.h"

namespace kube::apiserver {
namespace {

using namespace kube::testing;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ApiServerBadInputTest : public ApiServerTest {
 protected:
  /// "404 NotFound message"
  static std::string text(const Answer& answer) {
    const metav1::Status status = answer.asStatus();
    EXPECT_EQ(status.status, "Failure");
    EXPECT_EQ(status.code, answer.status);
    return std::to_string(answer.status) + " " + status.reason.str() + " " + status.message.str();
  }
  std::string post(std::string body, std::string_view type = "application/json") const {
    return text(call("POST", kMaps, std::move(body), {{"Content-Type", std::string(type)}}));
  }
  std::string get(std::string_view target) const { return text(call("GET", target)); }
  const std::string path{kMaps};
};

TEST_F(ApiServerBadInputTest, BodiesThatAreNone) {
  for (const char* body : {"{\"a\":", "[]", "5", "\"text\"", "null", "{", "\xff\xfe", "{} {}"}) {
    EXPECT_THAT(post(body), StartsWith("400 BadRequest ")) << body;
  }
  EXPECT_THAT(text(call("POST", kMaps, "", {{"Content-Type", "application/json"}})),
              StartsWith("400 BadRequest "));
  EXPECT_THAT(post("a: [", "application/yaml"), StartsWith("400 BadRequest "));
  EXPECT_THAT(post("k8s\0\x0a\xff", kProtobufType), StartsWith("400 BadRequest "));
  EXPECT_THAT(post("{}", kProtobufType), StartsWith("400 BadRequest "));
  EXPECT_THAT(post(std::string(100'000, '[')), StartsWith("400 BadRequest "));
}

TEST_F(ApiServerBadInputTest, BodiesOfAnotherKind) {
  EXPECT_THAT(
      post(R"({"apiVersion":"v1","kind":"Foo","metadata":{"name":"x"}})"),
      StartsWith("400 BadRequest Foo in version \"v1\" cannot be handled as a ConfigMap: "));
  EXPECT_EQ(post(R"({"apiVersion":"apps/v1","kind":"ConfigMap","metadata":{"name":"x"}})"),
            "400 BadRequest the API version in the data (apps/v1) does not match the expected API "
            "version (v1)");
  EXPECT_THAT(post(R"({"apiVersion":"a/b/c","kind":"ConfigMap"})"), StartsWith("400 BadRequest "));
  EXPECT_THAT(post(toProtobuf(pod("x")), kProtobufType), StartsWith("400 BadRequest "));
  EXPECT_THAT(post(R"({"metadata":{"name":"x"},"data":5})"),
              StartsWith("400 BadRequest ConfigMap in version \"v1\" cannot be handled as a "
                         "ConfigMap: "));
}

TEST_F(ApiServerBadInputTest, NamesAndNamespacesThatDoNotFit) {
  EXPECT_EQ(post(R"({"metadata":{"name":"x","namespace":"other"}})"),
            "400 BadRequest the namespace of the provided object does not match the namespace sent "
            "on the request");
  EXPECT_THAT(post(R"({"metadata":{"name":"A_b"}})"),
              StartsWith("422 Invalid ConfigMap \"A_b\" is invalid: metadata.name: Invalid value: "
                         "\"A_b\": a lowercase RFC 1123 subdomain must consist of"));
  EXPECT_EQ(
      text(call("POST", "/api/v1/namespaces", R"({"metadata":{"name":"a","namespace":"b"}})")),
      "400 BadRequest namespace is not allowed on this type");
  maps().create(map("a"));
  EXPECT_EQ(text(call("PUT", path + "/a", toJson(map("b")))),
            "400 BadRequest the name of the object (b) does not match the name on the URL (a)");
  EXPECT_EQ(text(call("PUT", path + "/a", "{}")),
            "400 BadRequest the name of the object (a based on URL) was undeterminable: name must "
            "be provided");
  EXPECT_EQ(text(call("PUT", path + "/a", R"({"metadata":{"name":"a","namespace":"x"}})")),
            "400 BadRequest the namespace of the object (x) does not match the namespace on the "
            "request (default)");
  EXPECT_EQ(text(call("PUT", path + "/none", toJson(map("none")))),
            "404 NotFound configmaps \"none\" not found");
  EXPECT_EQ(text(call("PUT", path + "/a", R"({"metadata":{"name":"a","resourceVersion":"x"}})")),
            "500  strconv.ParseUint: parsing \"x\": invalid syntax");
}

TEST_F(ApiServerBadInputTest, ObjectsThatAreNotComplete) {
  const metav1::Status status = refusalOf([&] {
    corev1::Pod empty;
    empty.metadata.name = "empty";
    clients.coreV1().pods("default").create(empty);
  });
  EXPECT_EQ(status.code, 422);
  EXPECT_EQ(status.message, "Pod \"empty\" is invalid: spec.containers: Required value");
  EXPECT_EQ(status.details->causes[0].reason, "FieldValueRequired");
  EXPECT_EQ(status.details->kind, "Pod");
}

TEST_F(ApiServerBadInputTest, FieldsThatMayNotChange) {
  const auto pods = clients.coreV1().pods("default");
  corev1::Pod made = pods.create(pod("web"));
  made.spec->hostname = "other";
  const metav1::Status status = refusalOf([&] { pods.update(made); });
  EXPECT_EQ(status.code, 422);
  EXPECT_THAT(status.message.str(), StartsWith("Pod \"web\" is invalid: spec: Forbidden: pod "
                                               "updates may not "));
}

TEST_F(ApiServerBadInputTest, BodiesThatAreTooLarge) {
  const Answer large = call("POST", kMaps, std::string((3 << 20) + 1, ' '));
  EXPECT_EQ(text(large), "413 RequestEntityTooLarge Request entity too large: limit is 3145728");
  EXPECT_EQ(text(patch(path + "/a", kMerge, std::string((3 << 20) + 1, ' '))),
            "413 RequestEntityTooLarge Request entity too large: limit is 3145728");
  try {
    EXPECT_EQ(call("POST", kMaps, std::string(20 << 20, ' ')).status, 413);
  } catch (const TransportError&) {
    // The server answers before it has read all of it.
  }
  maps().create(map("still-there"));
}

TEST_F(ApiServerBadInputTest, FormsThatThereAreNot) {
  EXPECT_EQ(post("a=b", "application/x-www-form-urlencoded"),
            "415 UnsupportedMediaType the body of the request was in an unknown format - accepted "
            "media types include: application/json, application/yaml, "
            "application/vnd.kubernetes.protobuf");
  EXPECT_THAT(text(patch(path + "/a", "application/json", "{}")),
              StartsWith("415 UnsupportedMediaType "));
  const auto accept = [&](std::string type) {
    return text(call("GET", kMaps, {}, {{"Accept", std::move(type)}}));
  };
  const std::string refused =
      "406 NotAcceptable only the following media types are accepted: application/json, "
      "application/yaml, application/vnd.kubernetes.protobuf";
  EXPECT_EQ(accept("image/png"), refused);
  EXPECT_EQ(accept("application/json;as=Foo;v=v1;g=meta.k8s.io"), refused);
  EXPECT_EQ(accept("application/json;as=Table;v=v9;g=meta.k8s.io"), refused);
  EXPECT_EQ(accept("application/json;as=Table;v=v1;g=example.com"), refused);
  for (const char* fine :
       {"", "*/*", "application/*;q=0.1", "image/png,application/json;q=x",
        "application/json;as=Foo;v=v1;g=meta.k8s.io, application/json", ";;,,"}) {
    EXPECT_EQ(call("GET", kMaps, {}, {{"Accept", fine}}).status, 200) << fine;
  }
}

TEST_F(ApiServerBadInputTest, Selectors) {
  EXPECT_THAT(get(path + "?labelSelector=a=b=c"), StartsWith("400 BadRequest "));
  EXPECT_THAT(get(path + "?labelSelector=!!"), StartsWith("400 BadRequest "));
  EXPECT_THAT(get(path + "?labelSelector=a+in+("), StartsWith("400 BadRequest "));
  EXPECT_EQ(get(path + "?fieldSelector=abc"),
            "400 BadRequest can't understand 'abc': expected a field, =, == or != and a value");
  EXPECT_EQ(get(path + "?fieldSelector=spec.foo%3Dx"),
            "400 BadRequest Unable to find \"/v1, Resource=configmaps\" that match label selector "
            "\"\", field selector \"spec.foo=x\": \"spec.foo\" is not a known field selector: only "
            "\"metadata.name\", \"metadata.namespace\"");
}

TEST_F(ApiServerBadInputTest, TokensAndNumbersInQueries) {
  EXPECT_THAT(get(path + "?continue=abc"),
              StartsWith("400 BadRequest invalid continue token: continue key is not valid: "));
  for (const char* token :
       {"%25%25", "e30", "bnVsbA==", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTF9"}) {
    EXPECT_EQ(call("GET", path + "?continue=" + token).status, 400) << token;
  }
  EXPECT_THAT(get(path + "?limit=abc"),
              StartsWith("400 BadRequest strconv.ParseInt: parsing \"abc\": invalid syntax"));
  EXPECT_THAT(get(path + "?limit=99999999999999999999"), StartsWith("400 BadRequest "));
  EXPECT_EQ(call("GET", path + "?limit=-1").status, 200);
  EXPECT_EQ(get(path + "?resourceVersion=abc"),
            "500  resourceVersion: Invalid value: \"abc\": strconv.ParseUint: parsing \"abc\": "
            "invalid syntax");
  EXPECT_EQ(get(path + "?resourceVersion=-1").substr(0, 4), "500 ");
  EXPECT_EQ(get(path + "?resourceVersionMatch=Exact"),
            "422 Invalid ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
            "resourceVersionMatch is forbidden unless resourceVersion is provided");
  EXPECT_EQ(
      get(path + "?resourceVersionMatch=Foo&resourceVersion=1"),
      "422 Invalid ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Unsupported "
      "value: \"Foo\": supported values: \"Exact\", \"NotOlderThan\", \"\"");
  EXPECT_EQ(get(path + "?resourceVersionMatch=Exact&resourceVersion=0"),
            "422 Invalid ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
            "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
  EXPECT_THAT(text(call("POST", path + "?fieldManager=" + std::string(200, 'x'), toJson(map("a")))),
              StartsWith("422 Invalid CreateOptions.meta.k8s.io \"\" is invalid: fieldManager: "
                         "Too long"));
  std::string absurd = path + "?";
  for (int i = 0; i < 2000; ++i) absurd += "a" + std::to_string(i) + "=b&";
  EXPECT_EQ(call("GET", absurd).status, 200);
  EXPECT_EQ(call("GET", path + "?=&&&==%3D&limit").status, 400) << "limit is no number";
}

TEST_F(ApiServerBadInputTest, MethodsThatThereAreNot) {
  maps().create(map("a"));
  const std::string refused =
      "405 MethodNotAllowed the server does not allow this method on the requested resource";
  EXPECT_EQ(text(call("PUT", kMaps, toJson(map("a")))), refused);
  EXPECT_EQ(text(call("POST", path + "/a", toJson(map("a")))), refused);
  EXPECT_EQ(text(patch(path, kMerge, "{}")), refused);
  EXPECT_EQ(text(call("OPTIONS", kMaps)), refused);
  EXPECT_EQ(text(call("POST", "/api/v1/configmaps", toJson(map("a")))), refused);
  EXPECT_EQ(text(call("DELETE", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews")),
            refused);
  EXPECT_EQ(text(call("POST", "/api/v1/namespaces/default/pods/a/status", "{}")), refused);
  EXPECT_EQ(call("HEAD", path + "/a").status, 405);
}

TEST_F(ApiServerBadInputTest, PathsThatLeadNowhere) {
  const std::string refused = "404 NotFound the server could not find the requested resource";
  for (const char* path :
       {"/foo", "/api/v2", "/api/v1/foos", "/apis/foo/v1/bars", "/apis/apps/v9/deployments",
        "/api/v1/namespaces/default/configmaps/a/foo", "/api/v1/namespaces/default/nodes",
        "/api/v1/configmaps/a", "/kubexx/none", "/api/v1/namespaces/a/b/c/d/e/f"}) {
    EXPECT_EQ(get(path), refused) << path;
  }
  EXPECT_EQ(get(path + "/none"), "404 NotFound configmaps \"none\" not found");
  EXPECT_EQ(call("GET", "//api//v1//namespaces//default//configmaps//").status, 200);
}

TEST_F(ApiServerBadInputTest, EscapesThatAreNone) {
  // Clients would not send these.
  const testing::ApiServer plain({.tls = false});
  for (const char* target : {"/api/v1/%zz", "/api/v1/pods?a=%", "/api/v1/pods?%4=b", "/%"}) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(plain.port());
    ASSERT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    const std::string text = "GET " + std::string(target) +
                             " HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer " +
                             plain.adminToken() + "\r\n\r\n";
    ASSERT_EQ(send(fd, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
    std::string heard(4096, '\0');
    heard.resize(static_cast<std::size_t>(std::max<ssize_t>(recv(fd, heard.data(), 4096, 0), 0)));
    close(fd);
    EXPECT_THAT(heard, StartsWith("HTTP/1.1 400 ")) << target;
    EXPECT_THAT(heard, HasSubstr("invalid URL escape")) << target;
  }
  EXPECT_EQ(call("GET", "/api/v1/namespaces/default/configmaps/%00%ff").status, 404);
}

// --- How requests are parsed.

testing::ApiRequest parsed(std::string method, std::string target, HttpHeaders headers = {}) {
  return testing::ApiRequest::parse({.method = std::move(method),
                                     .target = std::move(target),
                                     .headers = std::move(headers),
                                     .body = {},
                                     .peer = {}});
}
std::string placed(std::string method, std::string target) {
  const testing::ApiRequest request = parsed(std::move(method), std::move(target));
  std::string text = request.verb;
  if (!request.isResource()) return text + " " + request.path;
  text += " " + request.resource.group.str() + "/" + request.resource.version.str() + "/" +
          request.resource.resource.str() + " " + request.namespace_.str() + " " +
          request.name.str() + " " + request.subresource.str() + request.subpath;
  return text;
}

TEST(ApiRequestsTest, ArePlaced) {
  EXPECT_EQ(placed("GET", "/api/v1/pods"), "list /v1/pods   ");
  EXPECT_EQ(placed("GET", "/api/v1/namespaces/book/pods?watch=true"), "watch /v1/pods book  ");
  EXPECT_EQ(placed("GET", "/api/v1/namespaces/book/pods?watch=0"), "list /v1/pods book  ");
  EXPECT_EQ(placed("GET", "/api/v1/namespaces/book/pods/a"), "get /v1/pods book a ");
  EXPECT_EQ(placed("DELETE", "/apis/apps/v1/namespaces/book/deployments"),
            "deletecollection apps/v1/deployments book  ");
  EXPECT_EQ(placed("PUT", "/apis/apps/v1/namespaces/book/deployments/a/scale"),
            "update apps/v1/deployments book a scale");
  EXPECT_EQ(placed("GET", "/api/v1/namespaces"), "list /v1/namespaces   ");
  EXPECT_EQ(placed("GET", "/api/v1/namespaces/book"), "get /v1/namespaces book book ");
  EXPECT_EQ(placed("PUT", "/api/v1/namespaces/book/finalize"),
            "update /v1/namespaces book book finalize");
  EXPECT_EQ(placed("GET", "/api/v1/namespaces/b/services/s/proxy/a/b"),
            "get /v1/services b s proxy/a/b");
  EXPECT_EQ(placed("GET", "/api/v1/watch/pods"), "watch /v1/pods   ");
  EXPECT_EQ(placed("GET", "/api/v1"), "get /api/v1");
  EXPECT_EQ(placed("GET", "/apis/apps"), "get /apis/apps");
  EXPECT_EQ(placed("POST", "/"), "post /");
  EXPECT_EQ(placed("GET", "/api/v1/namespaces/b%2Fk/pods"), "get /v1/k b pods ");
}

TEST(ApiRequestsTest, ReadTheirParameters) {
  const testing::ApiRequest request =
      parsed("GET", "/api/v1/pods?labelSelector=a+b%3Dc&limit=5&watch&labelSelector=second&x");
  const auto options = request.options<metav1::ListOptions>();
  EXPECT_EQ(options.labelSelector, "a b=c");
  EXPECT_EQ(options.limit, 5);
  EXPECT_TRUE(options.watch);
  EXPECT_EQ(request.param("x"), "");
  EXPECT_EQ(request.param("none"), std::nullopt);
  EXPECT_THROW(parsed("GET", "/api/v1/pods?limit=5x").options<metav1::ListOptions>(), ApiError);
  EXPECT_THAT(
      parsed("POST", "/api/v1/pods?dryRun=All&dryRun=Some").options<metav1::CreateOptions>().dryRun,
      ElementsAre("All", "Some"));
}

TEST(ApiRequestsTest, ChooseTheFormOfTheAnswer) {
  const auto form = [](std::string accept, testing::OfferedForms offered) {
    return parsed("GET", "/", {{"Accept", std::move(accept)}}).form(offered);
  };
  const testing::OfferedForms all{.tables = true, .metadata = true};
  EXPECT_EQ(form("", all).format, Format::Json);
  EXPECT_EQ(form("application/yaml", all).format, Format::Yaml);
  EXPECT_EQ(form("application/json;q=0.5,application/yaml;q=0.9", all).format, Format::Yaml);
  EXPECT_EQ(form(std::string(kProtobufType) + ",application/json", {.protobuf = false}).format,
            Format::Json);
  EXPECT_EQ(form("application/yaml,application/json", {.stream = true}).format, Format::Json);
  EXPECT_EQ(form("application/json;as=Table;v=v1;g=meta.k8s.io", all).as,
            testing::ResponseForm::As::Table);
  EXPECT_EQ(form("application/json;as=Table;v=v1;g=meta.k8s.io", {}).as,
            testing::ResponseForm::As::Object);
  EXPECT_TRUE(form("application/json;pretty=1", all).pretty);
}

}  // namespace
}  // namespace kube::apiserver
