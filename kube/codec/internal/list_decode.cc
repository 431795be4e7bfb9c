#include "kube/codec/internal/list_decode.h"

#include "kube/codec/internal/decode_sites.h"
#include "kube/codec/stream.h"

namespace kube::detail {

bool isListType(const TypeInfo& type) noexcept {
  const FieldInfo* metadata = type.field("metadata");
  const FieldInfo* items = type.field("items");
  return type.resource != nullptr && metadata != nullptr && items != nullptr &&
         metadata->type == &TypeOf<metav1::ListMeta>::info && items->shape == Shape::List &&
         items->kind == FieldKind::Message && type.fields.size() == 2 && items->tag != 1;
}

class ListBody::Items : private ObjectSink {
 public:
  Items(const FieldInfo& items, void* list, metav1::ListMeta& metadata,
        const DecodeOptions& options, std::size_t maxItemBytes, ListBudget* budget)
      : items_(items),
        block_(*static_cast<Block**>(list)),
        metadata_(metadata),
        stream_(ObjectStream::Mode::List, *items.type,
                {.pool = options.pool,
                 .ownPool = options.shareItems,
                 .maxItemBytes = maxItemBytes,
                 .checkKind = options.checkKind,
                 .budget = budget},
                *this) {}

  void feed(std::string_view chunk) { stream_.feed(chunk); }
  void finish() {
    metadata_ = stream_.finish();
    trimElements(items_, block_);
  }

 private:
  bool keepsAll() const override { return true; }
  void* object() override { return appendElement(items_, block_); }
  void done(EventType) override {}

  const FieldInfo& items_;
  Block*& block_;
  metav1::ListMeta& metadata_;
  ObjectStream stream_;
};

ListBody::ListBody(const FieldInfo& items, void* list, metav1::ListMeta& metadata,
                   const DecodeOptions& options, std::size_t maxItemBytes, ListBudget* budget)
    : items_(std::make_unique<Items>(items, list, metadata, options, maxItemBytes, budget)) {}
ListBody::~ListBody() = default;
void ListBody::feed(std::string_view chunk) { items_->feed(chunk); }
void ListBody::finish() { items_->finish(); }

void decodeList(const TypeInfo& type, void* list, std::string_view body,
                const DecodeOptions& options) {
  auto* object = static_cast<std::byte*>(list);
  const FieldInfo& items = *type.field("items");
  ListBody decoder(items, object + items.offset,
                   *reinterpret_cast<metav1::ListMeta*>(object + type.field("metadata")->offset),
                   options, body.size());
  decoder.feed(body);
  decoder.finish();
}

}  // namespace kube::detail
