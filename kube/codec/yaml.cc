#include "kube/codec/yaml.h"

#include <algorithm>

#include "kube/base/error.h"
#include "kube/codec/format.h"
#include "kube/codec/internal/json_index.h"
#include "kube/codec/internal/json_peek.h"
#include "kube/codec/internal/json_split.h"
#include "kube/codec/internal/json_value_scanner.h"
#include "kube/codec/internal/yaml/yaml_json.h"
#include "kube/codec/internal/yaml/yaml_read.h"
#include "kube/codec/json.h"

namespace kube {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// The limit in bytes for one text expanded by aliases and merge keys. A mark's offset has 32 bits.
std::size_t expansionLimit(std::string_view text) {
  return std::min<std::size_t>(10'000'000 + 10 * text.size(), 0xF000'0000);
}

// Makes documents of text that is JSON, in the order of the text.
class JsonDocuments {
 public:
  explicit JsonDocuments(std::string_view text) : text_(text) {}

  YamlDocument at(std::size_t offset, std::string_view json) {
    lines_.pass(text_.substr(passed_, offset - passed_));
    passed_ = offset;
    YamlDocument document;
    document.json = json;
    document.number = number;
    document.offset = offset;
    document.line = lines_.line();
    document.column = lines_.column();
    return document;
  }

  void expand(std::size_t offset, std::string_view json, std::vector<YamlDocument>& out) {
    detail::JsonIndex index;
    index.build(json);
    expand(index, 0, offset, out);
  }

  std::size_t number = 1;

 private:
  void expand(const detail::JsonIndex& index, detail::JsonIndex::Token token, std::size_t shift,
              std::vector<YamlDocument>& out) {
    if (index.rawValue(token) == "null") return;
    const detail::JsonPeek found = detail::peekJson(index, token);
    if (!found.isList()) {
      out.push_back(at(index.offset(token) + shift, index.rawValue(token)));
      return;
    }
    for (auto item = found.items + 1; item < index.close(found.items);
         item = index.after(item) + 1) {
      expand(index, item, shift, out);
    }
  }

  const std::string_view text_;
  detail::LineCounter lines_;
  std::size_t passed_ = 0;
};

// The objects of a text that consists of JSON objects only, one after the other as jq prints them.
// Empty for YAML, which may start with a brace too.
std::vector<std::string_view> jsonObjects(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (recognizeFormat(text) == Format::Json) return {text};
  std::vector<std::string_view> objects;
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    if (text.empty()) return objects;
    if (text.front() != '{') return {};
    bool complete = false;
    detail::JsonValueScanner scanner;
    scanner.start('{');
    const std::string_view object = text.substr(0, 1 + scanner.scan(text.substr(1), complete));
    if (!complete || !detail::isValidJson(object)) return {};
    objects.push_back(object);
    text.remove_prefix(object.size());
  }
}

// Returns the only document. Empty documents do not count; null counts if there is no other.
YamlDocument onlyDocument(std::string_view text) {
  const std::size_t bom = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  if (recognizeFormat(text.substr(bom)) == Format::Json)
    return JsonDocuments(text).at(bom, text.substr(bom));

  detail::YamlReader reader(text);
  detail::YamlTree tree;
  std::size_t budget = expansionLimit(text);
  YamlDocument result;
  bool isNull = true;
  while (reader.next(tree)) {
    if (tree.nodes[0].missing) continue;
    detail::YamlToJson converter(tree, budget);
    const bool nextIsNull = converter.isNull(0);
    if (nextIsNull && !result.json.empty()) continue;
    if (!isNull) detail::failYaml(tree.nodes[0].place, "expected one document, found another");
    result = converter.document();
    isNull = nextIsNull;
  }
  if (result.json.empty()) {
    const detail::LineColumn end = detail::lineColumn(text, text.size());
    throw DecodeError(
        {.format = "yaml", .offset = text.size(), .line = end.line, .column = end.column},
        "there is no document");
  }
  return result;
}

// Calls `decode(options)`, and converts its errors from the JSON to the YAML text.
template <class Decode>
void decodeDocument(const YamlDocument& document, const DecodeOptions& options, Decode decode) {
  std::vector<std::string> found;
  DecodeOptions inner = options;
  if (options.strict || options.problems != nullptr) {
    found = document.duplicates;
    inner.strict = false;
    inner.problems = &found;
  }
  try {
    decode(inner);
  } catch (const DecodeError& e) {
    DecodeError::Where where = e.where();
    where.format = "yaml";
    if (where.offset && document.marks.empty()) {
      where.column += where.line == 1 ? document.column - 1 : 0;
      where.line += document.line - 1;
      *where.offset += document.offset;
    } else if (where.offset) {
      auto at = std::upper_bound(
          document.marks.begin(), document.marks.end(), *where.offset,
          [](std::size_t offset, const YamlDocument::Mark& mark) { return offset < mark.json; });
      if (at != document.marks.begin()) --at;
      where.offset = at->offset;
      where.line = at->line;
      where.column = at->column;
    }
    throw e.withWhere(std::move(where));
  }
  if (options.problems != nullptr) {
    options.problems->insert(options.problems->end(), found.begin(), found.end());
  }
  if (options.strict && !found.empty()) {
    std::string all = "strict decoding error: ";
    for (const std::string& problem : found) {
      if (&problem != &found.front()) all += ", ";
      all += problem;
    }
    throw DecodeError({.format = "yaml"}, all);
  }
}

}  // namespace

YamlDocument::Type YamlDocument::type() const { return peekTypeMeta(json); }

void YamlDocument::decode(const TypeInfo& type, void* object, const DecodeOptions& options) const {
  decodeDocument(*this, options,
                 [&](const DecodeOptions& inner) { decodeJson(type, object, json, inner); });
}

Value YamlDocument::value(const DecodeOptions& options) const {
  Value result;
  decodeDocument(*this, options,
                 [&](const DecodeOptions& inner) { result = parseJson(json, inner); });
  return result;
}

void decodeYaml(const TypeInfo& type, void* object, std::string_view text,
                const DecodeOptions& options) {
  onlyDocument(text).decode(type, object, options);
}

void encodeYaml(const TypeInfo& type, const void* object, std::string& out) {
  std::string json;
  encodeJson(type, object, json);
  out += toYaml(parseJson(json));
}

Value parseYaml(std::string_view text, const DecodeOptions& options) {
  return onlyDocument(text).value(options);
}

YamlDocument yamlDocument(std::string_view text) { return onlyDocument(text); }

std::vector<YamlDocument> splitYaml(std::string_view text, const YamlSplitOptions& options) {
  std::vector<YamlDocument> result;
  // JSON needs no YAML parser.
  if (const auto objects = jsonObjects(text); !objects.empty()) {
    JsonDocuments documents(text);
    for (const std::string_view object : objects) {
      const auto offset = static_cast<std::size_t>(object.data() - text.data());
      if (options.expandLists) {
        documents.expand(offset, object, result);
      } else {
        result.push_back(documents.at(offset, object));
      }
      ++documents.number;
    }
    return result;
  }
  detail::YamlReader reader(text);
  detail::YamlTree tree;
  std::size_t budget = expansionLimit(text);
  for (std::size_t number = 1; reader.next(tree); ++number) {
    if (tree.nodes[0].missing) continue;
    const std::size_t first = result.size();
    detail::YamlToJson(tree, budget).documents(options.expandLists, result);
    for (std::size_t i = first; i < result.size(); ++i) result[i].number = number;
  }
  return result;
}

}  // namespace kube
