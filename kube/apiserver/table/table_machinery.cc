// The API server's own objects as rows of a table: API services, flow control, stored versions.
#include <fmt/core.h>

#include <tuple>
#include <vector>

#include "kube/api/apiregistration/v1.h"
#include "kube/api/apiserverinternal/v1alpha1.h"
#include "kube/api/flowcontrol/v1.h"
#include "kube/api/storagemigration/v1.h"
#include "kube/api/storagemigration/v1beta1.h"
#include "kube/apiserver/table/table_columns.h"
#include "kube/meta/conditions.h"
#include "kube/meta/gvk.h"

namespace kube::apiserver {

namespace {

using apiregistrationv1::APIService;
using apiserverinternalv1alpha1::StorageVersion;
using flowcontrolv1::FlowSchema;
using flowcontrolv1::PriorityLevelConfiguration;
using metav1::Status;

// --- API services.

std::string availability(const APIService& service) {
  const auto* available = findStatusCondition(service.status->conditions, "Available");
  if (available == nullptr) return "Unknown";
  if (available->status == kConditionTrue || available->reason.empty()) {
    return available->status.str();
  }
  return fmt::format("{} ({})", available->status, available->reason);
}

constexpr TableColumn kAPIServices[] = {
    nameColumn<APIService>(),
    text("Service", "the service that serves this part of the API",
         [](const APIService& object) {
           const auto& service = object.spec->service;
           return service ? fmt::format("{}/{}", service->namespace_, service->name) : "Local";
         }),
    text("Available", "whether it is served",
         [](const APIService& object) { return availability(object); }),
    ageColumn<APIService>(),
};

// --- Flow control.

constexpr TableColumn kFlowSchemas[] = {
    nameColumn<FlowSchema>(),
    text("PriorityLevel", "the priority level of its requests",
         [](const FlowSchema& schema) { return schema.spec->priorityLevelConfiguration->name; }),
    text("MatchingPrecedence", "its place among the schemas, lowest first",
         [](const FlowSchema& schema) { return schema.spec->matchingPrecedence; }),
    text("DistinguisherMethod", "what tells its flows apart",
         [](const FlowSchema& schema) {
           const auto& method = schema.spec->distinguisherMethod;
           return method ? method->type : String("<none>");
         }),
    ageColumn<FlowSchema>(),
    text("MissingPL", "whether its priority level is missing",
         [](const FlowSchema& schema) {
           const auto* dangling = findStatusCondition(schema.status->conditions, "Dangling");
           return dangling != nullptr ? dangling->status : String("?");
         }),
};

bool precedes(const void* a, const void* b) {
  const auto place = [](const void* object) {
    const auto& schema = *static_cast<const FlowSchema*>(object);
    return std::tuple(schema.spec->matchingPrecedence, schema.metadata.name.view());
  };
  return place(a) < place(b);
}

// A number of the level's queues, if it has any.
template <class Number>
Value ofQueues(const PriorityLevelConfiguration& level, Number number) {
  const auto& queuing = level.spec->limited->limitResponse->queuing;
  return queuing ? Value(number(*queuing)) : Value("<none>");
}

constexpr TableColumn kPriorityLevels[] = {
    nameColumn<PriorityLevelConfiguration>(),
    text("Type", "whether its requests are limited",
         [](const PriorityLevelConfiguration& level) { return level.spec->type; }),
    text("NominalConcurrencyShares", "its share of the requests that run at once",
         [](const PriorityLevelConfiguration& level) {
           const auto& limited = level.spec->limited;
           return limited ? Value(limited->nominalConcurrencyShares.value_or(30)) : Value("<none>");
         }),
    text("Queues", "how many queues there are",
         [](const PriorityLevelConfiguration& level) {
           return ofQueues(level, [](const auto& queuing) { return queuing.queues; });
         }),
    text("HandSize", "queues that a flow may use",
         [](const PriorityLevelConfiguration& level) {
           return ofQueues(level, [](const auto& queuing) { return queuing.handSize; });
         }),
    text("QueueLengthLimit", "requests that may wait in a queue",
         [](const PriorityLevelConfiguration& level) {
           return ofQueues(level, [](const auto& queuing) { return queuing.queueLengthLimit; });
         }),
    ageColumn<PriorityLevelConfiguration>(),
};

// --- Stored versions.

std::string versionsOf(const StorageVersion& storage) {
  std::vector<std::string> versions;
  for (const auto& server : storage.status->storageVersions) {
    versions.push_back(fmt::format("{}={}", server.apiServerID, server.encodingVersion));
  }
  const std::string out = firstOf(versions, 3);
  return out.empty() ? "<unset>" : out;
}

constexpr TableColumn kStorageVersions[] = {
    nameColumn<StorageVersion>(),
    text("CommonEncodingVersion", "the version that all servers store",
         [](const StorageVersion& storage) {
           return orElse(storage.status->commonEncodingVersion, "<unset>");
         }),
    text("StorageVersions", "the version that each server stores",
         [](const StorageVersion& storage) { return versionsOf(storage); }),
    ageColumn<StorageVersion>(),
};

template <class StorageVersionMigration>
std::string_view migrationStatus(const StorageVersionMigration& migration) {
  std::string_view status = "Unknown";
  for (const metav1::Condition& condition : migration.status->conditions) {
    if (condition.status != kConditionTrue) continue;
    for (const std::string_view state : {"Running", "Failed", "Succeeded"}) {
      if (condition.type == state) status = state;
    }
  }
  return status;
}

template <class StorageVersionMigration>
constexpr TableColumn kStorageVersionMigrations[] = {
    text("Name", "the object's name",
         [](const StorageVersionMigration& object) { return object.metadata.name; }),
    text("Resource", "what is migrated",
         [](const StorageVersionMigration& object) {
           const auto& resource = *object.spec->resource;
           return GroupResource{resource.group, resource.resource}.str();
         }),
    text("Status", "how far it is",
         [](const StorageVersionMigration& object) { return migrationStatus(object); }),
};

// --- Answers that are not objects.

constexpr TableColumn kStatuses[] = {
    text("Status", "Success or Failure", [](const Status& status) { return status.status; }),
    text("Reason", "why, in a word", [](const Status& status) { return status.reason; }),
    text("Message", "why, in a sentence", [](const Status& status) { return status.message; }),
};

constexpr KindTable kMachineryTables[] = {
    kindTable<APIService>(kAPIServices),
    {.type = &TypeOf<FlowSchema>::info, .columns = kFlowSchemas, .before = precedes},
    kindTable<PriorityLevelConfiguration>(kPriorityLevels),
    kindTable<StorageVersion>(kStorageVersions),
    kindTable<storagemigrationv1::StorageVersionMigration>(
        kStorageVersionMigrations<storagemigrationv1::StorageVersionMigration>),
    kindTable<storagemigrationv1beta1::StorageVersionMigration>(
        kStorageVersionMigrations<storagemigrationv1beta1::StorageVersionMigration>),
    kindTable<Status>(kStatuses),
};

}  // namespace

std::span<const KindTable> machineryTables() { return kMachineryTables; }

}  // namespace kube::apiserver
