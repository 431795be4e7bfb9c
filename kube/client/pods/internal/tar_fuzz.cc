// Arbitrary bytes as an archive, in pieces of any size: the result is the same as for the whole
// input at once, or both fail. The first byte is the size of the pieces.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kube/base/error.h"
#include "kube/client/pods/internal/tar.h"

namespace tar_fuzz {

using namespace kube::detail;

void check(bool holds) {
  if (!holds) std::abort();
}

class Recorder final : public TarHandler {
 public:
  std::string said;

  void entry(const TarEntry& entry) override {
    check(!inEntry_);
    inEntry_ = true;
    left_ = entry.size;
    said += "<" + entry.name + "|" + static_cast<char>(entry.type) + std::to_string(entry.mode) +
            "|" + std::to_string(entry.size) + "|" + entry.link + ">";
  }
  void data(std::string_view bytes) override {
    check(inEntry_ && bytes.size() <= left_);
    left_ -= bytes.size();
    said += bytes;
  }
  void end() override {
    check(inEntry_ && left_ == 0);
    inEntry_ = false;
  }

 private:
  bool inEntry_ = false;
  std::uint64_t left_ = 0;
};

std::string outcome(std::string_view bytes, std::size_t size) {
  Recorder recorder;
  TarReader reader(recorder);
  try {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(size, bytes.size()))) {
      reader.feed(std::string(bytes.substr(0, size)));
    }
    reader.finish();
  } catch (const kube::DecodeError&) {
    recorder.said += " failed";
  }
  return recorder.said;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  check(outcome(bytes, std::max<std::size_t>(data[0], 1)) ==
        outcome(bytes, std::max<std::size_t>(bytes.size(), 1)));
  return 0;
}

}  // namespace tar_fuzz
