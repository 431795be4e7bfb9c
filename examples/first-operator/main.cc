// An operator that runs each Website as a Deployment.
#include <kube/kube.h>

#include <iostream>

#include "shop/v1_client.h"

using kube::appsv1::Deployment;
using shopv1::Website;

namespace {

// Sets the fields that the operator owns. Fields that others set stay as they are.
void complete(Deployment& deployment, const Website& website) {
  const kube::Map<kube::String> labels = {{"website", website.metadata.name}};
  deployment.spec->replicas = website.spec->replicas;
  deployment.spec->selector->matchLabels = labels;
  deployment.spec->template_->metadata.labels = labels;
  auto& containers = deployment.spec->template_->spec->containers;
  if (containers.empty()) containers.push_back({.name = "web"});
  containers[0].image = website.spec->image;
  kube::setControllerReference(website, deployment);
}

void reconcile(const kube::Clientset& clients, Website website, const std::stop_token& stop) {
  const kube::String& space = website.metadata.namespace_;
  Deployment deployment;
  deployment.metadata.name = website.metadata.name;
  deployment.metadata.namespace_ = space;
  kube::createOrUpdate(
      clients.appsV1().deployments(space), deployment, [&] { complete(deployment, website); },
      stop);

  const auto message = fmt::format("{} of {} pods are ready", deployment.status->readyReplicas,
                                   deployment.spec->replicas.value_or(1));
  if (std::as_const(website).status->message == message) return;
  website.status->message = message;
  shopv1::ShopV1Client(clients).websites(space).updateStatus(website, {}, stop);
}

}  // namespace

int main() {
  try {
    kube::Manager manager(kube::Config::load(), {.leaderElection = {.name = "website-operator"}});
    const kube::Clientset& clients = manager.clients();
    const std::stop_token stop = kube::signalStop();
    kube::ensureCrd(clients, kube::crd<Website>(), {}, stop);

    auto& websites = manager.controller<Website>("websites");
    websites.owns<Deployment>().reconcile(
        [&](const kube::ObjectKey& key, const std::stop_token& ending) -> kube::Requeue {
          const auto website = websites.lister().get(key);
          if (website == nullptr) return {};  // the server deletes its Deployment
          std::cout << key << std::endl;
          reconcile(clients, *website, ending);
          return {};
        });
    manager.run(stop);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
