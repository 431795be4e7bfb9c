// Watches the objects of any resource for a minute, without a C++ type for them.
//
//   dynamic_informer RESOURCE VERSION [GROUP]      dynamic_informer networks v1 samplecrd.k8s.io

#include <chrono>
#include <iostream>

#include "kube/cache/resource_informer_factory.h"
#include "kube/codec/json.h"

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  using Ptr = std::shared_ptr<const kube::Unstructured>;
  if (argc < 3) {
    std::cerr << "usage: dynamic_informer RESOURCE VERSION [GROUP]\n";
    return 2;
  }
  try {
    const kube::DynamicClient client(kube::Config::load());
    kube::DynamicInformerFactory factory(client);
    const auto objects = factory.forResource({argc > 3 ? argv[3] : "", argv[2], argv[1]});
    objects.addHandler({
        .onAdd = [](Ptr object) { std::cout << "+ " << kube::keyOf(*object).str() << std::endl; },
        .onUpdate =
            [](Ptr, Ptr after) {
              std::cout << "~ " << kube::keyOf(*after).str() << ' '
                        << kube::toJson(after->object["status"]) << std::endl;
            },
        .onDelete = [](auto last) { std::cout << "- " << last.key.str() << std::endl; },
    });
    factory.start();
    factory.waitForSync();
    kube::realClock().sleepFor(60s);
  } catch (const kube::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
