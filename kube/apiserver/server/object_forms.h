// The forms in which an API server returns the objects of a resource: complete, as tables or as
// metadata only; in a version and an encoding.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "kube/apiserver/storage/api_resource.h"
#include "kube/apiserver/storage/storage.h"
#include "kube/apiserver/table/table.h"
#include "kube/base/clock.h"
#include "kube/codec/stream.h"
#include "kube/http/http_server.h"
#include "kube/meta/any_object.h"
#include "kube/testing/api_request.h"

namespace kube::apiserver {

class ObjectForms {
 public:
  /// The kind of answer, which decides the available forms.
  enum class Of { Object, List, Stream };

  /// Takes the form that the request asks for. Throws ApiError if it is not available.
  ObjectForms(Of what, const testing::ApiRequest& request, ResourcePtr resource,
              const ApiVersion& version, Clock& clock);

  const testing::ResponseForm& form() const noexcept { return form_; }

  /// Encodes an object, which may be in any version of the resource.
  std::string object(const AnyObject& object) const;
  /// Encodes a list while it is sent. Throws Error for objects that cannot be encoded: mostly here,
  /// at the latest from the BodySource.
  BodySource list(Page page, const metav1::ListMeta& meta) const;
  std::string event(EventType type, const AnyObject& object, bool first) const;
  /// An event with nothing but a revision.
  std::string bookmark(std::int64_t revision, bool initialEventsEnd) const;

  /// True if an event's frame depends on the object alone.
  bool cacheable() const noexcept { return form_.as != testing::ResponseForm::As::Table; }
  /// Distinguishes these forms from others of the same resource.
  const std::string& name() const noexcept { return name_; }

 private:
  // The object in its version, or reduced to its metadata.
  const AnyObject& shown(const AnyObject& object, std::optional<AnyObject>& scratch) const;
  AnyObject partial(const AnyObject& object) const;
  AnyObject table(metav1::Table table) const;
  TableOptions tableOptions(bool headers) const;

  ResourcePtr resource_;
  const ApiVersion& version_;
  Clock& clock_;
  testing::ResponseForm form_;
  std::string name_;
  std::optional<TableFormat> table_;
  IncludeObject include_ = IncludeObject::Metadata;
};

}  // namespace kube::apiserver
