#include "cmd/kubexx/object_printer.h"

#include <fmt/core.h>

#include <iostream>
#include <sstream>

#include "cmd/kubexx/input.h"
#include "cmd/kubexx/invocation.h"
#include "cmd/kubexx/table_layout.h"
#include "cmd/kubexx/terminal_text.h"
#include "kube/base/internal/text.h"
#include "kube/codec/go_json.h"
#include "kube/codec/json.h"
#include "kube/codec/jsonpath/json_path.h"
#include "kube/codec/yaml.h"

namespace kube::cmd {

namespace {

constexpr int kIndent = 4;

bool isList(const Value& object) { return std::as_const(object)["items"].isArray(); }

void dropManagedFields(Value& object) {
  const Value& read = object;
  if (read["metadata"]["managedFields"].isNull()) return;
  object["metadata"].object().erase("managedFields");
}

Value withoutManagedFields(Value object) {
  if (!isList(object)) {
    dropManagedFields(object);
    return object;
  }
  for (Value& item : object["items"].array()) dropManagedFields(item);
  return object;
}

class YamlPrinter final : public ObjectPrinter {
 public:
  explicit YamlPrinter(PrintOptions options) : options_(options) {}

  void print(Value object, std::ostream& out) override {
    if (printed_) out << "---\n";
    printed_ = true;
    out << toYaml(options_.showManagedFields ? object : withoutManagedFields(std::move(object)));
  }

 private:
  const PrintOptions options_;
  bool printed_ = false;
};

class JsonPrinter final : public ObjectPrinter {
 public:
  explicit JsonPrinter(PrintOptions options) : options_(options) {}

  void print(Value object, std::ostream& out) override {
    out << toGoJson(options_.showManagedFields ? object : withoutManagedFields(std::move(object)),
                    kIndent)
        << '\n';
  }

 private:
  const PrintOptions options_;
};

class NamePrinter final : public ObjectPrinter {
 public:
  void print(Value object, std::ostream& out) override {
    if (isList(object)) {
      for (const Value& item : std::as_const(object)["items"].asArray()) print(item, out);
      return;
    }
    const Unstructured named(std::move(object));
    const GroupVersionKind gvk = named.gvk();
    const GroupKind kind{gvk.group, detail::lower(gvk.kind)};
    out << kind.str() << '/' << named.name() << '\n';
  }
};

class JsonPathPrinter final : public ObjectPrinter {
 public:
  JsonPathPrinter(std::string_view text, PrintOptions options, bool asJson)
      : path_(JsonPath::parse(text)), options_(options), asJson_(asJson) {}

  void print(Value object, std::ostream& out) override {
    const JsonPathOptions how{.allowMissingKeys = options_.allowMissingKeys};
    out << (asJson_ ? path_.printJson(object, how) : path_.print(object, how));
  }

 private:
  const JsonPath path_;
  const PrintOptions options_;
  const bool asJson_;
};

class CustomColumnsPrinter final : public ObjectPrinter {
 public:
  struct Column {
    std::string header;
    JsonPath path;
  };

  CustomColumnsPrinter(std::vector<Column> columns, PrintOptions options)
      : columns_(std::move(columns)), headersDue_(!options.noHeaders) {}

  // Parses NAME:.metadata.name,NODE:.spec.nodeName.
  static std::vector<Column> parse(const std::string& spec) {
    if (spec.empty()) {
      throw UsageError("custom-columns format specified but no custom columns given");
    }
    std::vector<Column> columns;
    for (const std::string& part : splitCommas(spec)) {
      const std::size_t colon = part.find(':');
      if (colon == std::string::npos) {
        throw UsageError(fmt::format(
            "unexpected custom-columns spec: {}, expected <header>:<json-path-expr>", part));
      }
      columns.push_back({part.substr(0, colon), JsonPath::parseRelaxed(part.substr(colon + 1))});
    }
    return columns;
  }

  // Reads a file of two lines: headers, and below each header its path.
  static std::vector<Column> parseFile(const std::string& file) {
    std::istringstream text(readInput(file, std::cin));
    std::string headerLine, pathLine;
    if (!std::getline(text, headerLine) || !std::getline(text, pathLine)) {
      throw UsageError(file + ": expected a line of headers and a line of paths");
    }
    std::istringstream headers(headerLine), paths(pathLine);
    std::vector<Column> columns;
    for (std::string header, path; headers >> header;) {
      if (!(paths >> path)) {
        throw UsageError(fmt::format("{}: the header {} has no path below it", file, header));
      }
      columns.push_back({header, JsonPath::parseRelaxed(path)});
    }
    return columns;
  }

  void print(Value object, std::ostream& out) override {
    if (headersDue_) {
      std::vector<Cell> headers;
      for (const Column& column : columns_) headers.push_back({column.header});
      layout_.row(std::move(headers));
      headersDue_ = false;
    }
    if (isList(object)) {
      for (const Value& item : std::as_const(object)["items"].asArray()) row(item);
    } else {
      row(object);
    }
    out << OwnText{layout_.flush()};
  }

 private:
  void row(const Value& object) {
    std::vector<Cell> cells;
    for (const Column& column : columns_) {
      std::string text;
      for (const Value& value : column.path.find(object, {.allowMissingKeys = true})) {
        text += (text.empty() ? "" : ",") + goText(value);
      }
      cells.push_back({text.empty() ? "<none>" : std::move(text)});
    }
    layout_.row(std::move(cells));
  }

  const std::vector<Column> columns_;
  TableLayout layout_;
  bool headersDue_;
};

}  // namespace

ObjectPrinter::~ObjectPrinter() = default;

std::unique_ptr<ObjectPrinter> ObjectPrinter::of(const std::string& output, PrintOptions options) {
  if (output.empty() || output == "wide") return nullptr;
  if (output == "yaml") return std::make_unique<YamlPrinter>(options);
  if (output == "json") return std::make_unique<JsonPrinter>(options);
  if (output == "name") return std::make_unique<NamePrinter>();

  const std::size_t equals = output.find('=');
  const std::string form = output.substr(0, equals);
  const std::string argument = equals == std::string::npos ? "" : output.substr(equals + 1);
  if (form == "custom-columns") {
    return std::make_unique<CustomColumnsPrinter>(CustomColumnsPrinter::parse(argument), options);
  }
  if (form == "custom-columns-file") {
    return std::make_unique<CustomColumnsPrinter>(CustomColumnsPrinter::parseFile(argument),
                                                  options);
  }
  if (form == "jsonpath" || form == "jsonpath-as-json" || form == "jsonpath-file") {
    if (argument.empty()) throw UsageError("template format specified but no template given");
    const bool file = form == "jsonpath-file";
    return std::make_unique<JsonPathPrinter>(file ? readInput(argument, std::cin) : argument,
                                             options, form == "jsonpath-as-json");
  }
  throw UsageError(fmt::format(
      "unable to match a printer suitable for the output format \"{}\", allowed formats are: "
      "custom-columns,custom-columns-file,json,jsonpath,jsonpath-as-json,jsonpath-file,name,wide,"
      "yaml",
      output));
}

Value listOf(const std::vector<Unstructured>& objects) {
  Value::Array items;
  items.reserve(objects.size());
  for (const Unstructured& object : objects) items.push_back(object.object);
  return Value::Object{{"apiVersion", "v1"},
                       {"items", std::move(items)},
                       {"kind", "List"},
                       {"metadata", Value::Object{{"resourceVersion", ""}}}};
}

std::string goText(const Value& value) {
  switch (value.type()) {
    case Value::Type::Null:
      return "<nil>";
    case Value::Type::String:
      return value.asString().str();
    case Value::Type::Array: {
      std::string text = "[";
      for (const Value& element : value.asArray()) {
        if (text.size() > 1) text += ' ';
        text += goText(element);
      }
      return text + "]";
    }
    case Value::Type::Object: {
      std::string text = "map[";
      for (const auto& [key, member] : value.asObject()) {
        if (text.back() != '[') text += ' ';
        text += key.str() + ":" + goText(member);
      }
      return text + "]";
    }
    default:
      return toJson(value);
  }
}

std::vector<std::string> splitCommas(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    parts.emplace_back(text.substr(0, comma));
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return parts;
}

}  // namespace kube::cmd
