// Sample objects for a schema, with a value in every field.
#pragma once

#include "kube/meta/value.h"

namespace kube::crds {

/// Satisfies the schema's types, limits and enumerations, but not its patterns.
Value sampleOf(const Value& schema);

/// The same schema without the parts that a sample may violate: patterns, rules, and logical
/// operators such as oneOf.
Value withoutRules(const Value& schema);

}  // namespace kube::crds
