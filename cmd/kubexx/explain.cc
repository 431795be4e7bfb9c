// kubexx explain: describes a kind and its fields, from the server's OpenAPI v3.
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <ostream>

#include "cmd/kubexx/command.h"
#include "cmd/kubexx/commands.h"
#include "cmd/kubexx/invocation.h"
#include "cmd/kubexx/resources.h"
#include "kube/client/api_discovery/discovery_client.h"
#include "kube/codec/json.h"
#include "kube/rest/rest_client.h"

namespace kube::cmd {

namespace {

constexpr std::size_t kWidth = 76;

struct ExplainCommand {
  std::vector<std::string> words = {};
  std::string apiVersion = {};
  bool recursive = false;
};

// Wraps the text into lines of at most kWidth characters, indented by four spaces.
std::string wrapped(std::string_view text) {
  std::string out;
  while (true) {
    const std::size_t newline = text.find('\n');
    std::string_view paragraph = text.substr(0, newline);
    std::string line;
    while (!paragraph.empty()) {
      const std::size_t space = paragraph.find(' ');
      const std::string_view word = paragraph.substr(0, space);
      if (!line.empty() && line.size() + 1 + word.size() > kWidth) {
        out += "    " + line + "\n";
        line.clear();
      }
      if (!line.empty()) line += ' ';
      line += word;
      paragraph.remove_prefix(space == std::string_view::npos ? paragraph.size() : space + 1);
    }
    out += "    " + line + "\n";
    if (newline == std::string_view::npos) return out;
    text.remove_prefix(newline + 1);
  }
}

class Explainer {
 public:
  Explainer(Value document, bool recursive, std::ostream& out)
      : document_(std::move(document)), recursive_(recursive), out_(out) {}

  void run(const GroupVersionKind& gvk, const std::vector<std::string>& path) {
    if (!gvk.group.empty()) out_ << fmt::format("GROUP:      {}\n", gvk.group);
    out_ << fmt::format("KIND:       {}\nVERSION:    {}\n", gvk.kind, gvk.version);
    const Value* schema = schemaOf(gvk);
    if (schema == nullptr) {
      throw UsageError(
          fmt::format("the server's OpenAPI document of {} does not describe the kind {}",
                      gvk.groupVersion().str(), gvk.kind));
    }
    const Value* field = schema;
    for (const std::string& name : path) {
      const Value& properties = resolved(*field)["properties"];
      field = &properties[name];
      if (field->isNull()) {
        throw UsageError(fmt::format("field \"{}\" does not exist", name));
      }
    }
    out_ << '\n';
    if (!path.empty()) {
      out_ << fmt::format("FIELD: {} <{}>\n", path.back(), typeOf(*field));
      const Value::Array& values = resolved(*field)["enum"].asArray();
      if (!values.empty()) out_ << "ENUM:\n";
      for (const Value& value : values) out_ << "    " << value.asString() << '\n';
      out_ << (values.empty() ? "\n\n" : "\n");
    }
    describe(*field);
    if (const Value& properties = resolved(*field)["properties"]; properties.isObject()) {
      out_ << "FIELDS:\n";
      fields(resolved(*field), 1, {});
    }
    out_ << '\n';
  }

 private:
  const Value* schemaOf(const GroupVersionKind& gvk) const {
    for (const auto& [name, schema] : document_["components"]["schemas"].asObject()) {
      for (const Value& kind : schema["x-kubernetes-group-version-kind"].asArray()) {
        if (kind["group"].asString() == gvk.group && kind["version"].asString() == gvk.version &&
            kind["kind"].asString() == gvk.kind) {
          return &schema;
        }
      }
    }
    return nullptr;
  }

  // The schema that a reference leads to, or the schema itself if it is not a reference.
  const Value& referred(const Value& schema) const {
    const String& ref = refOf(schema);
    if (ref.empty()) return schema;
    return document_["components"]["schemas"][nameOf(ref)];
  }

  static const String& refOf(const Value& schema) {
    if (schema["allOf"].asArray().size() == 1) return schema["allOf"][0]["$ref"].asString();
    return schema["$ref"].asString();
  }
  static std::string_view nameOf(std::string_view ref) { return ref.substr(ref.rfind('/') + 1); }

  // The schema that has the fields: for a list or a map, that of its elements.
  const Value& resolved(const Value& schema) const {
    const Value& here = referred(schema);
    if (here["items"].isObject()) return resolved(here["items"]);
    if (here["additionalProperties"].isObject()) return resolved(here["additionalProperties"]);
    return here;
  }

  std::string typeOf(const Value& schema) const {
    if (schema["items"].isObject()) return "[]" + typeOf(schema["items"]);
    if (schema["additionalProperties"].isObject()) {
      return "map[string]" + typeOf(schema["additionalProperties"]);
    }
    const Value& here = referred(schema);
    const String& type = here["type"].asString();
    if (const String& ref = refOf(schema); !ref.empty() && (type.empty() || type == "object")) {
      const std::string_view name = nameOf(ref);
      return std::string(name.substr(name.rfind('.') + 1));
    }
    return type.empty() || type == "object" ? "Object" : type.str();
  }

  void describe(const Value& schema) {
    std::string text;
    const auto add = [&](const Value& of) {
      const String& description = of["description"].asString();
      if (description.empty()) return;
      text += (text.empty() ? "" : "\n") + description.str();
    };
    add(schema);
    if (&resolved(schema) != &schema) add(resolved(schema));
    out_ << "DESCRIPTION:\n" << (text.empty() ? "    <empty>\n" : wrapped(text) + "    \n");
  }

  void fields(const Value& schema, std::size_t depth, std::vector<const Value*> above) {
    // A schema may contain itself, as JSONSchemaProps does.
    if (std::ranges::find(above, &schema) != above.end()) return;
    above.push_back(&schema);
    const Value::Array& required = schema["required"].asArray();
    for (const auto& [name, field] : schema["properties"].asObject()) {
      const bool must = std::ranges::any_of(
          required, [&name = name](const Value& one) { return one.asString() == name; });
      out_ << fmt::format("{}{}\t<{}>{}\n", std::string(2 * depth, ' '), name, typeOf(field),
                          must ? " -required-" : "");
      enumLine(resolved(field), depth);
      if (recursive_) {
        fields(resolved(field), depth + 1, above);
        continue;
      }
      const String& own = field["description"].asString();
      const String& description = own.empty() ? referred(field)["description"].asString() : own;
      out_ << (description.empty() ? "    <no description>\n" : wrapped(description)) << '\n';
    }
  }

  void enumLine(const Value& schema, std::size_t depth) {
    const Value::Array& values = schema["enum"].asArray();
    if (values.empty()) return;
    std::string text;
    for (std::size_t i = 0; i < values.size() && i < 4; ++i) {
      text += (i > 0 ? ", " : "") + values[i].asString().str();
    }
    if (values.size() > 4) text += ", ....";
    out_ << std::string(2 * depth, ' ') << "enum: " << text << '\n';
  }

  const Value document_;
  const bool recursive_;
  std::ostream& out_;
};

void explain(Invocation& invocation, const ExplainCommand& command) {
  if (command.words.size() != 1) {
    throw UsageError(
        "You must specify the type of resource to explain. Use \"kubexx api-resources\" for a "
        "complete list of supported resources.");
  }
  std::vector<std::string> parts;
  std::string_view rest = command.words[0];
  while (true) {
    const std::size_t dot = rest.find('.');
    parts.emplace_back(rest.substr(0, dot));
    if (dot == std::string_view::npos) break;
    rest.remove_prefix(dot + 1);
  }
  while (parts.size() > 1 && parts.back().empty()) parts.pop_back();
  const Resources& resources = invocation.resources();
  RestMapping mapping = resources.find(parts[0]);
  if (!command.apiVersion.empty()) {
    const GroupVersion wanted = GroupVersion::parse(command.apiVersion);
    mapping =
        resources.mapper().restMapping({wanted.group, mapping.gvk.kind}, {wanted.version.view()});
  }
  const std::string text = DiscoveryClient(invocation.rest()).openApiV3(mapping.gvr.groupVersion());
  Explainer(parseJson(text), command.recursive, invocation.out)
      .run(mapping.gvk, {parts.begin() + 1, parts.end()});
}

}  // namespace

void addExplain(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<ExplainCommand>();
  Command(app, "explain", "Describe a kind and its fields")
      .arguments("resource", options->words, "TYPE[.FIELD...], such as pods.spec.containers")
      .option("--api-version", options->apiVersion, "The group and version, such as apps/v1")
      .flag("--recursive", options->recursive,
            "Show the fields of all levels, without descriptions")
      .run([&invocation, options] { explain(invocation, *options); });
}

}  // namespace kube::cmd
