// Manifests: a text of YAML documents (or JSON) made true on a server, as kubectl create, apply and
// delete do with a file.
//
//   auto mapper = kube::discoveryRestMapper(kube::DiscoveryClient(rest));
//   auto report = kube::applyFromYaml(kube::DynamicClient(rest), *mapper, text,
//                                     {.namespace_ = "book", .fieldManager = "shop"});
//   for (const auto& result : report.results) std::cout << toString(result) << '\n';
//   report.throwIfFailed();                   // deployment.apps/web configured, ...
//
// The whole text is read and checked before anything is sent: every document must be an object with
// apiVersion, kind and name, of a kind that the server has. Whatever is wrong, all of it, is told
// by one ManifestError with the documents' numbers and lines. Then the objects are sent in the
// order of the text (to be removed: in the opposite one).
//
// Lists stand for their items. An object without a namespace gets that of the options, unless its
// kind is in none. A custom resource may follow its CustomResourceDefinition: it is sent as soon as
// the server serves it, and the mapper is reset. In a dry run there is no such moment, and it is
// skipped.
//
// A failure of one object is not thrown but told in its result. The rest is then skipped, unless
// the options say to go on. That an object is there already, or gone already, is no failure.
//
// Errors: ManifestError before anything is done, and what the mapper throws. CanceledError when the
// stop token is triggered; `progress` has told what was done until then.
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
#include "kube/client/dynamic_client.h"
#include "kube/meta/gvk.h"
#include "kube/meta/mapping/rest_mapper.h"
#include "kube/meta/unstructured.h"

namespace kube {

enum class ManifestOutcome : unsigned char {
  Created,
  AlreadyExists,  // and was left as it is
  Configured,     // applied, and changed by that
  Unchanged,      // applied, and was so before, but for who manages its fields
  Applied,        // applied; whether it is new or changed could not be seen
  Removed,
  Missing,  // was to be removed, and is not there
  Failed,
  Skipped,  // not tried
};

/// "created", "already exists", "configured", "unchanged", "serverside-applied", "deleted", "not
/// found", "failed" or "skipped".
std::string_view toString(ManifestOutcome outcome) noexcept;
std::ostream& operator<<(std::ostream& out, ManifestOutcome outcome);

/// What became of one object.
struct ManifestResult {
  std::size_t document = 0;  // in the text, from 1; empty ones count
  std::size_t line = 0;      // where the object begins
  RestMapping mapping = {};
  String namespace_ = {};  // empty if its kind is in none
  String name = {};        // where the server makes it up, that; until then its beginning
  ManifestOutcome outcome = ManifestOutcome::Skipped;
  bool dryRun = false;
  Unstructured object = {};       // as the server has it; null where it did not say
  std::exception_ptr error = {};  // of a failure
  std::string message = {};       // of a failure, or why it was skipped
};

/// "deployment.apps/web configured", with the message of a failure behind.
std::string toString(const ManifestResult& result);

struct [[nodiscard]] ManifestReport {
  /// One for each object, in the order in which they were (or would have been) sent.
  std::vector<ManifestResult> results = {};

  /// Whether nothing has failed.
  bool ok() const noexcept;
  /// Throws the first failure's error.
  void throwIfFailed() const;
};

struct ManifestOptions {
  String namespace_ = "default";  // of objects that name none
  bool dryRun = false;            // the server checks everything and keeps nothing
  String fieldManager = "kubexx";
  /// What the server does about fields that it does not know: "Ignore", "Warn" or "Strict"; empty
  /// for its default. With "Strict", keys that stand twice in the text are an error, too.
  String fieldValidation = {};
  bool force = false;  // applying: takes fields over from other managers, where that is a conflict
  bool continueOnError = false;
  String propagationPolicy = "Background";  // removing: what becomes of dependents
  /// How long a CustomResourceDefinition of the text may take until it is served.
  std::chrono::nanoseconds definitionTimeout = std::chrono::minutes{1};
  /// Called with each result as soon as it is there, but for what is skipped after a failure. What
  /// it throws ends the call.
  std::function<void(const ManifestResult&)> progress = {};
};

/// What is there already stays as it is, and that is no failure: a program may call this at every
/// start. Who has to be the first looks for ManifestOutcome::AlreadyExists, which the result of
/// each such object is. (`kubexx create`, as kubectl's, fails for it.)
ManifestReport createFromYaml(const DynamicClient& client, const RestMapper& mapper,
                              std::string_view text, const ManifestOptions& options = {},
                              const std::stop_token& stop = {});
/// Server-side apply.
ManifestReport applyFromYaml(const DynamicClient& client, const RestMapper& mapper,
                             std::string_view text, const ManifestOptions& options = {},
                             const std::stop_token& stop = {});
ManifestReport removeFromYaml(const DynamicClient& client, const RestMapper& mapper,
                              std::string_view text, const ManifestOptions& options = {},
                              const std::stop_token& stop = {});

/// A text that cannot be used.
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
