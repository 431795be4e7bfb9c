#include "kube/apiserver/server/object_forms.h"

#include <fmt/core.h>
#include <algorithm>

#include "kube/apiserver/custom/custom_resources.h"
#include "kube/codec/deserializer.h"
#include "kube/codec/stream_encode.h"
#include "kube/codec/unstructured.h"
#include "kube/codec/yaml.h"
#include "kube/meta/api_error.h"

namespace kube::apiserver {

namespace {

constexpr int kPretty = 2;

GroupVersionKind metaKind(const String& version, std::string_view kind) {
  return {"meta.k8s.io", version, kind};
}

}  // namespace

ObjectForms::ObjectForms(Of what, const testing::ApiRequest& request, ResourcePtr resource,
                         const ApiVersion& version, Clock& clock)
    : resource_(std::move(resource)), version_(version), clock_(clock) {
  testing::OfferedForms offered{.tables = true,
                                .metadata = what != Of::List,
                                .metadataList = what == Of::List,
                                .stream = what == Of::Stream};
  form_ = request.form(offered);
  if (form_.format == Format::Protobuf && form_.as == testing::ResponseForm::As::Object &&
      resource_->custom()) {
    offered.protobuf = false;
    form_ = request.form(offered);
  }
  name_ = form_.str() + "/" + resource_->kindIn(version_).str();
  if (form_.as != testing::ResponseForm::As::Table) return;
  table_ = version_.custom ? TableFormat(version_.custom->columns) : TableFormat(*version_.type);
  const auto include = parseIncludeObject(request.param("includeObject").value_or(""));
  if (!include) {
    throw ApiError(status::badRequest(fmt::format(
        "Unable to convert to Table as requested: includeObject: Invalid value: \"{}\": "
        "must be 'Metadata', 'Object', 'None', or empty",
        *request.param("includeObject"))));
  }
  include_ = *include;
}

TableOptions ObjectForms::tableOptions(bool headers) const {
  return {.now = clock_.wallNow(),
          .includeObject = include_,
          .headers = headers,
          .version = form_.version};
}

AnyObject ObjectForms::partial(const AnyObject& object) const {
  AnyObject result(metav1::PartialObjectMetadata{.metadata = metaOf(object)});
  result.setGvk(metaKind(form_.version, "PartialObjectMetadata"));
  return result;
}

AnyObject ObjectForms::table(metav1::Table table) const {
  AnyObject result(table);
  result.setGvk(metaKind(form_.version, "Table"));
  return result;
}

const AnyObject& ObjectForms::shown(const AnyObject& object,
                                    std::optional<AnyObject>& scratch) const {
  if (form_.as != testing::ResponseForm::As::Object) return scratch.emplace(partial(object));
  if (&object.type() == version_.type && !version_.custom) return object;
  return scratch.emplace(resource_->convert(object, version_));
}

std::string ObjectForms::object(const AnyObject& object) const {
  const int indent = form_.pretty ? kPretty : 0;
  if (form_.as == testing::ResponseForm::As::Table) {
    const AnyObject inVersion = resource_->convert(object, version_);
    return encodeObject(table(table_->object(inVersion, tableOptions(true))), form_.format, indent);
  }
  std::optional<AnyObject> scratch;
  return encodeObject(shown(object, scratch), form_.format, indent);
}

namespace {

// The size of the pieces in which lists are encoded: worth a turn of the connection, and small
// enough for the cache.
constexpr std::size_t kListPiece = 512 << 10;

BodySource whole(std::string body) {
  return [body = std::move(body)](std::string& out) mutable {
    out = std::move(body);
    return BodyState::End;
  };
}

}  // namespace

BodySource ObjectForms::list(Page page, const metav1::ListMeta& meta) const {
  if (form_.as == testing::ResponseForm::As::Table) {
    std::vector<AnyObject> objects;
    objects.reserve(page.objects.size());
    for (const ObjectPtr& one : page.objects) {
      objects.push_back(resource_->convert(one->object(), version_));
    }
    return whole(
        encodeObject(table(table_->list(objects, meta, tableOptions(true))), form_.format));
  }
  // Owned by the body while it is sent.
  struct Body {
    ObjectForms forms;
    Page page;
    std::optional<AnyObject> scratch = {};
    std::optional<ListEncoder> encoder = {};

    const AnyObject& shown(std::size_t i) {
      return forms.shown(page.objects[i]->object(), scratch);
    }
    std::size_t size(std::size_t i) {
      const AnyObject& object = shown(i);
      const StoredObject& stored = *page.objects[i];
      return &object == &stored.object() ? stored.protobufSize() : protobufSize(object);
    }
  };
  const bool partial = form_.as != testing::ResponseForm::As::Object;
  const GroupVersionKind kind =
      partial ? metaKind(form_.version, "PartialObjectMetadataList")
              : GroupVersionKind{resource_->name.group, version_.version, resource_->listKind};
  // True if items are encoded as they are stored.
  const bool lasting =
      !partial && !version_.custom && std::ranges::all_of(page.objects, [&](const ObjectPtr& one) {
        return &one->object().type() == version_.type;
      });
  const auto body = std::make_shared<Body>(Body{*this, std::move(page)});
  const bool yaml = form_.format == Format::Yaml;
  body->encoder.emplace(
      yaml ? Format::Json : form_.format, kind, meta, body->page.objects.size(),
      [from = body.get()](std::size_t i) -> const AnyObject& { return from->shown(i); }, partial,
      [from = body.get()](std::size_t i) { return from->size(i); }, lasting);
  if (yaml) {
    std::string json;
    body->encoder->next(json, json.max_size());
    return whole(toYaml(parseJson(json)));
  }
  return [body](std::string& out) {
    return body->encoder->next(out, kListPiece) ? BodyState::Ahead : BodyState::End;
  };
}

std::string ObjectForms::event(EventType type, const AnyObject& object, bool first) const {
  if (form_.as == testing::ResponseForm::As::Table) {
    const AnyObject inVersion = resource_->convert(object, version_);
    return encodeWatchEvent(type, table(table_->object(inVersion, tableOptions(first))),
                            form_.format);
  }
  std::optional<AnyObject> scratch;
  return encodeWatchEvent(type, shown(object, scratch), form_.format);
}

std::string ObjectForms::bookmark(std::int64_t revision, bool initialEventsEnd) const {
  AnyObject object(*version_.type);
  if (auto* dynamic = object.as<Unstructured>()) dynamic->setGvk(resource_->kindIn(version_));
  metav1::ObjectMeta meta;
  meta.resourceVersion = std::to_string(revision);
  if (initialEventsEnd) meta.annotations["k8s.io/initial-events-end"] = "true";
  setMeta(object, std::move(meta));
  if (form_.as == testing::ResponseForm::As::Table) {
    metav1::Table empty;
    empty.metadata.resourceVersion = std::to_string(revision);
    return encodeWatchEvent(EventType::Bookmark, table(std::move(empty)), form_.format);
  }
  return event(EventType::Bookmark, object, false);
}

}  // namespace kube::apiserver
