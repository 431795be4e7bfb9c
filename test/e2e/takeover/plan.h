// The marks of the objects that takeover-manager writes.
#pragma once

#include <string_view>

namespace kube::takeover {

inline constexpr std::string_view kPlan = "kubexx.dev/plan";             // a label
inline constexpr std::string_view kWrittenBy = "kubexx.dev/written-by";  // an annotation

}  // namespace kube::takeover
