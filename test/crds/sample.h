// Objects made up from a schema: something in every field.
#pragma once

#include "kube/meta/value.h"

namespace kube::crds {

/// Satisfies what the schema says of types, limits and enumerations; patterns are not looked at.
Value sampleOf(const Value& schema);

/// The same schema without what a sample may violate: patterns, rules, and what is said by logic.
Value withoutRules(const Value& schema);

}  // namespace kube::crds
