// Objects for tests of the built-in rules, written as YAML.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "kube/api/registry.h"
#include "kube/apiserver/rules/built_in_rules.h"
#include "kube/codec/json.h"
#include "kube/codec/yaml.h"
#include "kube/meta/any_object.h"

namespace kube::apiserver {

inline std::shared_ptr<const KindRules> rulesOf(const AnyObject& object) {
  return builtInRules(object.type());
}
template <class T>
std::shared_ptr<const KindRules> rulesOf() {
  return builtInRules(TypeOf<T>::info);
}

/// The object as it is written, without defaults.
template <class T>
T written(std::string_view yaml) {
  return fromYaml<T>(yaml);
}

/// The object with its defaults.
template <class T>
T defaulted(std::string_view yaml) {
  AnyObject object(fromYaml<T>(yaml));
  rulesOf(object)->setDefaults(object);
  return *object.as<T>();
}

/// The errors of creating the object, with its defaults set.
template <class T>
std::string problems(std::string_view yaml) {
  AnyObject object(fromYaml<T>(yaml));
  rulesOf(object)->setDefaults(object);
  return toString(rulesOf(object)->validate(object));
}

/// The errors of an update.
template <class T>
std::string changeProblems(const T& next, const T& old) {
  return toString(rulesOf<T>()->validateUpdate(AnyObject(next), AnyObject(old)));
}

}  // namespace kube::apiserver
