#include "kube/base/internal/text_formatter.h"

#include <fmt/format.h>

namespace kube::detail {

fmt::format_context::iterator TextFormatter::text(std::string_view text,
                                                  fmt::format_context& context) const {
  return format(text, context);
}

}  // namespace kube::detail
