// The text of quoted and folded scalars, read from the source once more.
//
// yaml-cpp 0.7 loses line breaks at the end of both, does not always miss a closing quote, and
// makes invalid UTF-8 of two escapes. It still says where a scalar is; what it holds is read here,
// by the rules of libyaml and go-yaml. For source files of this folder. Any thread may call.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kube::detail {

/// Where a node's content starts, behind its anchor and tag if it has any.
std::size_t yamlContentStart(std::string_view text, std::size_t at) noexcept;

/// The scalar whose opening quote, single or double, is at `at`; nothing if it is not closed.
std::optional<std::string> decodeYamlQuoted(std::string_view text, std::size_t at);

/// The scalar whose `>` is at `at`, in a collection indented by `parent` columns (-1: in none).
std::string decodeYamlFolded(std::string_view text, std::size_t at, int parent);

}  // namespace kube::detail
