// A JSON text whose kind is read before it is decoded. The text is indexed once for both.
//
//   const JsonDocument document(body);
//   const TypeInfo& type = typeOf(document.type());
//   document.decode(type, object.data());
//
// Thread safety: one thread at a time. The text must outlive the document.
#pragma once

#include <memory>
#include <string_view>

#include "kube/codec/json.h"
#include "kube/codec/options.h"
#include "kube/meta/type_info.h"

namespace kube {

namespace detail {
class JsonIndex;
}

class JsonDocument {
 public:
  /// Throws DecodeError if the text is not JSON at all: brackets do not match, or it is not UTF-8.
  explicit JsonDocument(std::string_view text);
  ~JsonDocument();
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;

  /// The kind that the object names. Reads no further: decode() finds out whether the whole text is
  /// well-formed.
  TypeMeta type() const;
  /// Decodes as decodeJson() does.
  void decode(const TypeInfo& type, void* object, const DecodeOptions& options = {}) const;

 private:
  std::unique_ptr<detail::JsonIndex> index_;
};

}  // namespace kube
