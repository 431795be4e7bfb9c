// Requests that can be seen: middleware, a token from a function, traces, and logs as JSON.
//
//   observability COLLECTOR        such as http://localhost:4318

#include <chrono>
#include <iostream>
#include <memory>
#include <string>

#include "kube/base/log.h"
#include "kube/client/core/v1.h"
#include "kube/http/otlp_tracer.h"
#include "kube/rest/warnings.h"

namespace {

kube::Task<> addTenant(kube::HttpAttempt& attempt, kube::NextMiddleware next) {
  attempt.request.headers.set("X-Tenant", "blue");
  co_await next();
  if (attempt.answer.status == 403) std::cerr << attempt.doing << ": not for this tenant\n";
}

kube::Task<kube::IssuedToken> token() {
  co_return kube::IssuedToken{.token = "secret",
                              .expires = std::chrono::system_clock::now() + std::chrono::hours(1)};
}

}  // namespace

int main(int argc, char** argv) {
  try {
    kube::setLogSink(kube::jsonLogSink());
    kube::setLogLevel(kube::LogLevel::Debug);

    kube::Config config = kube::Config::load().anonymous();
    config.tokenSource = token;
    config.middleware.push_back(addTenant);
    config.warningHandler = kube::eachWarningOnce();
    if (argc > 1) {
      config.tracer = std::make_shared<kube::OtlpTracer>(
          kube::OtlpOptions{.endpoint = argv[1], .serviceName = "observability"});
    }
    const kube::Clientset clients(config);

    const std::shared_ptr<kube::Span> sweep =
        config.tracer ? config.tracer->start("sweep", kube::SpanKind::Internal, nullptr) : nullptr;
    {
      const kube::SpanScope scope(sweep);  // the requests of this block are children of the span
      for (const auto& pod : clients.coreV1().pods("default").list().items) {
        std::cout << pod.metadata.name << '\n';
      }
    }
    std::cout << kube::defaultMetrics().text();
  } catch (const kube::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
