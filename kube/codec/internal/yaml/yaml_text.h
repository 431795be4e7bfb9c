// Reads the text of quoted and folded scalars from the source again.
//
// yaml-cpp 0.7 loses line breaks at the end of both, misses some unclosed quotes, and makes invalid
// UTF-8 of two escapes. It still finds the place of a scalar; the content is read here, by the
// rules of libyaml and go-yaml. For source files of this folder. All functions may be called from
// any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kube::detail {

/// The start of a node's content, behind its anchor and tag if it has any.
std::size_t yamlContentStart(std::string_view text, std::size_t at) noexcept;

/// Decodes the scalar whose opening quote, single or double, is at `at`; returns nothing if it is
/// not closed.
std::optional<std::string> decodeYamlQuoted(std::string_view text, std::size_t at);

/// Decodes the scalar whose `>` is at `at`, in a collection indented by `parent` columns (-1: in
/// none).
std::string decodeYamlFolded(std::string_view text, std::size_t at, int parent);

}  // namespace kube::detail
