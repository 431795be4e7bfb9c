#include "test/crds/round_trip.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "kube/api/apiextensions/v1.h"
#include "kube/base/error.h"
#include "kube/client/crd.h"
#include "kube/client/dynamic_client.h"
#include "kube/codec/json.h"
#include "kube/codec/unstructured.h"
#include "kube/codec/yaml.h"
#include "kube/meta/any_object.h"
#include "kube/testing/api_server.h"
#include "test/crds/sample.h"

namespace kube::crds {

namespace {

using Definition = apiextensionsv1::CustomResourceDefinition;

std::vector<Value> readDefinitions(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (!std::filesystem::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      files.push_back(entry.path().string());
    }
  }
  std::ranges::sort(files);
  std::vector<Value> definitions;
  for (const std::string& file : files) {
    std::ifstream in(file);
    std::stringstream content;
    content << in.rdbuf();
    for (const YamlDocument& document : splitYaml(content.str(), {.expandLists = true})) {
      definitions.push_back(document.value());
    }
  }
  return definitions;
}

// Describes the first difference between two values; empty if they are equal.
std::string difference(const Value& a, const Value& b, const std::string& path = "") {
  if (a == b) return "";
  if (a.isObject() && b.isObject()) {
    for (const auto& [key, value] : a.asObject()) {
      const std::string found = difference(value, b[key], path + "." + key.str());
      if (!found.empty()) return found;
    }
    for (const auto& [key, value] : b.asObject()) {
      if (!a.asObject().contains(key)) return difference(Value(), value, path + "." + key.str());
    }
  }
  if (a.isArray() && b.isArray() && a.asArray().size() == b.asArray().size()) {
    for (std::size_t i = 0; i < a.asArray().size(); ++i) {
      const std::string found = difference(a[i], b[i], fmt::format("{}[{}]", path, i));
      if (!found.empty()) return found;
    }
  }
  return fmt::format("{}: {} became {}", path, toJson(a).substr(0, 200), toJson(b).substr(0, 200));
}

class Trip {
 public:
  Trip(const Scheme& scheme, const std::vector<Value>& definitions) : scheme_(scheme) {
    for (const Value& definition : definitions) {
      Value plain = definition;
      plain["metadata"]["annotations"]["api-approved.kubernetes.io"] = "unapproved, for a test";
      plain["spec"].object().erase("conversion");
      for (Value& version : plain["spec"]["versions"].array()) {
        Value& schema = version["schema"]["openAPIV3Schema"];
        schema = withoutRules(schema);
      }
      plain.object().erase("status");
      options_.manifests.push_back(toJson(plain));
    }
    server_.emplace(options_);
    client_.emplace(RestClient(server_->config()));
  }

  RoundTrip run(const std::vector<Value>& definitions) {
    for (const Value& definition : definitions) {
      ++result_.definitions;
      const std::string name = definition["metadata"]["name"].asString().str();
      std::vector<const TypeInfo*> types;
      for (const Value& version : definition["spec"]["versions"].asArray()) {
        ++result_.versions;
        const std::string where = name + " " + version["name"].asString().str();
        try {
          types.push_back(&typeOf(definition, version));
          object(definition, version, *types.back(), where);
        } catch (const std::exception& error) {
          problem(where, error.what());
        }
      }
      try {
        givesBack(definition, types, name);
      } catch (const std::exception& error) {
        problem(name, error.what());
      }
    }
    return std::move(result_);
  }

 private:
  void problem(const std::string& where, const std::string& what) {
    result_.problems.push_back(where + ": " + what);
  }

  const TypeInfo& typeOf(const Value& definition, const Value& version) const {
    const GroupVersionKind gvk{definition["spec"]["group"].asString(), version["name"].asString(),
                               definition["spec"]["names"]["kind"].asString()};
    const TypeInfo* type = scheme_.typeOf(gvk);
    if (type == nullptr) throw Error("the scheme has no type for it");
    return *type;
  }

  // Decodes JSON strictly into the type, and encodes the object again.
  Value through(const TypeInfo& type, const Value& value) {
    AnyObject object(type);
    const std::string json = toJson(value);
    decodeJson(type, object.data(), json, {.strict = true});
    std::string again;
    encodeJson(type, object.data(), again);
    result_.bytes += json.size();
    return parseJson(again);
  }

  void object(const Value& definition, const Value& version, const TypeInfo& type,
              const std::string& where) {
    const Value& spec = definition["spec"];
    const bool namespaced = spec["scope"] == "Namespaced";
    Value sample = sampleOf(withoutRules(version["schema"]["openAPIV3Schema"]));
    // At the top level, a type keeps no unknown fields besides spec and status.
    if (version["schema"]["openAPIV3Schema"]["x-kubernetes-preserve-unknown-fields"].asBool()) {
      sample["spec"] = std::as_const(sample)["un known"];
      sample.object().erase("un known");
    }
    sample["apiVersion"] = spec["group"].asString().str() + "/" + version["name"].asString().str();
    sample["kind"] = spec["names"]["kind"];
    sample["metadata"] = Value::Object{{"name", "sample"}};
    if (namespaced) sample["metadata"]["namespace"] = "default";
    const Value own = through(type, sample);
    if (const std::string found = difference(sample, own); !found.empty()) {
      problem(where, "in memory: " + found);
    }
    if (!version["served"].asBool()) return;

    const GroupVersionResource gvr{spec["group"].asString(), version["name"].asString(),
                                   spec["names"]["plural"].asString()};
    const auto resource =
        client_->resource(gvr).inNamespace(namespaced ? String("default") : String());
    const Unstructured there = resource.create(Unstructured(own));
    Value stored = there.object;
    stored["metadata"].object().erase("managedFields");  // its times are kept as text
    if (const std::string found = difference(stored, through(type, stored)); !found.empty()) {
      problem(where, "from the server: " + found);
    }
    // With a status subresource, create ignores the status.
    const bool status = version["subresources"]["status"].isObject();
    for (const auto& [key, value] : own.asObject()) {
      if (key == "metadata" || (status && key == "status")) continue;
      if (const std::string found = difference(value, std::as_const(stored)[key]); !found.empty()) {
        problem(where, "on the server: " + key.str() + found);
      }
    }
    resource.remove("sample");
  }

  void givesBack(const Value& definition, const std::vector<const TypeInfo*>& types,
                 const std::string& name) {
    const auto normal = [](const Value& value) {
      auto crd = fromUnstructured<Definition>(Unstructured(value));
      crd.metadata = {};
      crd.status = {};
      crd.spec->conversion = {};
      crd.spec->preserveUnknownFields = false;
      // Defaults that a server sets.
      auto& names = crd.spec->names.write();
      std::string singular = names.kind.str();
      std::ranges::transform(singular, singular.begin(),
                             [](unsigned char c) { return std::tolower(c); });
      if (names.singular.empty()) names.singular = String(singular);
      if (names.listKind.empty()) names.listKind = String(names.kind.str() + "List");
      for (auto& version : crd.spec->versions) {
        auto& properties = version.schema->openAPIV3Schema->properties;
        for (const char* key : {"apiVersion", "kind"}) properties.write(key).type = "string";
        properties.write("metadata").type = "object";
      }
      return toUnstructured(crd).object;
    };
    const Value mine = toUnstructured(crdOf(types)).object;
    Value expected = definition;
    // crdOf() adds spec and status to kinds that keep unknown fields.
    for (Value& version : expected["spec"]["versions"].array()) {
      Value& schema = version["schema"]["openAPIV3Schema"];
      if (!std::as_const(schema)["x-kubernetes-preserve-unknown-fields"].asBool()) continue;
      for (const char* key : {"spec", "status"}) {
        if (std::as_const(schema)["properties"][key].isNull()) {
          schema["properties"][key]["x-kubernetes-preserve-unknown-fields"] = true;
        }
      }
    }
    const std::string found = difference(normal(expected), normal(mine));
    if (!found.empty()) problem(name, "its definition: " + found);
  }

  const Scheme& scheme_;
  testing::ApiServerOptions options_;
  std::optional<testing::ApiServer> server_;
  std::optional<DynamicClient> client_;
  RoundTrip result_;
};

}  // namespace

RoundTrip roundTrip(const Scheme& scheme, const std::vector<std::string>& paths) {
  const std::vector<Value> definitions = readDefinitions(paths);
  return Trip(scheme, definitions).run(definitions);
}

}  // namespace kube::crds
