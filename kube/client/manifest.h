// Manifests: applies a text of YAML documents (or JSON) to a server, as kubectl create, apply and
// delete do with a file.
//
//   auto mapper = kube::discoveryRestMapper(kube::DiscoveryClient(rest));
//   auto report = kube::applyFromYaml(kube::DynamicClient(rest), *mapper, text,
//                                     {.namespace_ = "book", .fieldManager = "shop"});
//   for (const auto& result : report.results) std::cout << toString(result) << '\n';
//   report.throwIfFailed();                   // deployment.apps/web configured, ...
//
// The whole text is read and checked before anything is sent: every document must be an object with
// apiVersion, kind and name, of a kind that the server has. One ManifestError lists all problems,
// with document numbers and lines. Then the objects are sent in the order of the text (removals in
// the opposite order).
//
// A list stands for its items. An object without a namespace gets that of the options, unless its
// kind has none. A custom resource may follow its CustomResourceDefinition: it is sent as soon as
// the server serves it, and the mapper is reset. A dry run skips it, because it does not create the
// definition.
//
// The failure of an object is not thrown but reported in its result. The remaining objects are then
// skipped, unless the options say to continue. An object that exists already, or is removed
// already, is no failure.
//
// With the awaitable form of a mapper they are tasks:
//
//   auto report = co_await kube::applyFromYaml(dynamic, mapper->async(), text, options);
//
// Errors: ManifestError before anything is sent, and errors of the mapper. CanceledError when the
// stop token is triggered; `progress` has received the results until then.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <iosfwd>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/error.h"
#include "kube/base/task.h"
#include "kube/client/api_discovery/discovery_rest_mapper.h"
#include "kube/client/dynamic_client.h"
#include "kube/meta/gvk.h"
#include "kube/meta/mapping/rest_mapper.h"
#include "kube/meta/unstructured.h"

namespace kube {

enum class ManifestOutcome : unsigned char {
  Created,
  AlreadyExists,  // was left unchanged
  Configured,     // applied, which changed it
  Unchanged,      // applied, which changed managedFields at most
  Applied,        // applied; it is not known whether that changed it
  Removed,
  Missing,  // to be removed, but does not exist
  Failed,
  Skipped,  // not sent
};

/// "created", "already exists", "configured", "unchanged", "serverside-applied", "deleted", "not
/// found", "failed" or "skipped".
std::string_view toString(ManifestOutcome outcome) noexcept;
std::ostream& operator<<(std::ostream& out, ManifestOutcome outcome);

/// The result for one object.
struct ManifestResult {
  std::size_t document = 0;  // in the text, from 1; empty ones count
  std::size_t line = 0;      // where the object begins
  RestMapping mapping = {};
  String namespace_ = {};  // empty if its kind has none
  String name = {};        // if the server generates it: generateName until then
  ManifestOutcome outcome = ManifestOutcome::Skipped;
  bool dryRun = false;
  Unstructured object = {};       // as the server has it; null if it did not return it
  std::exception_ptr error = {};  // of a failure
  std::string message = {};       // of a failure, or why it was skipped
};

/// "deployment.apps/web configured", followed by the message of a failure.
std::string toString(const ManifestResult& result);

struct [[nodiscard]] ManifestReport {
  /// A result for each object, in the order in which they were sent, or would have been sent.
  std::vector<ManifestResult> results = {};

  /// Returns whether nothing has failed.
  bool ok() const noexcept;
  /// Throws the error of the first failure.
  void throwIfFailed() const;
};

struct ManifestOptions {
  String namespace_ = "default";  // for objects without one
  bool dryRun = false;            // the server checks everything and stores nothing
  String fieldManager = "kubexx";
  /// The server's treatment of unknown fields: "Ignore", "Warn" or "Strict"; empty for its default.
  /// With "Strict", duplicate keys in the text are an error, too.
  String fieldValidation = {};
  bool force = false;  // applying: takes over fields that other managers own
  bool continueOnError = false;
  String propagationPolicy = "Background";  // removing: for dependents
  /// The time that a CustomResourceDefinition of the text may take until it is served.
  std::chrono::nanoseconds definitionTimeout = std::chrono::minutes{1};
  /// Called with each result as soon as it is known, except for objects that are skipped after a
  /// failure. An exception from it ends the call.
  std::function<void(const ManifestResult&)> progress = {};
};

// The awaitable forms copy their arguments. Their options default to ManifestOptions() and not to
// {}, which g++ 12 would destroy twice in a co_await expression.

/// Creates the objects. An existing object is left unchanged and is no failure, so that a program
/// may call this at every start. A program that has to be the first one checks for the outcome
/// ManifestOutcome::AlreadyExists. (`kubexx create`, like kubectl create, fails for it.)
ManifestReport createFromYaml(const DynamicClient& client, const RestMapper& mapper,
                              std::string_view text, const ManifestOptions& options = {},
                              const std::stop_token& stop = {});
Task<ManifestReport> createFromYaml(const DynamicClient& client,
                                    const AsyncDiscoveryRestMapper& mapper, std::string_view text,
                                    const ManifestOptions& options = ManifestOptions());
/// Server-side apply.
ManifestReport applyFromYaml(const DynamicClient& client, const RestMapper& mapper,
                             std::string_view text, const ManifestOptions& options = {},
                             const std::stop_token& stop = {});
Task<ManifestReport> applyFromYaml(const DynamicClient& client,
                                   const AsyncDiscoveryRestMapper& mapper, std::string_view text,
                                   const ManifestOptions& options = ManifestOptions());
ManifestReport removeFromYaml(const DynamicClient& client, const RestMapper& mapper,
                              std::string_view text, const ManifestOptions& options = {},
                              const std::stop_token& stop = {});
Task<ManifestReport> removeFromYaml(const DynamicClient& client,
                                    const AsyncDiscoveryRestMapper& mapper, std::string_view text,
                                    const ManifestOptions& options = ManifestOptions());

/// The problems of a text that cannot be used.
class ManifestError : public Error {
 public:
  struct Problem {
    std::size_t document = 0;
    std::size_t line = 0;
    std::string message = {};
  };

  explicit ManifestError(std::vector<Problem> problems);
  ~ManifestError() override;

  const std::vector<Problem>& problems() const noexcept { return *problems_; }

 private:
  std::shared_ptr<const std::vector<Problem>> problems_;
};

}  // namespace kube
