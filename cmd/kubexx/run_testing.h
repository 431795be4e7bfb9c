// Runs the program in the test's process, against a server of its own.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "kube/testing/api_server.h"

namespace kube::cmd {

class Invocation;

struct Ran {
  int code = 0;
  std::string out = {}, err = {};
};

struct RunOptions {
  std::string input = {};
  bool terminal = false;  // the output goes to a terminal
  /// Called before the program runs.
  std::function<void(Invocation&)> prepare = {};
  /// Called with all output so far whenever the program flushes it.
  std::function<void(const std::string&)> onFlush = {};
};

Ran runKubexx(const std::vector<std::string>& arguments, const RunOptions& options = {});

/// A fixture with a server for each test, and with a folder for its kubeconfig and cache, which is
/// removed at the end.
class CliTest : public ::testing::Test {
 protected:
  /// The server's clock; null: the real clock.
  explicit CliTest(Clock* clock = nullptr);
  ~CliTest() override;

  /// Runs the program with the server's kubeconfig.
  Ran run(std::vector<std::string> arguments, const RunOptions& options = {}) const;
  /// Runs the program with words that are separated by spaces. Returns stdout, or after a failure
  /// the exit code and all output.
  std::string out(const std::string& words, const std::string& input = {}) const;

  std::string file(const std::string& name, const std::string& text) const;

  std::string folder_;
  std::unique_ptr<testing::ApiServer> server_;
};

std::vector<std::string> wordsOf(const std::string& text);

inline constexpr const char* kShop = R"(apiVersion: v1
kind: ServiceAccount
metadata: {name: default}
---
apiVersion: v1
kind: Pod
metadata: {name: web-1, labels: {app: web, tier: front}}
spec:
  automountServiceAccountToken: false
  containers: [{name: web, image: "nginx:1.27"}, {name: side, image: busybox}]
---
apiVersion: v1
kind: Pod
metadata: {name: db-0, labels: {app: db}, annotations: {note: "a < b & c"}}
spec:
  automountServiceAccountToken: false
  nodeName: node-1
  containers: [{name: db, image: "postgres:16"}]
---
apiVersion: v1
kind: Service
metadata: {name: web, labels: {app: web}}
spec:
  clusterIP: 10.0.0.17
  selector: {app: web}
  ports: [{name: http, port: 80, targetPort: 8080}, {name: https, port: 443}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "nginx:1.27", ports: [{containerPort: 80}]}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  replicas: 1
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: db, image: "postgres:16"}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {colour: "blue", "text.txt": "line one\nline two\n", number: "007", empty: ""}
---
apiVersion: v1
kind: Secret
metadata: {name: password}
type: Opaque
stringData: {user: jane}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec:
  schedule: "0 3 * * *"
  jobTemplate:
    spec:
      template:
        spec: {restartPolicy: Never, containers: [{name: job, image: busybox}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: job, image: busybox}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: shop}
spec:
  rules:
  - host: shop.example.com
    http:
      paths:
      - {path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}
---
apiVersion: v1
kind: Node
metadata: {name: node-1, labels: {zone: a}}
)";

inline constexpr const char* kBookDefinition = R"(apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: books.shop.example.com}
spec:
  group: shop.example.com
  scope: Namespaced
  names: {plural: books, singular: book, kind: Book, shortNames: [bk], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              pages: {type: integer}
              title: {type: string, description: "What is printed on the cover."}
    additionalPrinterColumns:
    - {name: Pages, type: integer, jsonPath: .spec.pages}
    - {name: Title, type: string, jsonPath: .spec.title, priority: 1}
)";

inline constexpr const char* kBooks = R"(apiVersion: shop.example.com/v1
kind: Book
metadata: {name: long}
spec: {pages: 1200, title: War}
---
apiVersion: shop.example.com/v1
kind: Book
metadata: {name: short}
spec: {}
)";

}  // namespace kube::cmd
