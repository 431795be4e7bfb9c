// Objects for tests of the built-in rules, written as YAML.
#pragma once

#include <string>
#include <string_view>

#include "kube/api/registry.h"
#include "kube/apiserver/rules/built_in_rules.h"
#include "kube/codec/json.h"
#include "kube/codec/yaml.h"
#include "kube/meta/any_object.h"

namespace kube::apiserver {

/// As it was written, nothing set.
template <class T>
T written(std::string_view yaml) {
  return fromYaml<T>(yaml);
}

/// With its defaults.
template <class T>
T defaulted(std::string_view yaml) {
  AnyObject object(fromYaml<T>(yaml));
  setBuiltInDefaults(object);
  return *object.as<T>();
}

/// What is wrong with it on create, defaults set.
template <class T>
std::string problems(std::string_view yaml) {
  AnyObject object(fromYaml<T>(yaml));
  setBuiltInDefaults(object);
  return toString(validateBuiltIn(object));
}

/// What is wrong with the change of one to the other.
template <class T>
std::string changeProblems(const T& next, const T& old) {
  return toString(validateBuiltInUpdate(AnyObject(next), AnyObject(old)));
}

}  // namespace kube::apiserver
