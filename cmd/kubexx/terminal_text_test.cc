// Hostile texts of servers and containers on a terminal.
#include "cmd/kubexx/terminal_text.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <sstream>

#include "cmd/kubexx/run_testing.h"
#include "cmd/kubexx/table_layout.h"
#include "cmd/kubexx/text_diff.h"
#include "kube/base/internal/control_characters.h"
#include "kube/http/http_server.h"
#include "kube/http/internal/raw_server_testing.h"
#include "kube/rest/environment_testing.h"

namespace kube::cmd {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kLate = "\xc2\x9b";  // U+009B, which is "ESC [" in eight bits

// --- The filter.

std::string filtered(std::vector<std::string> pieces, bool colours = false) {
  ControlFilter filter(colours);
  std::string text;
  for (const std::string& piece : pieces) text += filter.feed(piece);
  return text;
}

TEST(ControlFilterTest, WritesControlCharactersAsWords) {
  EXPECT_EQ(filtered({"a\x1b]0;title\x07 ä\b\n"}), "aU+001B]0;titleU+0007 äU+0008\n");
}

TEST(ControlFilterTest, PiecesMayEndAnywhere) {
  const std::string text = "→\xc2\x9b\r\nü\r\x1b[31mx\x1b[0m";
  for (const bool colours : {false, true}) {
    const std::string whole = filtered({text}, colours);
    std::vector<std::string> bytes;
    for (const char c : text) bytes.emplace_back(1, c);
    EXPECT_EQ(filtered(bytes, colours), whole);
    for (std::size_t i = 0; i <= text.size(); ++i) {
      EXPECT_EQ(filtered({text.substr(0, i), text.substr(i)}, colours), whole) << i;
    }
  }
}

TEST(ControlFilterTest, KeepsColoursIfAsked) {
  EXPECT_EQ(filtered({"\x1b[1;31mred\x1b[m\x1b[38:5:1mx"}, true),
            "\x1b[1;31mred\x1b[m\x1b[38:5:1mx");
  EXPECT_EQ(filtered({"\x1b[2J\x1b]0;t\x07\x1b[?25l\x1b[31"}, true),
            "U+001B[2JU+001B]0;tU+0007U+001B[?25l");
  EXPECT_EQ(filtered({"\x1b[" + std::string(100, '1') + "m"}, true),
            "U+001B[" + std::string(100, '1') + "m");
  EXPECT_EQ(filtered({"\x1b[31m"}), "U+001B[31m");
}

TEST(TerminalTextTest, FiltersOnlyTerminals) {
  int person = -1, terminal = -1, pipes[2];
  ASSERT_EQ(openpty(&person, &terminal, nullptr, nullptr, nullptr), 0);
  ASSERT_EQ(pipe2(pipes, O_CLOEXEC), 0);
  const auto shown = [](int fd) {
    std::ostringstream out;
    {
      const TerminalText text(out, fd);
      out << "\x1b[2J" << OwnText{"\x1b[1m"} << 'x' << std::flush;
    }
    out << "\x1b";
    return out.str();
  };
  EXPECT_EQ(shown(terminal), "U+001B[2J\x1b[1mx\x1b");
  EXPECT_EQ(shown(pipes[1]), "\x1b[2J\x1b[1mx\x1b");
  for (const int fd : {person, terminal, pipes[0], pipes[1]}) close(fd);
}

TEST(TerminalTextTest, ReportsFailuresOfTheStream) {
  class Broken : public std::streambuf {
    std::streamsize xsputn(const char*, std::streamsize) override { return 0; }
  };
  Broken broken;
  std::ostream out(&broken);
  const TerminalText text(out);
  EXPECT_FALSE(out << "x");
  out.clear();
  EXPECT_FALSE(out << OwnText{"x"});
}

TEST(TableLayoutTest, CellsAreHarmlessAndStillAligned) {
  TableLayout layout;
  layout.row({{std::string("a\x1b[2J\b") + kLate}, {"x"}});
  layout.row({{"b"}, {"y"}});
  EXPECT_EQ(layout.flush(), "aU+001B[2JU+0008U+009B   x\nb                        y\n");
}

TEST(UnifiedDiffTest, InColoursIsHarmless) {
  const std::string diff = unifiedDiff("a\x1b[2J\nb\n", "a\x1b[2J\nc\b\n", "x\x1b", "y", true);
  EXPECT_EQ(diff,
            "--- xU+001B\n+++ y\n@@ -1,2 +1,2 @@\n aU+001B[2J\n\x1b[31m-b\x1b[0m\n"
            "\x1b[32m+cU+0008\x1b[0m\n");
}

// --- Hostile servers.

class HostileServerTest : public ::testing::Test {
 protected:
  static ServerResponse json(std::string body, int status = 200) {
    return {.status = status,
            .headers = {{"Content-Type", "application/json"}},
            .body = std::move(body)};
  }

  // Runs the program on a terminal, without its own colours.
  Ran run(std::vector<std::string> arguments, bool terminal = true) const {
    arguments.insert(arguments.end(),
                     {"--kubeconfig", folder_.write("config", "{}"), "--server", server_.url(),
                      "--cache-dir", folder_.path("cache"), "--color", "never"});
    return runKubexx(arguments, {.terminal = terminal});
  }
  // Expects output without control characters.
  void expectHarmless(const Ran& ran) const {
    for (const std::string& text : {ran.out, ran.err}) {
      EXPECT_EQ(kube::detail::findControl(text).at, std::string::npos) << text;
    }
  }

  std::function<ServerResponse(const ServerRequest&)> answer_;

 private:
  const test::TemporaryFolder folder_;
  HttpServer server_{{}, [this](const ServerRequest& request, const Responder& responder) {
                       responder.send(answer_(request));
                     }};
};

constexpr const char* kHostileTable = R"({"kind":"Table","apiVersion":"meta.k8s.io/v1",
  "columnDefinitions":[
    {"name":"NAME\u001b[2J","type":"string","format":"name","description":"","priority":0},
    {"name":"List\u009b2J","type":"array","format":"","description":"","priority":0}],
  "rows":[{"cells":["web\u001b]0;t\u0007\u009b\b",["\u001b[2J","\b"]],
    "object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{
      "name":"web","namespace":"ns\u001b[2J","labels":{"a\u009b2J":"v\u001b[2J","x":"\u001b[H"}}}}]})";

TEST_F(HostileServerTest, TablesAreHarmless) {
  answer_ = [](const ServerRequest&) { return json(kHostileTable); };
  for (const bool terminal : {true, false}) {
    const Ran ran = run({"get", "pods", "-A", "--show-labels", "-L", "x"}, terminal);
    EXPECT_EQ(ran.code, 0) << ran.err;
    expectHarmless(ran);
    EXPECT_THAT(ran.out,
                AllOf(HasSubstr("NAME^[[2J"), HasSubstr("LISTU+009B2J"), HasSubstr("ns^[[2J"),
                      HasSubstr("web^[]0;tU+0007U+009BU+0008"), HasSubstr("[^[[2J U+0008]"),
                      HasSubstr("^[[H"), HasSubstr("aU+009B2J=v^[[2J")));
  }
  expectHarmless(run({"watch", "pods", "-A", "--request-timeout", "1s"}, false));
}

TEST_F(HostileServerTest, ObjectsAreHarmlessOnTerminalsAndKeptInPipes) {
  answer_ = [](const ServerRequest&) {
    return json(R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a\u001b[2J\u009bb"}})");
  };
  const std::string bytes = std::string("a\x1b[2J") + kLate + "b";
  for (const char* form : {"name", "jsonpath={.metadata.name}", "yaml", "json"}) {
    const Ran shown = run({"get", "pod", "a", "-o", form});
    EXPECT_EQ(shown.code, 0) << shown.err;
    expectHarmless(shown);
  }
  EXPECT_EQ(run({"get", "pod", "a", "-o", "name"}).out, "pod/aU+001B[2JU+009Bb\n");
  EXPECT_EQ(run({"get", "pod", "a", "-o", "name"}, false).out, "pod/" + bytes + "\n");
  EXPECT_EQ(run({"get", "pod", "a", "-o", "jsonpath={.metadata.name}"}, false).out, bytes);
  expectHarmless(run({"get", "pod", "a", "-o", "custom-columns=A:.metadata.name"}));

  answer_ = [](const ServerRequest&) { return json("\x1b[2J"); };
  EXPECT_EQ(run({"get", "--raw", "/x"}).out, "U+001B[2J");
  EXPECT_EQ(run({"get", "--raw", "/x"}, false).out, "\x1b[2J");
}

TEST_F(HostileServerTest, ErrorsAreHarmless) {
  answer_ = [](const ServerRequest&) {
    return json(
        R"({"kind":"Status","apiVersion":"v1","status":"Failure","code":403,
            "reason":"Forbidden\u001b[2J","message":"no\u001b]0;t\u0007\u009b"})",
        403);
  };
  const Ran status = run({"get", "pods"});
  expectHarmless(status);
  EXPECT_EQ(status.err, "Error from server (ForbiddenU+001B[2J): noU+001B]0;tU+0007U+009B\n");

  answer_ = [](const ServerRequest&) {
    return ServerResponse{.status = 500, .body = "broken\x1b[2J\b\x9b"};
  };
  const Ran text = run({"get", "pods"});
  expectHarmless(text);
  EXPECT_THAT(text.err, HasSubstr("broken"));
}

TEST_F(HostileServerTest, DiscoveryIsHarmless) {
  answer_ = [](const ServerRequest& request) {
    const std::string path = request.target.substr(0, request.target.find('?'));
    if (path == "/api") return json(R"({"kind":"APIVersions","versions":["v1"]})");
    if (path == "/apis") {
      return json(R"({"kind":"APIGroupList","groups":[{"name":"x.io","versions":[
        {"groupVersion":"x.io/v1\u001b[2J","version":"v1"}]}]})");
    }
    return json(R"({"kind":"APIResourceList","groupVersion":"v1","resources":[
      {"name":"pods\u001b[2J\u009b","namespaced":true,"kind":"Pod\u001b[2J","verbs":["get"],
       "shortNames":["p\b"]}]})");
  };
  for (const std::vector<std::string>& words : {std::vector<std::string>{"api-resources"},
                                                {"api-resources", "-o", "name"},
                                                {"api-versions"}}) {
    const Ran ran = run(words);
    expectHarmless(ran);
    EXPECT_THAT(ran.out, HasSubstr("U+001B[2J")) << words[0] << ran.err;
  }
}

TEST(HostileProxyTest, IsQuotedHarmlessly) {
  RawServer proxy([](RawConnection& connection, int) {
    connection.readHead();
    connection.write("HTTP/1.1 407 no\x1b]0;t\x07\xc2\x9b\r\nContent-Length: 0\r\n\r\n");
  });
  const test::TemporaryFolder folder;
  const std::string config = folder.write(
      "config", "clusters: [{name: c, cluster: {server: 'https://10.0.0.1', proxy-url: '" +
                    proxy.url() +
                    "'}}]\ncontexts: [{name: c, context: {cluster: c}}]\ncurrent-context: c\n");
  const Ran ran = runKubexx({"get", "pods", "--kubeconfig", config}, {.terminal = true});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("407"), Not(HasSubstr("\x1b")), Not(HasSubstr(kLate))));
}

}  // namespace
}  // namespace kube::cmd
