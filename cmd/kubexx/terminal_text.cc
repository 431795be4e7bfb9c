#include "cmd/kubexx/terminal_text.h"

#include <unistd.h>

#include "kube/base/internal/control_characters.h"

namespace kube::cmd {

namespace {

constexpr std::size_t kMaxColour = 32;  // bytes; the longest in use has 19

// Returns the length of a colour at the beginning of the text, such as "ESC [ 1;31 m". 0 if there
// is none; the length of the text and one more if the next piece may complete one.
std::size_t colourAt(std::string_view text) {
  if (text.size() > 1 && text[1] != '[') return 0;
  for (std::size_t i = 2; i < text.size() && i < kMaxColour; ++i) {
    if (text[i] == 'm') return i + 1;
    if ((text[i] < '0' || text[i] > '9') && text[i] != ';' && text[i] != ':') return 0;
  }
  return text.size() < kMaxColour ? text.size() + 1 : 0;
}

class FilteringBuffer final : public std::streambuf {
 public:
  explicit FilteringBuffer(std::streambuf& to) : to_(to) {}

  std::streambuf& to() const { return to_; }

 private:
  std::streamsize xsputn(const char* bytes, std::streamsize size) override {
    const std::string text = filter_.feed({bytes, static_cast<std::size_t>(size)});
    const auto length = static_cast<std::streamsize>(text.size());
    return to_.sputn(text.data(), length) == length ? size : 0;
  }
  int_type overflow(int_type c) override {
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    const char byte = traits_type::to_char_type(c);
    return xsputn(&byte, 1) == 1 ? c : traits_type::eof();
  }
  int sync() override { return to_.pubsync(); }

  std::streambuf& to_;
  ControlFilter filter_;
};

}  // namespace

std::string ControlFilter::feed(std::string_view piece) {
  std::string joined;
  if (!kept_.empty()) {
    joined = std::exchange(kept_, {}).append(piece);
    piece = joined;
  }
  const std::size_t undecided = kube::detail::undecidedEnd(piece);
  std::string rest(piece.substr(piece.size() - undecided));
  piece.remove_suffix(undecided);

  std::string clean;
  while (colours_) {
    const std::size_t escape = piece.find('\x1b');
    if (escape == std::string_view::npos) break;
    clean += kube::detail::withoutControls(piece.substr(0, escape));
    piece.remove_prefix(escape);
    const std::size_t length = colourAt(piece);
    if (length > piece.size()) {
      rest.insert(0, piece);
      piece = {};
      break;
    }
    if (length == 0) {
      clean += kube::detail::withoutControls(piece.substr(0, 1));
      piece.remove_prefix(1);
    } else {
      clean += piece.substr(0, length);
      piece.remove_prefix(length);
    }
  }
  clean += kube::detail::withoutControls(piece);
  kept_ = std::move(rest);
  return clean;
}

TerminalText::TerminalText(std::ostream& out, int fd) : out_(out), before_(out.rdbuf()) {
  if (::isatty(fd) == 0) return;
  filter_ = std::make_unique<FilteringBuffer>(*before_);
  out.rdbuf(filter_.get());
}

TerminalText::TerminalText(std::ostream& out)
    : out_(out), before_(out.rdbuf()), filter_(std::make_unique<FilteringBuffer>(*before_)) {
  out.rdbuf(filter_.get());
}

TerminalText::~TerminalText() {
  if (filter_) out_.rdbuf(before_);
}

std::ostream& operator<<(std::ostream& out, OwnText own) {
  const auto* filter = dynamic_cast<FilteringBuffer*>(out.rdbuf());
  if (filter == nullptr) return out << own.text;
  if (filter->to().sputn(own.text.data(), static_cast<std::streamsize>(own.text.size())) !=
      static_cast<std::streamsize>(own.text.size())) {
    out.setstate(std::ios::badbit);
  }
  return out;
}

}  // namespace kube::cmd
