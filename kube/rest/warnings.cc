#include "kube/rest/warnings.h"

#include <memory>
#include <string>
#include <utility>

#include "kube/base/internal/lru_map.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/log.h"

namespace kube {
namespace {

constexpr int kShownCode = 299;
constexpr std::size_t kMaxText = 4096;

struct DefaultHandler {
  detail::Mutex handlerMutex;
  WarningHandler handler KUBE_GUARDED_BY(handlerMutex) = logWarnings();
};

// Never destroyed: clients may get warnings until the process ends.
DefaultHandler& slot() {
  static DefaultHandler* const only = new DefaultHandler;
  return *only;
}

struct Remembered {
  explicit Remembered(std::size_t capacity) : texts(capacity) {}

  detail::Mutex textsMutex;
  LruMap<std::string, bool> texts KUBE_GUARDED_BY(textsMutex);
};

}  // namespace

WarningHandler logWarnings() {
  return [](const Warning& warning) {
    if (warning.code != kShownCode || warning.text.empty()) return;
    static const Logger log("rest");
    log.warning({{"request", warning.doing}}, "the server warns: {}",
                std::string_view(warning.text).substr(0, kMaxText));
  };
}

WarningHandler ignoreWarnings() {
  return [](const Warning&) {};
}

WarningHandler eachWarningOnce(WarningHandler handler, std::size_t remembered) {
  return [handler = std::move(handler),
          seen = std::make_shared<Remembered>(remembered)](const Warning& warning) {
    {
      const detail::Lock lock(seen->textsMutex);
      const std::string text = warning.text.substr(0, kMaxText);
      if (seen->texts.find(text) != nullptr) return;
      seen->texts.put(text, true);
    }
    handler(warning);
  };
}

WarningHandler setDefaultWarningHandler(WarningHandler handler) {
  if (!handler) handler = logWarnings();
  DefaultHandler& current = slot();
  const detail::Lock lock(current.handlerMutex);
  return std::exchange(current.handler, std::move(handler));
}

WarningHandler defaultWarningHandler() {
  DefaultHandler& current = slot();
  const detail::Lock lock(current.handlerMutex);
  return current.handler;
}

}  // namespace kube
