// Reads definitions from arbitrary text: they are refused, or code is generated in bounded time and
// space, with and without a server's checks. Reads OpenAPI documents from the same text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "codegen/crd.h"
#include "codegen/generate.h"
#include "kube/base/error.h"
#include "kube/codec/yaml.h"

namespace crd_fuzz {

using namespace kube;
using namespace kube::codegen;

const Schema& library() {
  static const Schema* const schema = [] {
    auto* all = new Schema();
    Package& meta = (*all)["meta/v1"];
    meta.name = "meta/v1";
    for (const char* name : {"ObjectMeta", "ListMeta", "Condition", "LabelSelector"}) {
      meta.types.push_back({.name = name, .fields = {}});
    }
    Package& scale = (*all)["autoscaling/v1"];
    scale.name = "autoscaling/v1";
    scale.group = "autoscaling";
    scale.version = "v1";
    scale.types.push_back({.name = "Scale", .fields = {}});
    return all;
  }();
  return *schema;
}

// Checks that the input cannot inject code: outside of literals and comments, only identifiers come
// from the input.
void check(const std::vector<GeneratedFile>& files) {
  for (const GeneratedFile& file : files) {
    if (file.path.find("..") != std::string::npos || file.path.front() == '/') std::abort();
    bool text = false;
    bool comment = false;
    for (std::size_t i = 0; i < file.content.size(); ++i) {
      const char c = file.content[i];
      if (comment) {
        if (c == '\n' && file.content[i - 1] == '\\') std::abort();
        comment = c != '\n';
      } else if (text) {
        if (c == '\n') std::abort();
        if (c == '\\') ++i;
        if (c == '"') text = false;
      } else if (c == '"') {
        text = true;
      } else if (c == '/' && file.content.compare(i, 2, "//") == 0) {
        comment = true;
      } else if (static_cast<unsigned char>(c) >= 0x80) {
        std::abort();
      }
    }
  }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 65'536) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  try {
    CrdReader definitions(library(), {.outer = "fuzz"});
    CrdReader documents(library(), {.annotations = false});
    bool any = false;
    for (const YamlDocument& each : splitYaml(input, {.expandLists = true})) {
      const Value value = each.value();
      if (value["components"].isObject()) {
        documents.addDocument(value, value["resources"], "fuzz");
      } else {
        definitions.addDefinition(value, "fuzz");
      }
      any = true;
    }
    if (!any) return 0;
    check(generateCustom(library(), definitions.finish()));
    check(generateCustom(library(), documents.finish()));
  } catch (const Error&) {
  }
  return 0;
}

}  // namespace crd_fuzz
