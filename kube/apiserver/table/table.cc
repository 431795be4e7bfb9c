#include "kube/apiserver/table/table.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "kube/api/autoscaling/v1.h"
#include "kube/api/autoscaling/v2.h"
#include "kube/api/core/v1.h"
#include "kube/api/events/v1.h"
#include "kube/api/scheme.h"
#include "kube/apiserver/table/table_columns.h"
#include "kube/base/error.h"
#include "kube/codec/json.h"
#include "kube/codec/jsonpath/json_path.h"
#include "kube/meta/unstructured.h"

namespace kube::apiserver {

namespace {

// A CRD may contain any path; a cell may take this many steps of one.
constexpr std::size_t kMaxVisited = 100'000;

const KindTable* findTable(const TypeInfo& type) {
  static const auto* const tables = [] {
    auto* all = new std::unordered_map<const TypeInfo*, const KindTable*>();
    for (const auto& subject :
         {podTables(), nodeTables(), coreTables(), eventTables(), serviceTables(), workloadTables(),
          autoscalingTables(), storageTables(), accessTables(), admissionTables(),
          schedulingTables(), machineryTables(), lifecycleTables()}) {
      for (const KindTable& table : subject) all->emplace(table.type, &table);
    }
    return all;
  }();
  const auto at = tables->find(&type);
  return at != tables->end() ? at->second : nullptr;
}

// Kinds that have the same table as another version, or as a kind of another group.
const TypeInfo& shownAs(const TypeInfo& type) {
  if (&type == &TypeOf<autoscalingv1::HorizontalPodAutoscaler>::info) {
    return TypeOf<autoscalingv2::HorizontalPodAutoscaler>::info;
  }
  if (&type == &TypeOf<eventsv1::Event>::info) return TypeOf<corev1::Event>::info;
  return type;
}

RawExtension raw(const Value& cell) { return {toJson(cell)}; }

std::string metaApiVersion(std::string_view version) {
  return "meta.k8s.io/" + std::string(version);
}

// The metadata of any object.
struct Identity {
  String name;
  String resourceVersion;
  Time created;

  explicit Identity(const AnyObject& object) {
    if (const metav1::ObjectMeta* meta = object.objectMeta()) {
      name = meta->name;
      resourceVersion = meta->resourceVersion;
      created = meta->creationTimestamp;
    } else if (const auto* dynamic = object.as<Unstructured>()) {
      name = dynamic->name();
      resourceVersion = dynamic->resourceVersion();
      created = dynamic->creationTimestamp();
    }
  }
};

metav1::TableColumnDefinition definition(const TableColumn& column) {
  return {.name = column.name,
          .type = column.type,
          .format = column.format,
          .description = column.description,
          .priority = column.priority};
}

metav1::TableColumnDefinition nameDefinition() {
  return definition(nameColumn<metav1::PartialObjectMetadata>());
}

// A column of a custom resource.
struct CustomColumn {
  JsonPath path;
  String type;

  Value cell(const AnyObject& object, Clock::WallTime now) const;
};

Value dateCell(const Value& found, Clock::WallTime now) {
  const std::string_view text = found.asString();
  Time time;
  if (!text.empty() && text != "null" && !Time::tryParse(text, time)) return "<invalid>";
  return detail::humanAge(time, now);
}

Value CustomColumn::cell(const AnyObject& object, Clock::WallTime now) const {
  std::vector<Value> results;
  try {
    results = path.find(object, {.allowMissingKeys = true, .maxVisited = kMaxVisited});
  } catch (const Error&) {
    return nullptr;  // the path does not fit the object, so it has no value
  }
  if (results.empty() || results.front().isNull()) return nullptr;
  const Value& found = results.front();
  if (type == "string") return found.isString() ? found : Value(toJson(found));
  if (type == "integer" && found.isNumber()) return found.asInt();
  if (type == "number" && found.isNumber()) return found.asDouble();
  if (type == "boolean" && found.isBool()) return found;
  if (type == "date" && found.isString()) return dateCell(found, now);
  return nullptr;
}

std::vector<CustomColumn> parseColumns(
    const List<apiextensionsv1::CustomResourceColumnDefinition>& columns) {
  std::vector<CustomColumn> parsed;
  for (const auto& column : columns) {
    try {
      parsed.push_back({JsonPath::parse("{" + column.jsonPath.str() + "}"), column.type});
    } catch (const DecodeError& error) {
      throw DecodeError({.path = "additionalPrinterColumns[" + column.name.str() + "].jsonPath"},
                        "\"" + column.jsonPath.str() + "\": " + error.reason());
    }
  }
  return parsed;
}

}  // namespace

struct TableFormat::State {
  List<metav1::TableColumnDefinition> columns;
  const KindTable* kind = nullptr;
  bool custom = false;  // shows name and `customColumns`; without custom and kind: name and age
  std::vector<CustomColumn> customColumns;

  std::vector<Value> cells(const AnyObject& object, Clock::WallTime now) const;
};

TableFormat::TableFormat(const TypeInfo& type) {
  auto state = std::make_shared<State>();
  state->kind = findTable(shownAs(type));
  if (state->kind != nullptr) {
    for (const TableColumn& column : state->kind->columns) {
      state->columns.push_back(definition(column));
    }
  } else {
    state->columns = {nameDefinition(),
                      {.name = "Created At",
                       .type = "date",
                       .description = "the time at which the object was created"}};
  }
  state_ = std::move(state);
}

TableFormat::TableFormat(const List<apiextensionsv1::CustomResourceColumnDefinition>& columns) {
  List<apiextensionsv1::CustomResourceColumnDefinition> wanted = columns;
  if (wanted.empty()) {
    wanted = {{.name = "Age",
               .type = "date",
               .description = "the time since the object was created",
               .jsonPath = ".metadata.creationTimestamp"}};
  }
  auto state = std::make_shared<State>();
  state->custom = true;
  state->customColumns = parseColumns(wanted);
  state->columns.push_back(nameDefinition());
  for (const auto& column : std::as_const(wanted)) {
    state->columns.push_back({.name = column.name,
                              .type = column.type,
                              .format = column.format,
                              .description = column.description.empty()
                                                 ? String("the value at " + column.jsonPath.str())
                                                 : column.description,
                              .priority = column.priority});
  }
  state_ = std::move(state);
}

TableFormat::~TableFormat() = default;
TableFormat::TableFormat(const TableFormat&) noexcept = default;
TableFormat& TableFormat::operator=(const TableFormat&) noexcept = default;

const List<metav1::TableColumnDefinition>& TableFormat::columns() const noexcept {
  return state_->columns;
}

std::vector<Value> TableFormat::State::cells(const AnyObject& object, Clock::WallTime now) const {
  std::vector<Value> cells;
  cells.reserve(columns.size());
  if (kind != nullptr) {
    for (const TableColumn& column : kind->columns) {
      cells.push_back(column.cell(object.data(), now));
    }
    return cells;
  }
  const Identity identity(object);
  cells.emplace_back(identity.name);
  if (!custom) cells.emplace_back(identity.created.str());
  for (const CustomColumn& column : customColumns) cells.push_back(column.cell(object, now));
  return cells;
}

metav1::TableRow TableFormat::row(const AnyObject& object, const TableOptions& options) const {
  metav1::TableRow row;
  std::optional<AnyObject> converted;
  const AnyObject* shown = &object;
  if (state_->kind != nullptr && &object.type() != state_->kind->type) {
    shown = &converted.emplace(*state_->kind->type);
    builtInScheme().convert(object, *converted);
  }
  for (const Value& cell : state_->cells(*shown, options.now)) row.cells.push_back(raw(cell));
  if (state_->kind != nullptr && state_->kind->conditions != nullptr) {
    row.conditions = state_->kind->conditions(shown->data());
  }
  switch (options.includeObject) {
    case IncludeObject::None:
      break;
    case IncludeObject::Metadata:
      row.object.raw = partialObjectMetadataJson(object, options.version);
      break;
    case IncludeObject::Object: {
      std::string json;
      encodeJson(object.type(), object.data(), json);
      row.object.raw = json;
      break;
    }
  }
  return row;
}

metav1::Table TableFormat::rows(std::vector<const AnyObject*> objects, const metav1::ListMeta& meta,
                                const TableOptions& options) const {
  metav1::Table table{.metadata = meta};
  if (options.headers) table.columnDefinitions = state_->columns;
  if (state_->kind != nullptr && state_->kind->before != nullptr) {
    std::ranges::stable_sort(objects, [&](const AnyObject* a, const AnyObject* b) {
      return state_->kind->before(a->data(), b->data());
    });
  }
  table.rows.reserve(objects.size());
  for (const AnyObject* object : objects) table.rows.push_back(row(*object, options));
  return table;
}

metav1::Table TableFormat::listOf(const std::vector<const AnyObject*>& objects,
                                  const metav1::ListMeta& meta, const TableOptions& options) const {
  metav1::Table table = rows(objects, meta, options);
  if (state_->kind == nullptr || state_->kind->defaultOf == nullptr) return table;
  std::vector<const void*> typed;
  for (const AnyObject* object : objects) typed.push_back(object->data());
  const auto at = std::ranges::find(typed, state_->kind->defaultOf(typed));
  if (at == typed.end()) return table;
  const auto index = static_cast<std::size_t>(at - typed.begin());
  table.rows[index].cells[0] = raw(Identity(*objects[index]).name + " (default)");
  return table;
}

metav1::Table TableFormat::object(const AnyObject& object, const TableOptions& options) const {
  return rows({&object}, {.resourceVersion = Identity(object).resourceVersion}, options);
}

std::optional<IncludeObject> parseIncludeObject(std::string_view text) noexcept {
  if (text.empty() || text == "Metadata") return IncludeObject::Metadata;
  if (text == "Object") return IncludeObject::Object;
  if (text == "None") return IncludeObject::None;
  return std::nullopt;
}

std::string tableJson(const metav1::Table& table, std::string_view version) {
  std::string json = toJson(table);
  if (version == "v1") return json;
  // The encoder writes the apiVersion of the described type. It is the first in the text.
  constexpr std::string_view kApiVersion = R"("meta.k8s.io/v1")";
  return json.replace(json.find(kApiVersion), kApiVersion.size(),
                      "\"" + metaApiVersion(version) + "\"");
}

std::string partialObjectMetadataJson(const AnyObject& object, std::string_view version) {
  std::string json = R"({"kind":"PartialObjectMetadata","apiVersion":")" + metaApiVersion(version) +
                     R"(","metadata":)";
  if (const metav1::ObjectMeta* meta = object.objectMeta()) {
    encodeJson(TypeOf<metav1::ObjectMeta>::info, meta, json);
  } else if (const auto* dynamic = object.as<Unstructured>();
             dynamic != nullptr && dynamic->object["metadata"].isObject()) {
    json += toJson(dynamic->object["metadata"]);
  } else {
    json += "{}";
  }
  return json += '}';
}

}  // namespace kube::apiserver
