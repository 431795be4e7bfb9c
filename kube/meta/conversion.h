// Conversion of objects between versions: the scope and the errors of conversion functions, and the
// table of conversions. Functions are registered with a Scheme (kube/meta/scheme.h), which also
// runs them.
//
//   scheme.addConversion<v1alpha1::Network, v1::Network>(
//       [](const v1alpha1::Network& in, v1::Network& out, kube::ConversionScope& scope) {
//         scope.defaultConvert(in, out, {.handled = {"spec.mask"}});   // all fields of equal name
//         out.spec->prefix = prefixOf(in.spec->mask);                  // and the rest
//       });
//
// The default conversion uses both tables. Each field is copied to the field of equal name:
// messages, lists and maps part by part, through registered conversions if there are any. Parts of
// the same C++ type are shared, not copied. A scalar may be plain on one side and optional on the
// other (a plain zero is absent, unless JSON shows it). Integers of 32 and 64 bits convert to each
// other if the number fits. Target fields that the source does not have stay unchanged.
//
// Nothing is lost silently. A field that is set in the source, and has no counterpart or one of
// another kind, is a ConversionError with its path. Two exceptions: a function declares that it
// converts the field itself (`handled`), or the pair is registered as lossy.
//
// Thread safety: a scope belongs to the call that received it.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/list.h"
#include "kube/base/shared.h"
#include "kube/meta/gvk.h"
#include "kube/meta/type_info.h"

namespace kube {

class Scheme;
class ConversionScope;
namespace detail {
struct PathFrame;
class DefaultConversion;
}  // namespace detail

/// An object could not be converted. what() has this form:
///   converting autoscaling/v2 Thing to autoscaling/v1 Thing: spec.size: 5000000000 does not fit
///   ...
class ConversionError : public Error {
 public:
  ConversionError(std::string from, std::string to, std::string path, std::string reason);
  ~ConversionError() override;

  /// The types, as "samplecrd.k8s.io/v1 Network", or by name if they are not kinds.
  const std::string& from() const noexcept { return facts_->from; }
  const std::string& to() const noexcept { return facts_->to; }
  /// The path of the field in the source; empty if the error concerns the whole object.
  const std::string& path() const noexcept { return facts_->path; }
  const std::string& reason() const noexcept { return facts_->reason; }

 private:
  struct Facts {
    std::string from, to, path, reason;
  };
  std::shared_ptr<const Facts> facts_;  // shared, so that copying cannot throw
};

struct DefaultConversionOptions {
  /// Fields of the source that the caller converts itself, by their path in the given object:
  /// "spec.mask", or "spec.rules.port" in all elements of a list. The default conversion skips them
  /// and everything in them.
  std::initializer_list<std::string_view> handled = {};
  /// Fields without a counterpart are dropped.
  bool lossy = false;
};

/// Converts parts of an object for its conversion function.
class ConversionScope {
 public:
  ConversionScope(const ConversionScope&) = delete;
  ConversionScope& operator=(const ConversionScope&) = delete;

  /// Converts by the function registered for the pair, through the hub, or by default. For parts
  /// only: with its own pair, a function would call itself.
  template <Described A, Described B>
  void convert(const A& in, B& out) {
    convert(TypeOf<A>::info, &in, TypeOf<B>::info, &out);
  }
  /// An absent message stays absent.
  template <Described A, Described B>
  void convert(const Shared<A>& in, Shared<B>& out) {
    if (!in) return out.reset();
    B fresh{};
    convert(in.read(), fresh);
    out = std::move(fresh);
  }
  template <Described A, Described B>
  void convert(const List<A>& in, List<B>& out) {
    List<B> fresh;
    fresh.reserve(in.size());
    for (const A& item : in) {
      B converted{};
      convert(item, converted);
      fresh.push_back(std::move(converted));
    }
    out = std::move(fresh);
  }

  /// Converts by the tables, ignoring a function registered for the pair itself.
  template <Described A, Described B>
  void defaultConvert(const A& in, B& out, const DefaultConversionOptions& options = {}) {
    defaultConvert(TypeOf<A>::info, &in, TypeOf<B>::info, &out, options);
  }

  void convert(const TypeInfo& from, const void* in, const TypeInfo& to, void* out);
  void defaultConvert(const TypeInfo& from, const void* in, const TypeInfo& to, void* out,
                      const DefaultConversionOptions& options = {});

  /// Throws a ConversionError with the current path. Any kube::Error that a function throws is
  /// turned into one, too.
  [[noreturn]] void fail(const std::string& reason) const;

  const Scheme& scheme() const noexcept { return scheme_; }

 private:
  friend class Scheme;
  friend class detail::DefaultConversion;
  ConversionScope(const Scheme& scheme, const TypeInfo& from, const TypeInfo& to)
      : scheme_(scheme), from_(from), to_(to) {}

  const Scheme& scheme_;
  const TypeInfo& from_;  // the types of the whole conversion
  const TypeInfo& to_;
  const detail::PathFrame* path_ = nullptr;
  int depth_ = 0;
};

namespace detail {

using ConversionFunction = std::function<void(const void* in, void* out, ConversionScope&)>;

template <class F, class A, class B>
concept Converts = std::invocable<const F&, const A&, B&, ConversionScope&> ||
    std::invocable<const F&, const A&, B&>;

template <class A, class B, class F>
ConversionFunction eraseConversion(F function) {
  return [function = std::move(function)](const void* in, void* out, ConversionScope& scope) {
    const A& from = *static_cast<const A*>(in);
    B& to = *static_cast<B*>(out);
    if constexpr (std::invocable<const F&, const A&, B&, ConversionScope&>) {
      function(from, to, scope);
    } else {
      function(from, to);
    }
  };
}

/// The registrations for a pair of types.
struct Conversion {
  ConversionFunction function;   // the user's function
  ConversionFunction generated;  // used if the user registered none
  bool ignored = false;          // conversion does nothing
  bool byDefault = false;        // default conversion is allowed, whatever the kinds
  bool lossy = false;            // ... and drops fields without a counterpart
};

struct TypePair {
  const TypeInfo* from;
  const TypeInfo* to;
  bool operator==(const TypePair&) const = default;
};
struct TypePairHash {
  std::size_t operator()(const TypePair& pair) const noexcept {
    const auto from = std::hash<const void*>{}(pair.from);
    return from * 0x9E3779B97F4A7C15U ^ std::hash<const void*>{}(pair.to);
  }
};
using ConversionTable = std::unordered_map<TypePair, Conversion, TypePairHash>;

}  // namespace detail

}  // namespace kube
