#include "kube/codec/internal/yaml/yaml_read.h"

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <istream>
#include <streambuf>
#include <unordered_map>

#include "kube/base/error.h"
#include "kube/base/internal/utf8.h"
#include "kube/codec/internal/json_index.h"
#include "kube/codec/internal/limits.h"
#include "kube/codec/internal/yaml/yaml_scalar.h"
#include "kube/codec/internal/yaml/yaml_text.h"

namespace kube::detail {

namespace {

// Offsets have 32 bits, and escapes may grow a scalar by half.
constexpr std::size_t kMaxText = std::size_t{1} << 30;

// yaml-cpp keeps every token of a flow collection, over a hundred bytes each, until it has seen the
// end. A collection with more tokens than this is refused.
constexpr std::size_t kMaxFlowTokens = 1'000'000;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

YamlPlace placeOf(std::string_view text, std::size_t offset) {
  const LineColumn at = lineColumn(text, offset);
  return {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(at.line),
          static_cast<std::uint32_t>(at.column)};
}

void checkCharacters(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c < 0x7F) {
      ++i;
      continue;
    }
    char32_t code = 0;
    const std::size_t length = decodeUtf8(text, i, code);
    if (length == 0) failYaml(placeOf(text, i), "not valid UTF-8");
    const bool allowed = code == '\t' || code == '\n' || code == '\r' || code == 0x85 ||
                         (code >= 0xA0 && code != 0xFFFE && code != 0xFFFF);
    if (!allowed) failYaml(placeOf(text, i), "control characters are not allowed");
    i += length;
  }
}

// A lone carriage return ends a line, but not for yaml-cpp.
bool hasLoneReturn(std::string_view text) {
  for (std::size_t i = text.find('\r'); i != std::string_view::npos; i = text.find('\r', i + 1)) {
    if (i + 1 == text.size() || text[i + 1] != '\n') return true;
  }
  return false;
}

std::string replaceLoneReturns(std::string_view text) {
  std::string result(text);
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (result[i] == '\r' && (i + 1 == result.size() || result[i + 1] != '\n')) result[i] = '\n';
  }
  return result;
}

// The text as a stream, without a copy. Counts possible tokens of flow collections among the
// characters handed out, and ends early if there are too many. The handler resets the count at
// every event.
class TextBuffer : public std::streambuf {
 public:
  explicit TextBuffer(std::string_view text) {
    char* const begin = const_cast<char*>(text.data());  // never written to
    setg(begin, begin, begin + text.size());
  }

  bool stopped() const noexcept { return stopped_; }
  std::size_t offset() const noexcept { return static_cast<std::size_t>(gptr() - eback()); }
  void progress() noexcept { tokens_ = 0; }

 protected:
  std::streamsize xsgetn(char* to, std::streamsize wanted) override {
    stopped_ = stopped_ || tokens_ > kMaxFlowTokens;
    if (stopped_) return 0;
    const std::streamsize size = std::min<std::streamsize>(wanted, egptr() - gptr());
    std::copy_n(gptr(), size, to);
    tokens_ += static_cast<std::size_t>(std::count_if(
        to, to + size, [](char c) { return c == ',' || c == '[' || c == '{' || c == '?'; }));
    gbump(static_cast<int>(size));
    return size;
  }

 private:
  std::size_t tokens_ = 0;
  bool stopped_ = false;
};

YamlTag tagOf(const std::string& tag) {
  constexpr std::string_view kCore = "tag:yaml.org,2002:";
  if (tag.empty() || tag == "?") return YamlTag::Plain;
  if (tag == "!") return YamlTag::Quoted;
  if (!tag.starts_with(kCore)) return YamlTag::Other;
  const std::string_view name = std::string_view(tag).substr(kCore.size());
  if (name == "str") return YamlTag::Str;
  if (name == "bool") return YamlTag::Bool;
  if (name == "int") return YamlTag::Int;
  if (name == "float") return YamlTag::Float;
  if (name == "null") return YamlTag::Null;
  if (name == "timestamp") return YamlTag::Timestamp;
  if (name == "binary") return YamlTag::Binary;
  if (name == "merge") return YamlTag::Merge;
  return YamlTag::Other;
}

}  // namespace

void failYaml(const YamlPlace& place, std::string reason, std::string path) {
  throw DecodeError({.format = "yaml",
                     .path = std::move(path),
                     .offset = place.offset,
                     .line = place.line,
                     .column = place.column},
                    std::move(reason));
}

struct YamlReader::Parser : YAML::EventHandler {
  explicit Parser(std::string_view whole)
      : bom(whole.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0),
        lines(hasLoneReturn(whole) ? replaceLoneReturns(whole.substr(bom)) : std::string()),
        text(lines.empty() ? whole.substr(bom) : std::string_view(lines)),
        buffer(text),
        stream(&buffer),
        parser(stream) {}

  struct Collection {
    std::uint32_t node;
    bool isFlow;
    bool awaitsValue = false;  // for a mapping: the last node at this level is a key
    std::uint32_t lastKey = 0;
    bool colonIsText = false;  // that key ends in a colon
  };

  const std::size_t bom;
  const std::string lines;  // a copy, if one was needed
  const std::string_view text;
  TextBuffer buffer;
  std::istream stream;
  YAML::Parser parser;
  bool first = true;          // no document has started yet
  std::size_t lastStart = 0;  // start of the last document
  YamlTree* tree = nullptr;
  std::vector<Collection> open;
  std::unordered_map<YAML::anchor_t, std::uint32_t> anchors;

  YamlPlace place(const YAML::Mark& mark) const {
    if (mark.is_null()) return {};
    const auto offset = std::min(static_cast<std::size_t>(mark.pos), text.size());
    return {static_cast<std::uint32_t>(bom + offset), static_cast<std::uint32_t>(mark.line) + 1,
            static_cast<std::uint32_t>(mark.column) + 1};
  }

  // yaml-cpp's columns are wrong at the end of the text.
  YamlPlace placeAt(const YAML::Mark& mark) const {
    return mark.is_null() ? YamlPlace{} : placeAt(static_cast<std::size_t>(mark.pos));
  }
  YamlPlace placeAt(std::size_t offset) const {
    YamlPlace result = placeOf(text, std::min(offset, text.size()));
    result.offset += static_cast<std::uint32_t>(bom);
    return result;
  }

  void checkStopped() const {
    if (!buffer.stopped()) return;
    failYaml(placeAt(buffer.offset()), "too many items in one flow collection");
  }

  YamlNode& add(YamlNode::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    buffer.progress();
    const auto index = static_cast<std::uint32_t>(tree->nodes.size());
    if (anchor != YAML::NullAnchor && kind != YamlNode::Kind::Alias) anchors[anchor] = index;
    if (!open.empty() && tree->nodes[open.back().node].kind == YamlNode::Kind::Mapping) {
      Collection& mapping = open.back();
      mapping.awaitsValue = !mapping.awaitsValue;
      if (mapping.awaitsValue) mapping.lastKey = index;
    }
    YamlNode& node = tree->nodes.emplace_back();
    node.kind = kind;
    node.place = place(mark);
    node.end = index + 1;
    return node;
  }

  void begin(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
             YAML::anchor_t anchor, YAML::EmitterStyle::value style) {
    add(kind, mark, anchor).tag = tagOf(tag);
    if (open.size() == kMaxDepth) failYaml(place(mark), "nested too deeply");
    open.push_back({.node = static_cast<std::uint32_t>(tree->nodes.size() - 1),
                    .isFlow = style == YAML::EmitterStyle::Flow});
    tree->nodes.back().end = 0;  // still open
  }

  void end() {
    tree->nodes[open.back().node].end = static_cast<std::uint32_t>(tree->nodes.size());
    open.pop_back();
  }

  // True if the marker is here, followed by a blank or the end.
  bool isMarker(std::size_t at, std::string_view marker) const {
    constexpr std::string_view kBlanks = " \t\r\n";
    const std::string_view here = text.substr(at);
    return here.starts_with(marker) &&
           (here.size() == marker.size() ||
            kBlanks.find(here[marker.size()]) != std::string_view::npos);
  }

  // yaml-cpp starts a document at any text that does not belong to the previous one, and never
  // stops doing so.
  void OnDocumentStart(const YAML::Mark& mark) override {
    const auto at = std::min(static_cast<std::size_t>(mark.pos), text.size());
    const std::string_view between = text.substr(lastStart, at - std::min(at, lastStart));
    const bool separate = between.find("\n...") != std::string_view::npos ||
                          (at > lastStart && mark.column == 0 && isMarker(at, "---"));
    if (!first && !separate) failYaml(place(mark), "unexpected text after the document");
    first = false;
    lastStart = at;
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    YamlNode& node = add(YamlNode::Kind::Scalar, mark, anchor);
    const auto at = std::min(static_cast<std::size_t>(mark.pos), text.size());
    const char c = at < text.size() ? text[at] : '\0';
    node.missing = c != '~' && (c | 0x20) != 'n';
    if (open.empty()) return;
    Collection& parent = open.back();
    if (tree->nodes[parent.node].kind == YamlNode::Kind::Sequence) {
      // yaml-cpp reads [a,,b] as a sequence with a null.
      if (parent.isFlow && (c == ',' || c == ']')) {
        failYaml(node.place, "expected an item of the sequence");
      }
    } else if (!parent.isFlow && !parent.awaitsValue && !isMarker(at, "?") &&
               bom + at == tree->nodes[parent.lastKey].place.offset) {
      // A key without a colon: yaml-cpp gives it a null, at the place of the key.
      failYaml(node.place, "expected ':' after a key");
    } else if (parent.isFlow && !parent.awaitsValue && node.missing) {
      parent.colonIsText = takeColon(tree->nodes[parent.lastKey]);
    }
  }

  // For go-yaml, a colon ends a key only if a blank follows: [host:] contains a string, and {host:}
  // a key that ends in a colon.
  bool takeColon(YamlNode& key) const {
    const bool isLast = key.text + key.size == tree->text.size();
    const bool isPlain = key.kind == YamlNode::Kind::Scalar && key.tag == YamlTag::Plain;
    if (!isPlain || !isLast || key.size == 0) return false;
    const std::string_view source = text.substr(key.place.offset - bom);
    if (!source.starts_with(tree->textOf(key))) return false;  // an anchor precedes it
    const std::string_view behind = source.substr(key.size, 2);
    if (behind != ":," && behind != ":]" && behind != ":}") return false;
    tree->text += ':';
    ++key.size;
    return true;
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    YamlNode& node = add(YamlNode::Kind::Alias, mark, anchor);
    const auto target = anchors.find(anchor);
    if (target == anchors.end() || tree->nodes[target->second].end == 0) {
      failYaml(node.place, "the value of an anchor contains itself");
    }
    node.target = target->second;
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode& node = add(YamlNode::Kind::Scalar, mark, anchor);
    node.tag = tagOf(tag);
    node.text = static_cast<std::uint32_t>(tree->text.size());
    if (node.tag == YamlTag::Plain) {
      tree->text += value;
    } else {
      appendText(node, value);
    }
    node.size = static_cast<std::uint32_t>(tree->text.size()) - node.text;
  }

  // True if a scalar consists of a tag or an anchor only, and `at` belongs to the next node: in a
  // block, text on a later line that is not indented more than the collection.
  bool isEmpty(const YamlNode& node, std::size_t at) const {
    if (open.empty() || open.back().isFlow) return false;
    const std::size_t lineStart = text.substr(0, at).find_last_of("\r\n") + 1;
    return node.place.offset - bom < lineStart &&
           at - lineStart < tree->nodes[open.back().node].place.column;
  }

  // Appends the value of a scalar that may be quoted or folded; see yaml_text.h.
  void appendText(const YamlNode& node, const std::string& value) {
    const std::size_t at = yamlContentStart(text, node.place.offset - bom);
    const char c = at < text.size() && !isEmpty(node, at) ? text[at] : '\0';
    if (c == '"' || c == '\'') {
      const auto quoted = decodeYamlQuoted(text, at);
      if (!quoted) failYaml(node.place, "the closing quote is missing");
      tree->text += *quoted;
    } else if (c == '>') {
      const int parent =
          open.empty() ? -1 : static_cast<int>(tree->nodes[open.back().node].place.column) - 1;
      tree->text += decodeYamlFolded(text, at, parent);
    } else {
      tree->text += value;
    }
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    begin(YamlNode::Kind::Sequence, mark, tag, anchor, style);
  }
  void OnSequenceEnd() override { end(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    begin(YamlNode::Kind::Mapping, mark, tag, anchor, style);
  }
  void OnMapEnd() override {
    const Collection& mapping = open.back();
    YamlNode& node = tree->nodes[mapping.node];
    // An item that yaml-cpp took for a pair, without a brace of its own: its key remains.
    if (mapping.colonIsText && !text.substr(node.place.offset - bom).starts_with('{')) {
      node = tree->nodes[mapping.lastKey];
      tree->nodes.resize(mapping.node + 1);
    }
    end();
  }
};

YamlReader::YamlReader(std::string_view text) {
  if (text.size() > kMaxText) failYaml({}, "the text is over 1 GiB");
  checkCharacters(text);
  parser_ = std::make_unique<Parser>(text);
}

YamlReader::~YamlReader() = default;

bool YamlReader::next(YamlTree& tree) {
  tree.nodes.clear();
  tree.text.clear();
  parser_->tree = &tree;
  parser_->open.clear();
  parser_->anchors.clear();
  Parser& parser = *parser_;
  try {
    const bool more = parser.parser.HandleNextDocument(parser);
    parser.checkStopped();
    return more && !tree.nodes.empty();
  } catch (const YAML::DeepRecursion&) {
    // The exception has the scanner's place, which may be far ahead.
    failYaml(tree.nodes.empty() ? YamlPlace{} : tree.nodes.back().place, "nested too deeply");
  } catch (const YAML::Exception& e) {
    parser.checkStopped();
    failYaml(parser.placeAt(e.mark), replaceInvalidUtf8(e.msg));
  }
}

}  // namespace kube::detail
