#include "cmd/kubexx/convert.h"

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>

#include "kube/api/registry.h"
#include "kube/base/error.h"
#include "kube/codec/json.h"
#include "kube/codec/protobuf.h"
#include "kube/codec/yaml.h"
#include "kube/meta/any_object.h"

namespace kube::cmd {

namespace {

constexpr int kIndent = 4;  // as kubectl prints JSON

std::string readAll(const std::string& path) {
  std::stringstream content;
  if (path == "-") {
    content << std::cin.rdbuf();
    return content.str();
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(path + ": cannot be opened");
  content << in.rdbuf();
  return content.str();
}

// Writes objects one after another in the format asked for.
class Writer {
 public:
  Writer(const ConvertOptions& options, std::ostream& out) : format_(options.output), out_(out) {}

  void write(const AnyObject& object) {
    std::string text;
    if (format_ == "protobuf") {
      single();
      encodeProtobuf(object.type(), object.data(), text);
    } else if (format_ == "json") {
      encodeJson(object.type(), object.data(), text, kIndent);
      text += '\n';
    } else {
      separate();
      encodeYaml(object.type(), object.data(), text);
    }
    put(text);
  }

  void write(const Value& value) {
    if (format_ == "protobuf") {
      throw Error("protobuf needs a built-in kind; found " + describe(value));
    }
    if (format_ == "json") {
      put(toJson(value, kIndent) + '\n');
    } else {
      separate();
      put(toYaml(value));
    }
  }

 private:
  static std::string describe(const Value& value) {
    return "apiVersion \"" + value["apiVersion"].asString().str() + "\", kind \"" +
           value["kind"].asString().str() + "\"";
  }
  void separate() {
    if (written_ > 0) out_ << "---\n";
  }
  void single() const {
    if (written_ > 0) throw Error("protobuf holds one object, and there are several");
  }
  void put(const std::string& text) {
    out_ << text;
    ++written_;
  }

  const std::string& format_;
  std::ostream& out_;
  std::size_t written_ = 0;
};

void convertProtobuf(const std::string& input, const ConvertOptions& options, Writer& writer) {
  const ProtobufEnvelope envelope = openProtobuf(input);
  const TypeInfo* type = builtInKind(envelope.apiVersion, envelope.kind);
  if (type == nullptr) {
    throw Error("apiVersion \"" + std::string(envelope.apiVersion) + "\", kind \"" +
                std::string(envelope.kind) + "\" is not built in, so its protobuf cannot be read");
  }
  AnyObject object(*type);
  decodeProtobuf(*type, object.data(), input);
  if (!options.unstructured) {
    writer.write(object);
    return;
  }
  std::string json;
  encodeJson(*type, object.data(), json);
  writer.write(parseJson(json));
}

}  // namespace

void convert(const std::string& source, const std::string& input, const ConvertOptions& options,
             std::ostream& out, std::ostream& notes) {
  Writer writer(options, out);
  try {
    if (isProtobuf(input)) {
      convertProtobuf(input, options, writer);
      return;
    }
    // JSON is taken as such in there.
    const std::vector<YamlDocument> documents = splitYaml(input, {.expandLists = true});
    if (documents.empty()) throw Error("there is no object in it");
    for (const YamlDocument& document : documents) {
      Value value = document.value({.strict = options.strict});
      if (!value.isObject()) {
        throw DecodeError({.format = "yaml", .line = document.line, .column = document.column},
                          "expected an object, found " + std::string(toString(value.type())));
      }
      const TypeInfo* type = options.unstructured ? nullptr
                                                  : builtInKind(value["apiVersion"].asString(),
                                                                value["kind"].asString());
      if (type == nullptr) {
        writer.write(value);
        continue;
      }
      value = Value();
      AnyObject object(*type);
      std::vector<std::string> problems;
      document.decode(*type, object.data(), {.strict = options.strict, .problems = &problems});
      for (const std::string& problem : problems) {
        notes << "warning: " << source << ": " << problem << " is left out (--strict refuses it, "
              << "--unstructured keeps it)\n";
      }
      writer.write(object);
    }
  } catch (const Error& error) {
    throw Error(source + ": " + error.what());
  }
}

void addConvert(CLI::App& app) {
  auto options = std::make_shared<ConvertOptions>();
  auto file = std::make_shared<std::string>("-");
  CLI::App* command =
      app.add_subcommand("convert", "Convert objects between JSON, YAML and Kubernetes protobuf");
  command->add_option("-f,--filename", *file, "The file to read, - for standard input")
      ->default_str("-");
  command->add_option("-o,--output", options->output, "json, yaml or protobuf")
      ->check(CLI::IsMember({"json", "yaml", "protobuf"}))
      ->default_str("yaml");
  command->add_flag("--strict", options->strict, "Refuse unknown and duplicate fields");
  command->add_flag("--unstructured", options->unstructured,
                    "Keep every field as it is, also where the kind is built in");
  command->callback([options, file] {
    const std::string source = *file == "-" ? "standard input" : *file;
    convert(source, readAll(*file), *options, std::cout, std::cerr);
    std::cout.flush();
    if (!std::cout) throw Error("the output cannot be written");
  });
}

}  // namespace kube::cmd
