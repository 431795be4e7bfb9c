// Devices of resource.k8s.io: v1beta1 and v1alpha3 keep the parts of a request in the request
// itself, and those of a device in `basic`. v1beta2 equals v1.
#include "kube/api/conversions.h"
#include "kube/api/resource/v1.h"
#include "kube/api/resource/v1alpha3.h"
#include "kube/api/resource/v1beta1.h"
#include "kube/base/error.h"
#include "kube/meta/scheme.h"

namespace kube::detail {

namespace {

namespace v1 = resourcev1;
namespace v1alpha3 = resourcev1alpha3;

// A request is for exactly one kind of device, unless it lists alternatives.
template <class Old>
void addRequests(Scheme& scheme) {
  scheme.addConversion<Old, v1::DeviceRequest>(
      [](const Old& in, v1::DeviceRequest& out, ConversionScope& scope) {
        Old exactly = in;
        // Not {}: in a template, clang 14 then does not destroy the old value.
        exactly.name = String();
        exactly.firstAvailable = decltype(exactly.firstAvailable)();
        out.name = in.name;
        scope.convert(in.firstAvailable, out.firstAvailable);
        if (exactly != Old()) scope.defaultConvert(exactly, *out.exactly);
      });
  scheme.addConversion<v1::DeviceRequest, Old>(
      [](const v1::DeviceRequest& in, Old& out, ConversionScope& scope) {
        scope.defaultConvert(in, out, {.handled = {"exactly"}});
        if (in.exactly) scope.defaultConvert(*in.exactly, out);
      });
}

template <class Old>
void addDevices(Scheme& scheme) {
  scheme.addConversion<Old, v1::Device>([](const Old& in, v1::Device& out, ConversionScope& scope) {
    out.name = in.name;
    if (in.basic) scope.convert(*in.basic, out);
  });
  scheme.addConversion<v1::Device, Old>([](const v1::Device& in, Old& out, ConversionScope& scope) {
    v1::Device basic = in;
    basic.name = String();  // not {}: see above
    out.name = in.name;
    scope.convert(basic, out.basic.emplace());
  });
}

// A capacity is a plain quantity in v1alpha3.
void addCapacities(Scheme& scheme) {
  scheme.addConversion<v1alpha3::BasicDevice, v1::Device>(
      [](const v1alpha3::BasicDevice& in, v1::Device& out, ConversionScope& scope) {
        scope.defaultConvert(in, out, {.handled = {"capacity"}});
        for (const auto& [name, value] : in.capacity) {
          out.capacity.insert_or_assign(name, v1::DeviceCapacity{.value = value});
        }
      });
  scheme.addConversion<v1::Device, v1alpha3::BasicDevice>(
      [](const v1::Device& in, v1alpha3::BasicDevice& out, ConversionScope& scope) {
        scope.defaultConvert(in, out, {.handled = {"capacity"}});
        for (const auto& [name, capacity] : in.capacity) {
          if (capacity.requestPolicy)
            throw Error("v1alpha3 has no policy for requests of a capacity");
          out.capacity.insert_or_assign(name, capacity.value);
        }
      });
}

}  // namespace

void addResourceConversions(Scheme& scheme) {
  for (const char* kind : {"ResourceClaim", "ResourceClaimTemplate", "ResourceSlice"}) {
    scheme.setHub({"resource.k8s.io", kind}, "v1");
  }
  addRequests<resourcev1beta1::DeviceRequest>(scheme);
  addRequests<v1alpha3::DeviceRequest>(scheme);
  addDevices<resourcev1beta1::Device>(scheme);
  addDevices<v1alpha3::Device>(scheme);
  addCapacities(scheme);
}

}  // namespace kube::detail
