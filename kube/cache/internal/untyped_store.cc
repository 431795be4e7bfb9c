#include "kube/cache/internal/untyped_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <exception>

#include "kube/base/error.h"
#include "kube/base/log.h"

namespace kube::detail {

namespace {

void checkNotNull(const UntypedStore::Object& object) {
  if (object == nullptr) throw Error("store: an object to be added is null");
}

class NamespaceValues final : public IndexValues {
 public:
  explicit NamespaceValues(const ObjectType& type) : type_(type) {}
  Strings of(const void* object) const override { return Strings{type_.namespaceOf(object)}; }

 private:
  const ObjectType& type_;
};

}  // namespace

std::unique_ptr<IndexValues> namespaceValues(const ObjectType& type) {
  return std::make_unique<NamespaceValues>(type);
}

UntypedStore::UntypedStore(const ObjectType& type) : type_(type), table_(type.keyViewOf) {}
UntypedStore::~UntypedStore() { versions_->end(); }

// ---- Writing.

Strings UntypedStore::valuesOf(std::string_view name, const IndexValues& index,
                               const void* object) const {
  try {
    return index.of(object);
  } catch (const std::exception& error) {
    Logger("store").error(
        "{}: index \"{}\": the function has thrown, so the object is not in it: {}",
        type_.keyOf(object).str(), name, error.what());
  } catch (...) {
    Logger("store").error("{}: index \"{}\": the function has thrown, so the object is not in it",
                          type_.keyOf(object).str(), name);
  }
  return {};
}

void UntypedStore::valuesOf(const void* object, std::vector<List<String>>& values) const {
  for (const Index& index : writersFunctions()) {
    values.push_back(valuesOf(index.name, *index.values, object));
  }
}

UntypedStore::Object UntypedStore::put(Object object) {
  checkNotNull(object);
  std::vector<List<String>> values;
  const Lock writing(writesMutex_);
  const auto at = writersTable().locate(type_.keyViewOf(object.get()));
  // Resyncs bring objects that are in the store already. Objects do not change.
  if (at.row != ObjectTable::kNone && writersTable().objects()[at.row] == object) return object;
  values.reserve(writersFunctions().size());
  valuesOf(object.get(), values);
  const WriteLock lock(tableMutex_);
  return table_.put(at, std::move(object), values);
}

UntypedStore::Object UntypedStore::remove(KeyView key) {
  const Lock writing(writesMutex_);
  const WriteLock lock(tableMutex_);
  return table_.remove(key);
}

void UntypedStore::replace(std::vector<Object> objects, const String& resourceVersion) {
  for (const Object& object : objects) checkNotNull(object);
  std::vector<Object> before;
  before.reserve(objects.size());
  std::vector<List<String>> values;
  const Lock writing(writesMutex_);
  const std::size_t width = writersFunctions().size();
  values.reserve(objects.size() * width);
  for (const Object& object : objects) valuesOf(object.get(), values);
  // Sorted addresses, to find the objects that are not kept.
  std::vector<const void*> kept;
  kept.reserve(objects.size());
  for (const Object& object : objects) kept.push_back(object.get());
  std::sort(kept.begin(), kept.end());

  const WriteLock lock(tableMutex_);
  table_.reserve(objects.size());
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const std::span row(values.data() + i * width, width);
    const auto at = table_.locate(type_.keyViewOf(objects[i].get()));
    before.push_back(table_.put(at, std::move(objects[i]), row));
  }
  for (std::size_t row = 0; row < table_.objects().size();) {
    const Object& object = table_.objects()[row];
    if (std::binary_search(kept.begin(), kept.end(), object.get())) {
      ++row;
    } else {
      // Removal moves another object into this row.
      before.push_back(table_.remove(type_.keyViewOf(object.get())));
    }
  }
  versions_->reached(versions_->all(), resourceVersion);
}

void UntypedStore::addIndexes(std::vector<Index> indexes) {
  const Lock writing(writesMutex_);
  for (const Index& index : indexes) {
    if (std::ranges::find(writersFunctions(), index.name, &Index::name) !=
        writersFunctions().end()) {
      throw Error(fmt::format("store: there is an index \"{}\" already", index.name.view()));
    }
    if (index.values == nullptr) {
      throw Error(fmt::format("store: index \"{}\" has no function", index.name.view()));
    }
  }
  for (Index& index : indexes) {
    const std::size_t number = writersFunctions().size();
    std::vector<List<String>> values;
    {
      // Readers use the functions, too.
      const WriteLock lock(tableMutex_);
      functions_.push_back(std::move(index));
    }
    values.reserve(writersTable().objects().size());
    for (const Object& object : writersTable().objects()) {
      const Index& added = writersFunctions()[number];
      values.push_back(valuesOf(added.name, *added.values, object.get()));
    }
    const WriteLock lock(tableMutex_);
    table_.addIndex(values);
    numbers_.emplace(functions_[number].name, number);
  }
}

// ---- Reading.

UntypedStore::Object UntypedStore::find(KeyView key) const {
  const ReadLock lock(tableMutex_);
  const Object* found = table_.find(key);
  return found != nullptr ? *found : nullptr;
}

bool UntypedStore::contains(KeyView key) const {
  const ReadLock lock(tableMutex_);
  return table_.find(key) != nullptr;
}

std::vector<ObjectKey> UntypedStore::listKeys() const {
  const ReadLock lock(tableMutex_);
  std::vector<ObjectKey> keys;
  keys.reserve(table_.objects().size());
  for (const Object& object : table_.objects()) keys.push_back(type_.keyOf(object.get()));
  return keys;
}

std::size_t UntypedStore::size() const {
  const ReadLock lock(tableMutex_);
  return table_.objects().size();
}

std::size_t UntypedStore::numberOf(std::string_view name) const {
  const auto found = numbers_.find(name);
  if (found != numbers_.end()) return found->second;
  throw Error(fmt::format("store: there is no index \"{}\": add it with addIndexers()", name));
}

bool UntypedStore::hasIndex(std::string_view name) const {
  const ReadLock lock(tableMutex_);
  return numbers_.find(name) != numbers_.end();
}

const IndexValues& UntypedStore::indexNamed(std::string_view name) const {
  const ReadLock lock(tableMutex_);
  return *functions_[numberOf(name)].values;  // indexes are never removed
}

bool UntypedStore::hasIndexValue(std::string_view name, std::string_view value,
                                 const void* object) const {
  const Strings values = valuesOf(name, indexNamed(name), object);
  return std::find(values.begin(), values.end(), value) != values.end();
}

// The rows that have any of the values, each once. `several` is the memory for more than one value.
std::span<const UntypedStore::Row> UntypedStore::rowsOf(std::string_view name,
                                                        const Strings& values,
                                                        std::vector<Row>& several) const {
  const ValueIndex& index = table_.index(numberOf(name));
  if (values.size() == 1) return index.rowsOf(values[0]);
  for (const String& value : values) {
    const auto some = index.rowsOf(value);
    several.insert(several.end(), some.begin(), some.end());
  }
  std::sort(several.begin(), several.end());
  several.erase(std::unique(several.begin(), several.end()), several.end());
  return several;
}

std::vector<ObjectKey> UntypedStore::indexKeys(std::string_view name,
                                               std::string_view value) const {
  std::vector<ObjectKey> keys;
  {
    const ReadLock lock(tableMutex_);
    for (const Row row : table_.index(numberOf(name)).rowsOf(value)) {
      keys.push_back(type_.keyOf(table_.objects()[row].get()));
    }
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::vector<String> UntypedStore::listIndexFuncValues(std::string_view name) const {
  const ReadLock lock(tableMutex_);
  return table_.index(numberOf(name)).values();
}

}  // namespace kube::detail
