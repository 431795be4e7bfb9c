#include "kube/codec/print.h"

#include <array>
#include <exception>
#include <ostream>
#include <stdexcept>
#include <utility>

#include "kube/codec/json.h"
#include "kube/codec/yaml.h"
#include "kube/meta/unstructured.h"
#include "kube/meta/value.h"

namespace kube {

namespace {

// A place where a kind keeps secrets.
struct SecretPlace {
  std::string_view group, kind;
  std::string_view parent, member;  // empty: all members of the parent
};
constexpr std::array kSecretPlaces{
    SecretPlace{"", "Secret", "data", ""},
    SecretPlace{"", "Secret", "stringData", ""},
    SecretPlace{"authentication.k8s.io", "TokenRequest", "status", "token"},
    SecretPlace{"authentication.k8s.io", "TokenReview", "spec", "token"},
};
constexpr std::string_view kApplied = "kubectl.kubernetes.io/last-applied-configuration";

std::string sizeOf(const Value& secret, bool base64) {
  std::size_t bytes = secret.asString().size();
  if (base64) {
    const std::string_view text = secret.asString();
    bytes = text.size() / 4 * 3;
    for (std::size_t i = text.size(); i > 0 && text[i - 1] == '='; --i) --bytes;
  }
  return std::to_string(bytes) + " bytes";
}

void hideIn(Value& object, std::string_view group, std::string_view kind) {
  for (const SecretPlace& place : kSecretPlaces) {
    if (place.group != group || place.kind != kind) continue;
    if (std::as_const(object)[place.parent].asObject().empty()) continue;
    Value& parent = object[place.parent];
    if (!place.member.empty()) {
      if (std::as_const(parent)[place.member].isString()) parent[place.member] = "hidden";
      continue;
    }
    const Value::Object all = parent.asObject();
    for (const auto& [key, value] : all) parent[key] = sizeOf(value, place.parent == "data");
    if (std::as_const(object)["metadata"]["annotations"].asObject().contains(kApplied)) {
      object["metadata"]["annotations"].object().erase(kApplied);
    }
  }
}

bool keepsSecrets(std::string_view group, std::string_view kind) {
  if (kind.empty()) return false;
  if (kind.ends_with("List")) kind.remove_suffix(4);
  if (kind.empty()) return group.empty();  // a v1 List holds objects of any kind
  for (const SecretPlace& place : kSecretPlaces) {
    if (place.group == group && place.kind == kind) return true;
  }
  return false;
}

std::string_view groupOf(std::string_view apiVersion) {
  const auto slash = apiVersion.find('/');
  return slash == std::string_view::npos ? std::string_view() : apiVersion.substr(0, slash);
}

// Hides the secrets of an object. `group` and `kind` apply if it does not name its kind, as an item
// of a list may not.
void hide(Value& object, std::string_view group, std::string_view kind) {
  const Value& seen = object;
  if (const auto& own = seen["kind"].asString(); !own.empty()) {
    // Copies, since the texts belong to the object that is changed.
    const String ownKind = own, version = seen["apiVersion"].asString();
    hideIn(object, groupOf(version), ownKind);
    if (!ownKind.view().ends_with("List")) return;
    const std::string_view item = ownKind.view().substr(0, ownKind.size() - 4);
    for (std::size_t i = 0; i < seen["items"].asArray().size(); ++i) {
      hide(object["items"][i], groupOf(version), item);
    }
    return;
  }
  hideIn(object, group, kind);
}

std::string written(const Value& value, PrintStyle style) {
  return style == PrintStyle::Yaml ? toYaml(value)
                                   : toJson(value, style == PrintStyle::Pretty ? 2 : 0);
}

}  // namespace

std::string printed(const Value& value, PrintStyle style) {
  const std::string_view kind = value["kind"].asString();
  if (!keepsSecrets(groupOf(value["apiVersion"].asString()), kind)) return written(value, style);
  Value shown = value;
  hide(shown, {}, {});
  return written(shown, style);
}

std::string printed(const TypeInfo& type, const void* object, PrintStyle style) {
  const bool dynamic = type.form == JsonForm::Dynamic;
  if (dynamic ||
      (type.resource != nullptr && keepsSecrets(type.resource->group, type.resource->kind))) {
    std::string json;
    encodeJson(type, object, json);
    return printed(parseJson(json), style);
  }
  std::string text;
  if (style == PrintStyle::Yaml) {
    encodeYaml(type, object, text);
  } else {
    encodeJson(type, object, text, style == PrintStyle::Pretty ? 2 : 0);
  }
  return text;
}

std::string printed(const AnyObject& object, PrintStyle style) {
  return printed(object.type(), object.data(), style);
}

namespace {

template <class... Object>
const char* kept(const Object&... object) noexcept {
  thread_local std::string text;
  try {
    text = printed(object..., PrintStyle::Yaml);
    return text.c_str();
  } catch (const std::exception&) {
    text.clear();
    return "(no text: out of memory, or an object that cannot be encoded)\n";
  }
}

}  // namespace

// `used`: a debugger may be the only caller.
[[gnu::used]] const char* debugText(const TypeInfo& type, const void* object) noexcept {
  return object != nullptr ? kept(type, object) : "null\n";
}
[[gnu::used]] const char* debugText(const AnyObject& object) noexcept { return kept(object); }
[[gnu::used]] const char* debugText(const Value& value) noexcept { return kept(value); }

namespace printing {

std::ostream& print(std::ostream& out, std::string_view text) { return out << text; }

fmt::format_context::iterator Formatter::write(std::string_view text,
                                               fmt::format_context& context) {
  return fmt::format_to(context.out(), "{}", text);
}
void Formatter::wrongStyle() {
  throw std::runtime_error(R"(an object is printed by "{}", "{:p}" or "{:y}")");
}

}  // namespace printing

}  // namespace kube
