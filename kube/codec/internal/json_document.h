// One JSON text that is asked what it is before it is decoded, and read once for both.
//
//   const JsonDocument document(body);
//   const TypeInfo& type = typeOf(document.type());
//   document.decode(type, object.data());
//
// Thread safety: not for several threads at once. The text must outlive it.
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
  /// Throws DecodeError for what is no JSON at all: brackets that do not match, no UTF-8.
  explicit JsonDocument(std::string_view text);
  ~JsonDocument();
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;

  /// What it says it is. Looks no further: whether all of the text is well-formed is for decode()
  /// to see.
  TypeMeta type() const;
  /// As decodeJson().
  void decode(const TypeInfo& type, void* object, const DecodeOptions& options = {}) const;

 private:
  std::unique_ptr<detail::JsonIndex> index_;
};

}  // namespace kube
