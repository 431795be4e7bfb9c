// The default conversion: one walk over the tables of two types (see kube/meta/conversion.h).
//
// Only for source files of this folder.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "kube/meta/conversion.h"
#include "kube/meta/type_info.h"

namespace kube::detail {

/// Counts one level of nesting while it lives. Too many levels are an error, as in decoders.
class ConversionDepth {
 public:
  ConversionDepth(const ConversionScope& scope, int& depth) : depth_(depth) {
    if (depth >= kMost) scope.fail("nested too deep");
    ++depth_;
  }
  ~ConversionDepth() { --depth_; }
  ConversionDepth(const ConversionDepth&) = delete;
  ConversionDepth& operator=(const ConversionDepth&) = delete;

 private:
  static constexpr int kMost = 1000;
  int& depth_;
};

/// Replaces a constructed object by a copy of another of its type.
void assignMessage(const TypeInfo& type, void* to, const void* from);

class DefaultConversion {
 public:
  using Names = std::span<const std::string_view>;

  DefaultConversion(ConversionScope& scope, bool lossy) : scope_(scope), lossy_(lossy) {}

  /// Converts one constructed object into another. `handled` are paths of fields to skip.
  void message(const TypeInfo& from, const std::byte* in, const TypeInfo& to, std::byte* out,
               Names handled);

 private:
  void field(const FieldInfo& from, const std::byte* in, const FieldInfo& to, std::byte* out,
             Names handled);
  void single(const FieldInfo& from, const std::byte* in, const FieldInfo& to, std::byte* out,
              Names handled);
  void elements(const FieldInfo& from, const std::byte* in, const FieldInfo& to, std::byte* out,
                Names handled);
  /// Converts one present value into a constructed one.
  void value(const FieldInfo& from, const std::byte* in, const FieldInfo& to, std::byte* out,
             Names handled);

  ConversionScope& scope_;
  const bool lossy_;
};

}  // namespace kube::detail
