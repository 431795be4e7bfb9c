// Calls a function at the end of a block, however the block is left.
//
//   const Finally closed([&] { close(); });
#pragma once

#include <utility>

namespace kube::detail {

template <class Function>
class [[nodiscard]] Finally {
 public:
  explicit Finally(Function function) : function_(std::move(function)) {}
  ~Finally() { function_(); }
  Finally(const Finally&) = delete;
  Finally& operator=(const Finally&) = delete;

 private:
  Function function_;
};

}  // namespace kube::detail
