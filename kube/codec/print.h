// Objects as text for people: in logs, on the terminal, in a debugger.
//
//   fmt::print("{}\n", pod);        // JSON on one line
//   fmt::print("{:p}\n", pod);      // the same on several
//   fmt::print("{:y}", pod);        // YAML
//   std::cout << pod << '\n';       // as "{}"
//   (gdb) kubexx-yaml pod           // by debugText; see docs/debugging.md
//
// They work for every described type, built-in or custom, and for Unstructured, Value and
// AnyObject.
//
// Secrets are hidden. In a Secret, each value of `data` and `stringData` is replaced by its size,
// and the annotation in which kubectl keeps the applied object is left out. In TokenRequest and
// TokenReview, the token is hidden. The same holds for each item of a list. toJson and toYaml write
// everything. Secrets in other kinds are shown: an environment variable of a Pod, a password in a
// custom resource.
//
// A namespace with an operator<< of its own hides other operators from its code. Types of such a
// namespace need `using kube::printing::operator<<;` there.
//
// Thread safety: all functions may be called from any thread. debugText never throws.
#pragma once

#include <fmt/core.h>

#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

#include "kube/meta/any_object.h"
#include "kube/meta/type_info.h"

namespace kube {

enum class PrintStyle : std::uint8_t { Line, Pretty, Yaml };

/// The object as text, without its secrets.
std::string printed(const TypeInfo& type, const void* object, PrintStyle style = PrintStyle::Line);
std::string printed(const Value& value, PrintStyle style = PrintStyle::Line);
std::string printed(const AnyObject& object, PrintStyle style = PrintStyle::Line);
template <Described T>
std::string printed(const T& object, PrintStyle style = PrintStyle::Line) {
  return printed(TypeOf<T>::info, &object, style);
}

/// For debuggers, which cannot call templates: an object as YAML, or the reason why there is none.
/// Valid until the thread's next call.
const char* debugText(const TypeInfo& type, const void* object) noexcept;
const char* debugText(const AnyObject& object) noexcept;
const char* debugText(const Value& value) noexcept;

namespace printing {

/// Exactly these types: nearly everything converts to a Value.
template <class T>
concept Printable = Described<T> || std::same_as<T, Value> || std::same_as<T, AnyObject>;

std::ostream& print(std::ostream& out, std::string_view text);

template <Printable T>
std::ostream& operator<<(std::ostream& out, const T& object) {
  return print(out, printed(object));
}

/// Reads the style ("y", "p" or nothing) and writes the object.
struct Formatter {
  constexpr auto parse(fmt::format_parse_context& context) {
    auto at = context.begin();
    if (at != context.end() && (*at == 'y' || *at == 'p')) {
      style = *at++ == 'y' ? PrintStyle::Yaml : PrintStyle::Pretty;
    }
    if (at != context.end() && *at != '}') wrongStyle();
    return at;
  }

  PrintStyle style = PrintStyle::Line;

 protected:
  static fmt::format_context::iterator write(std::string_view text, fmt::format_context& context);

 private:
  [[noreturn]] static void wrongStyle();  // not constexpr: a wrong style does not compile
};

}  // namespace printing

// The compiler looks for operator<< in the namespace of the printed type.
using printing::operator<<;
#define KUBE_DETAIL_PRINTS(group) \
  namespace group {               \
  using printing::operator<<;     \
  }
KUBE_DETAIL_PRINTS(admissionregistrationv1)
KUBE_DETAIL_PRINTS(admissionregistrationv1alpha1)
KUBE_DETAIL_PRINTS(admissionregistrationv1beta1)
KUBE_DETAIL_PRINTS(admissionv1)
KUBE_DETAIL_PRINTS(admissionv1beta1)
KUBE_DETAIL_PRINTS(apidiscoveryv2)
KUBE_DETAIL_PRINTS(apidiscoveryv2beta1)
KUBE_DETAIL_PRINTS(apiextensionsv1)
KUBE_DETAIL_PRINTS(apiextensionsv1beta1)
KUBE_DETAIL_PRINTS(apiregistrationv1)
KUBE_DETAIL_PRINTS(apiregistrationv1beta1)
KUBE_DETAIL_PRINTS(apiserverinternalv1alpha1)
KUBE_DETAIL_PRINTS(appsv1)
KUBE_DETAIL_PRINTS(appsv1beta1)
KUBE_DETAIL_PRINTS(appsv1beta2)
KUBE_DETAIL_PRINTS(authenticationv1)
KUBE_DETAIL_PRINTS(authenticationv1alpha1)
KUBE_DETAIL_PRINTS(authenticationv1beta1)
KUBE_DETAIL_PRINTS(authorizationv1)
KUBE_DETAIL_PRINTS(authorizationv1beta1)
KUBE_DETAIL_PRINTS(autoscalingv1)
KUBE_DETAIL_PRINTS(autoscalingv2)
KUBE_DETAIL_PRINTS(autoscalingv2beta1)
KUBE_DETAIL_PRINTS(autoscalingv2beta2)
KUBE_DETAIL_PRINTS(batchv1)
KUBE_DETAIL_PRINTS(batchv1beta1)
KUBE_DETAIL_PRINTS(batchv2alpha1)
KUBE_DETAIL_PRINTS(certificatesv1)
KUBE_DETAIL_PRINTS(certificatesv1alpha1)
KUBE_DETAIL_PRINTS(certificatesv1beta1)
KUBE_DETAIL_PRINTS(coordinationv1)
KUBE_DETAIL_PRINTS(coordinationv1alpha1)
KUBE_DETAIL_PRINTS(coordinationv1alpha2)
KUBE_DETAIL_PRINTS(coordinationv1beta1)
KUBE_DETAIL_PRINTS(corev1)
KUBE_DETAIL_PRINTS(discoveryv1)
KUBE_DETAIL_PRINTS(discoveryv1alpha1)
KUBE_DETAIL_PRINTS(discoveryv1beta1)
KUBE_DETAIL_PRINTS(eventsv1)
KUBE_DETAIL_PRINTS(eventsv1beta1)
KUBE_DETAIL_PRINTS(extensionsv1beta1)
KUBE_DETAIL_PRINTS(flowcontrolv1)
KUBE_DETAIL_PRINTS(flowcontrolv1alpha1)
KUBE_DETAIL_PRINTS(flowcontrolv1beta1)
KUBE_DETAIL_PRINTS(flowcontrolv1beta2)
KUBE_DETAIL_PRINTS(flowcontrolv1beta3)
KUBE_DETAIL_PRINTS(imagepolicyv1alpha1)
KUBE_DETAIL_PRINTS(lifecyclev1alpha1)
KUBE_DETAIL_PRINTS(metav1)
KUBE_DETAIL_PRINTS(metav1beta1)
KUBE_DETAIL_PRINTS(metricsv1)
KUBE_DETAIL_PRINTS(metricsv1alpha1)
KUBE_DETAIL_PRINTS(metricsv1beta1)
KUBE_DETAIL_PRINTS(networkingv1)
KUBE_DETAIL_PRINTS(networkingv1alpha1)
KUBE_DETAIL_PRINTS(networkingv1beta1)
KUBE_DETAIL_PRINTS(nodev1)
KUBE_DETAIL_PRINTS(nodev1alpha1)
KUBE_DETAIL_PRINTS(nodev1beta1)
KUBE_DETAIL_PRINTS(policyv1)
KUBE_DETAIL_PRINTS(policyv1beta1)
KUBE_DETAIL_PRINTS(rbacv1)
KUBE_DETAIL_PRINTS(rbacv1alpha1)
KUBE_DETAIL_PRINTS(rbacv1beta1)
KUBE_DETAIL_PRINTS(resourcev1)
KUBE_DETAIL_PRINTS(resourcev1alpha1)
KUBE_DETAIL_PRINTS(resourcev1alpha2)
KUBE_DETAIL_PRINTS(resourcev1alpha3)
KUBE_DETAIL_PRINTS(resourcev1beta1)
KUBE_DETAIL_PRINTS(resourcev1beta2)
KUBE_DETAIL_PRINTS(schedulingv1)
KUBE_DETAIL_PRINTS(schedulingv1alpha1)
KUBE_DETAIL_PRINTS(schedulingv1alpha2)
KUBE_DETAIL_PRINTS(schedulingv1alpha3)
KUBE_DETAIL_PRINTS(schedulingv1beta1)
KUBE_DETAIL_PRINTS(storagemigrationv1)
KUBE_DETAIL_PRINTS(storagemigrationv1alpha1)
KUBE_DETAIL_PRINTS(storagemigrationv1beta1)
KUBE_DETAIL_PRINTS(storagev1)
KUBE_DETAIL_PRINTS(storagev1alpha1)
KUBE_DETAIL_PRINTS(storagev1beta1)
#undef KUBE_DETAIL_PRINTS

}  // namespace kube

// For types described elsewhere: the compiler searches the global namespace last.
using kube::printing::operator<<;

template <kube::printing::Printable T>
struct fmt::formatter<T> : kube::printing::Formatter {
  auto format(const T& object, fmt::format_context& context) const {
    return write(kube::printed(object, style), context);
  }
};
