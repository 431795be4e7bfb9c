// The position of a decoder or conversion in an object, kept on the stack and turned into text only
// for an error.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kube::detail {

/// A field or map key (kBetweenNames between two of them), or a list element if `name` is null.
struct PathFrame {
  const PathFrame* parent;
  const std::string_view* name;
  std::size_t item;
};
inline constexpr std::string_view kBetweenNames;

/// One level of the path while it lives. Made once per object, list or map, then moved from member
/// to member at the cost of one store.
class PathStep {
 public:
  explicit PathStep(const PathFrame*& top) : top_(top), frame_{top, &kBetweenNames, 0} {
// The destructor removes the address; gcc 12 does not see that.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdangling-pointer"
#endif
    top = &frame_;
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
  }
  ~PathStep() { top_ = frame_.parent; }
  PathStep(const PathStep&) = delete;
  PathStep& operator=(const PathStep&) = delete;

  /// The name must outlive the step, or be replaced.
  void name(const std::string_view& name) noexcept { frame_.name = &name; }
  void noName() noexcept { frame_.name = &kBetweenNames; }
  void item(std::size_t i) noexcept {
    frame_.name = nullptr;
    frame_.item = i;
  }

 private:
  const PathFrame*& top_;
  PathFrame frame_;
};

/// The path as text: spec.containers[0].image
inline std::string pathOf(const PathFrame* top) {
  std::vector<const PathFrame*> frames;
  for (; top != nullptr; top = top->parent) frames.push_back(top);
  std::string result;
  for (auto at = frames.rbegin(); at != frames.rend(); ++at) {
    if ((*at)->name == nullptr) {
      result += '[' + std::to_string((*at)->item) + ']';
    } else if ((*at)->name != &kBetweenNames) {
      if (!result.empty()) result += '.';
      result += *(*at)->name;
    }
  }
  return result;
}

}  // namespace kube::detail
