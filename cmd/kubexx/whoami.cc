// kubexx whoami: shows the user that the server sees.
#include <fmt/core.h>

#include <memory>
#include <ostream>

#include "cmd/kubexx/command.h"
#include "cmd/kubexx/commands.h"
#include "cmd/kubexx/invocation.h"
#include "cmd/kubexx/object_printer.h"
#include "cmd/kubexx/table_layout.h"
#include "cmd/kubexx/terminal_text.h"
#include "kube/codec/json.h"
#include "kube/rest/rest_client.h"

namespace kube::cmd {

namespace {

void whoAmI(Invocation& invocation, const std::string& output) {
  const auto printer = ObjectPrinter::of(output);
  const Value review =
      parseJson(invocation.rest()
                    .post()
                    .absPath("/apis/authentication.k8s.io/v1/selfsubjectreviews")
                    .accept("application/json")
                    .body(R"({"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"})",
                          "application/json")
                    .raw());
  if (printer != nullptr) {
    printer->print(review, invocation.out);
    return;
  }
  const Value& user = review["status"]["userInfo"];
  TableLayout layout(invocation.colours());
  layout.row({{"ATTRIBUTE", Style::Header}, {"VALUE", Style::Header}});
  const auto add = [&](const std::string& name, const Value& value) {
    if (!value.isNull()) layout.row({{name}, {goText(value)}});
  };
  add("Username", user["username"]);
  add("UID", user["uid"]);
  add("Groups", user["groups"]);
  for (const auto& [key, values] : user["extra"].asObject()) add("Extra: " + key.str(), values);
  invocation.out << OwnText{layout.flush()};
}

}  // namespace

void addWhoAmI(CLI::App& app, Invocation& invocation) {
  const auto output = std::make_shared<std::string>();
  Command(app, "whoami", "Show your user, as the server sees it")
      .option("-o,--output", *output, "yaml, json, jsonpath=...")
      .run([&invocation, output] { whoAmI(invocation, *output); });
}

}  // namespace kube::cmd
