#include "cmd/kubexx/create_kinds.h"

#include <fmt/core.h>

#include <filesystem>
#include <iostream>

#include "cmd/kubexx/input.h"
#include "cmd/kubexx/invocation.h"
#include "kube/base/internal/base64.h"
#include "kube/codec/json.h"

namespace kube::cmd {

namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

Entries entriesOf(const CreatedKind& created) {
  Entries entries;
  for (const std::string& literal : created.literals) {
    const std::size_t equals = literal.find('=');
    if (equals == std::string::npos || equals == 0) {
      // The message does not quote the text, which may be a secret.
      throw UsageError("invalid literal source of --from-literal, expected key=value");
    }
    entries.emplace_back(literal.substr(0, equals), literal.substr(equals + 1));
  }
  for (const std::string& file : created.files) {
    const std::size_t equals = file.find('=');
    const std::string path = equals == std::string::npos ? file : file.substr(equals + 1);
    const std::string key = equals == std::string::npos
                                ? std::filesystem::path(path).filename().string()
                                : file.substr(0, equals);
    entries.emplace_back(key, readInput(path, std::cin));
  }
  return entries;
}

Value object(const char* kind, const std::string& name) {
  return Value::Object{
      {"apiVersion", "v1"}, {"kind", kind}, {"metadata", Value::Object{{"name", name}}}};
}

}  // namespace

std::string manifestOf(const CreatedKind& created) {
  std::vector<std::string> words = created.words;
  const bool secret = !words.empty() && words[0] == "secret";
  if (secret) {
    if (words.size() < 2 || words[1] != "generic") {
      throw UsageError("expected: create secret generic NAME");
    }
    words.erase(words.begin());
  }
  if (words.size() != 2) {
    throw UsageError(
        "expected -f FILE, or a kind and a name: create "
        "namespace|configmap|serviceaccount|secret generic NAME");
  }
  const std::string& kind = words[0];
  const std::string& name = words[1];
  if (name.empty()) throw UsageError(fmt::format("create {}: the name may not be empty", words[0]));
  if (kind == "namespace" || kind == "ns") return toJson(object("Namespace", name));
  if (kind == "serviceaccount" || kind == "sa") return toJson(object("ServiceAccount", name));
  if (kind != "configmap" && kind != "cm" && !secret) {
    throw UsageError(
        fmt::format("\"{}\" cannot be created by name: give a manifest with -f FILE", kind));
  }
  Value made = object(secret ? "Secret" : "ConfigMap", name);
  if (secret) made["type"] = "Opaque";
  for (const auto& [key, value] : entriesOf(created)) {
    if (!secret) {
      made["data"][key] = value;
      continue;
    }
    std::string encoded;
    detail::base64Encode(value, encoded);
    made["data"][key] = encoded;
  }
  return toJson(made);
}

}  // namespace kube::cmd
