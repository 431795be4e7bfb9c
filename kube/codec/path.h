// Where in an object a decoder is, kept on the stack and put into words only for an error.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kube::detail {

/// A field, a map key, or (with an empty name) an element of a list.
struct PathFrame {
  const PathFrame* parent;
  std::string_view name;
  std::size_t item;
};

/// Enters a field, key or element for as long as it lives.
class PathStep {
 public:
  PathStep(const PathFrame*& top, std::string_view name) : PathStep(top, name, 0) {}
  PathStep(const PathFrame*& top, std::size_t item) : PathStep(top, {}, item) {}
  ~PathStep() { top_ = frame_.parent; }
  PathStep(const PathStep&) = delete;
  PathStep& operator=(const PathStep&) = delete;

  void item(std::size_t i) noexcept { frame_.item = i; }

 private:
  PathStep(const PathFrame*& top, std::string_view name, std::size_t item)
      : top_(top), frame_{top, name, item} {
// The destructor takes the address back; gcc 12 does not see that.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdangling-pointer"
#endif
    top = &frame_;
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
  }
  const PathFrame*& top_;
  PathFrame frame_;
};

/// spec.containers[0].image
inline std::string pathOf(const PathFrame* top, std::string_view last = {}) {
  std::vector<const PathFrame*> frames;
  for (; top != nullptr; top = top->parent) frames.push_back(top);
  std::string result;
  const auto add = [&](std::string_view name) {
    if (!result.empty()) result += '.';
    result += name;
  };
  for (auto at = frames.rbegin(); at != frames.rend(); ++at) {
    if ((*at)->name.empty()) {
      result += '[' + std::to_string((*at)->item) + ']';
    } else {
      add((*at)->name);
    }
  }
  if (!last.empty()) add(last);
  return result;
}

}  // namespace kube::detail
