#include "cmd/kubexx/convert.h"

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>

#include "cmd/kubexx/input.h"
#include "kube/api/scheme.h"
#include "kube/base/error.h"
#include "kube/codec/deserializer.h"
#include "kube/codec/protobuf.h"
#include "kube/codec/unstructured.h"
#include "kube/codec/yaml.h"
#include "kube/meta/any_object.h"
#include "kube/meta/unstructured.h"
#include "kube/meta/v1.h"

namespace kube::cmd {

namespace {

constexpr int kConvertedIndent = 4;  // as kubectl prints JSON

Format formatNamed(std::string_view name) {
  return name == "json" ? Format::Json : name == "protobuf" ? Format::Protobuf : Format::Yaml;
}

std::string describe(const GroupVersionKind& gvk) {
  return "apiVersion \"" + gvk.groupVersion().str() + "\", kind \"" + gvk.kind.str() + "\"";
}

// Writes objects one after another in the output format.
class Writer {
 public:
  Writer(const ConvertOptions& options, std::ostream& out)
      : format_(formatNamed(options.output)), out_(out) {}

  void write(const AnyObject& object) {
    if (format_ == Format::Protobuf) {
      if (written_ > 0) throw Error("protobuf output holds one object, but the input has several");
      if (object.as<Unstructured>() != nullptr) {
        throw Error("protobuf needs a built-in kind; found " + describe(object.gvk()));
      }
    }
    if (format_ == Format::Yaml && written_ > 0) out_ << "---\n";
    out_ << encodeObject(object, format_, kConvertedIndent);
    if (format_ == Format::Json) out_ << '\n';
    ++written_;
  }

 private:
  const Format format_;
  std::ostream& out_;
  std::size_t written_ = 0;
};

// Converts objects of one group to one of its versions. Objects of other groups stay unchanged.
class VersionChange {
 public:
  explicit VersionChange(const ConvertOptions& options) {
    if (options.toVersion.empty()) return;
    if (options.unstructured)
      throw Error("--to-version needs C++ types: it excludes --unstructured");
    target_ = GroupVersion::parse(options.toVersion);
    if (!builtInScheme().isVersionRegistered(*target_)) {
      throw Error("--to-version: there is no built-in API version \"" + options.toVersion + "\"");
    }
  }

  AnyObject apply(AnyObject object) {
    const GroupVersionKind gvk = object.gvk();
    if (!target_ || gvk.group != target_->group) return object;
    ++found_;
    try {
      if (object.as<Unstructured>() != nullptr) throw Error("its kind is not built in");
      return builtInScheme().convertToVersion(object, *target_);
    } catch (const ConversionError&) {
      throw;  // its message is complete
    } catch (const Error& error) {
      throw Error("converting " + gvk.groupVersion().str() + " " + gvk.kind.str() + " to " +
                  target_->str() + ": " + error.what());
    }
  }

  void checkUsed() const {
    if (!target_ || found_ > 0) return;
    throw Error("--to-version " + target_->str() + ": the input has no object of this group");
  }

 private:
  std::optional<GroupVersion> target_;
  std::size_t found_ = 0;
};

// A message of a watch has no kind and apiVersion, only a type and an object.
bool isWatchEvent(const Value& object) {
  return object.isObject() && object.asObject().size() == 2 && object["type"].isString() &&
         object["object"].isObject();
}

// Decodes a message of a watch in protobuf, whose envelope names no kind. Its object is in
// protobuf, too, or in JSON.
AnyObject readWatchEvent(const std::string& input) {
  metav1::WatchEvent event;
  decodeProtobuf(TypeOf<metav1::WatchEvent>::info, &event, input);
  if (const std::string inner(event.object.raw); isProtobuf(inner)) {
    const AnyObject object = UniversalDeserializer(builtInScheme()).decode(inner);
    event.object.raw = encodeObject(object, Format::Json);
  }
  return AnyObject(event);
}

// The known kinds: none with --unstructured.
const Scheme& schemeFor(const ConvertOptions& options) {
  static const Scheme none;
  return options.unstructured ? none : builtInScheme();
}

void convertProtobuf(const std::string& input, const ConvertOptions& options,
                     VersionChange& versions, Writer& writer) {
  AnyObject object = [&] {
    if (openProtobuf(input).kind.empty()) return readWatchEvent(input);
    try {
      return UniversalDeserializer(builtInScheme()).decode(input);
    } catch (const NotRegisteredError& error) {
      throw Error(describe(error.gvk()) + " is not built in, so its protobuf cannot be read");
    }
  }();
  if (options.unstructured) {
    AnyObject dynamic(toUnstructured(object.type(), object.data()));
    dynamic.setGvk(object.gvk());
    writer.write(dynamic);
    return;
  }
  writer.write(versions.apply(std::move(object)));
}

AnyObject readObject(const YamlDocument& document, const ConvertOptions& options,
                     std::vector<std::string>& problems) {
  const TypeMeta says = document.type();
  const auto version = GroupVersion::tryParse(says.apiVersion);
  if (!says.kind.empty() && version && !version->version.empty()) {
    return UniversalDeserializer(schemeFor(options))
        .decode(document, {.unknownAsUnstructured = true,
                           .decode = {.strict = options.strict, .problems = &problems}});
  }
  // An object without kind and apiVersion can still be written in another format.
  Unstructured object(document.value({.strict = options.strict}));
  if (!object.object.isObject()) {
    throw DecodeError({.format = "yaml", .line = document.line, .column = document.column},
                      "expected an object, found " + std::string(toString(object.object.type())));
  }
  if (!options.unstructured && isWatchEvent(object.object)) {
    metav1::WatchEvent event;
    fromUnstructured(TypeOf<metav1::WatchEvent>::info, &event, object);
    return AnyObject(event);
  }
  return AnyObject(object);
}

}  // namespace

void convert(const std::string& source, const std::string& input, const ConvertOptions& options,
             std::ostream& out, std::ostream& notes) {
  VersionChange versions(options);
  Writer writer(options, out);
  try {
    if (isProtobuf(input)) {
      convertProtobuf(input, options, versions, writer);
      versions.checkUsed();
      return;
    }
    // splitYaml() reads JSON, too.
    const std::vector<YamlDocument> documents = splitYaml(input, {.expandLists = true});
    if (documents.empty()) throw Error("no object found");
    for (const YamlDocument& document : documents) {
      std::vector<std::string> problems;
      AnyObject object = readObject(document, options, problems);
      for (const std::string& problem : problems) {
        notes << "warning: " << source << ": " << problem << " is left out (--strict refuses it, "
              << "--unstructured keeps it)\n";
      }
      writer.write(versions.apply(std::move(object)));
    }
    versions.checkUsed();
  } catch (const Error& error) {
    throw Error(source + ": " + error.what());
  }
}

void addConvert(CLI::App& app) {
  auto options = std::make_shared<ConvertOptions>();
  auto file = std::make_shared<std::string>("-");
  CLI::App* command =
      app.add_subcommand("convert",
                         "Convert objects between JSON, YAML and Kubernetes protobuf, "
                         "and between API versions");
  command->add_option("-f,--filename", *file, "The file to read, - for standard input")
      ->default_str("-");
  command->add_option("-o,--output", options->output, "json, yaml or protobuf")
      ->check(CLI::IsMember({"json", "yaml", "protobuf"}))
      ->default_str("yaml");
  command->add_flag("--strict", options->strict, "Refuse unknown and duplicate fields");
  command->add_flag("--unstructured", options->unstructured,
                    "Keep every field as it is, even if the kind is built in");
  command->add_option(
      "--to-version", options->toVersion,
      "GROUP/VERSION: convert objects of this group to this version; keep others unchanged");
  command->callback([options, file] {
    const std::string source = *file == "-" ? "standard input" : *file;
    convert(source, readInput(*file, std::cin), *options, std::cout, std::cerr);
    std::cout.flush();
    if (!std::cout) throw Error("the output cannot be written");
  });
}

}  // namespace kube::cmd
