#include "kube/codec/list_decode.h"

#include "kube/codec/container.h"
#include "kube/codec/stream.h"

namespace kube::detail {

bool isListType(const TypeInfo& type) noexcept {
  const FieldInfo* metadata = type.field("metadata");
  const FieldInfo* items = type.field("items");
  return type.resource != nullptr && metadata != nullptr && items != nullptr &&
         metadata->type == &TypeOf<metav1::ListMeta>::info && items->shape == Shape::List &&
         items->kind == FieldKind::Message && type.fields.size() == 2 && items->tag != 1;
}

namespace {

class ItemSink : public ObjectSink {
 public:
  ItemSink(const FieldInfo& items, Block*& block) : items_(items), block_(block) {}
  void* object() override { return appendElement(items_, block_); }
  void done(std::string_view) override {}

 private:
  const FieldInfo& items_;
  Block*& block_;
};

}  // namespace

void decodeList(const TypeInfo& type, void* list, std::string_view body,
                const DecodeOptions& options) {
  const FieldInfo& items = *type.field("items");
  auto* object = static_cast<std::byte*>(list);
  auto& block = *reinterpret_cast<Block**>(object + items.offset);
  ItemSink sink(items, block);
  ObjectStream stream(ObjectStream::Mode::List, *items.type,
                      {.pool = options.pool,
                       .ownPool = options.shareItems,
                       .maxItemBytes = body.size(),
                       .checkKind = options.checkKind},
                      sink);
  stream.feed(body);
  *reinterpret_cast<metav1::ListMeta*>(object + type.field("metadata")->offset) = stream.finish();
  trimElements(items, block);
}

}  // namespace kube::detail
