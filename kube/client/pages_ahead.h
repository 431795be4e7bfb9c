// The pages of a list, of which the next ones are requested while the program uses the present one.
//
//   for (const auto& page : kube::pagesAhead(pods, {.limit = 500}, {.pages = 2}))
//     for (const auto& pod : page.items) ...
//
//   auto pages = kube::pagesAhead(pods.async(), {.limit = 500});
//   while (true) {
//     const auto page = co_await pages.next();
//     if (!page) break;
//     ...
//   }
//
// Pages come in their order, with the rules of Pages (kube/client/list_pages.h). They are requested
// and decoded on threads of TaskThreads, or on an executor. Destroying the object gives up requests
// that are under way.
//
// Errors: those of a request are thrown in place of its page; the list ends with it.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <deque>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "kube/base/internal/condition.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/internal/thread_tree.h"
#include "kube/base/task.h"
#include "kube/base/task_scope.h"
#include "kube/client/async_resource_client.h"
#include "kube/client/list_pages.h"
#include "kube/client/resource_client.h"

namespace kube {

struct AheadOptions {
  std::size_t pages = 2;   // the number of pages that are held besides the present one
  Executor executor = {};  // empty: threads of TaskThreads
};

template <Described T>
class AsyncPagesAhead {
 public:
  AsyncPagesAhead(AsyncPages<T> pages, AheadOptions options)
      : buffer_(std::make_shared<Buffer>(options.pages)),
        scope_(std::make_unique<TaskScope>(options.executor ? std::move(options.executor)
                                                            : detail::taskThreadsExecutor())) {
    scope_->start(fill(buffer_, std::move(pages)), "pages ahead");
  }

  /// Waits for the next page; none after the last. Throws CanceledError on a stop.
  Task<std::optional<ObjectList<T>>> next() {
    const auto buffer = buffer_;
    const auto ready = [&buffer]() KUBE_REQUIRES(buffer->pagesMutex_) {
      return buffer->over_ || !buffer->pages_.empty();
    };
    const bool any = co_await buffer->changed_.wait(ready);
    if (!any) throw CanceledError("pages of a list: canceled");
    std::optional<ObjectList<T>> page;
    const detail::Lock lock(buffer->pagesMutex_);
    if (buffer->pages_.empty()) {
      if (const auto error = std::exchange(buffer->error_, nullptr)) std::rethrow_exception(error);
      co_return page;
    }
    page = std::move(buffer->pages_.front());
    buffer->pages_.pop_front();
    buffer->changed_.notifyAll();
    co_return page;
  }

 private:
  struct Buffer {
    explicit Buffer(std::size_t most) : most_(most) {}

    const std::size_t most_;
    detail::Mutex pagesMutex_;
    detail::Condition changed_{pagesMutex_};
    std::deque<ObjectList<T>> pages_ KUBE_GUARDED_BY(pagesMutex_);
    std::exception_ptr error_ KUBE_GUARDED_BY(pagesMutex_);
    bool over_ KUBE_GUARDED_BY(pagesMutex_) = false;
  };

  static Task<void> fill(std::shared_ptr<Buffer> buffer, AsyncPages<T> pages) {
    std::exception_ptr error;
    try {
      for (;;) {
        const auto room = [&buffer]() KUBE_REQUIRES(buffer->pagesMutex_) {
          return buffer->pages_.size() < buffer->most_ || buffer->pages_.empty();
        };
        const bool more = co_await buffer->changed_.wait(room);
        if (!more) break;
        std::optional<ObjectList<T>> page = co_await pages.next();
        if (!page) break;
        const detail::Lock lock(buffer->pagesMutex_);
        buffer->pages_.push_back(std::move(*page));
        buffer->changed_.notifyAll();
      }
    } catch (...) {
      error = std::current_exception();
    }
    const detail::Lock lock(buffer->pagesMutex_);
    buffer->over_ = true;
    buffer->error_ = error;
    buffer->changed_.notifyAll();
  }

  std::shared_ptr<Buffer> buffer_;
  std::unique_ptr<TaskScope> scope_;  // ends before the buffer
};

template <Described T>
class PagesAhead {
 public:
  PagesAhead(AsyncPages<T> pages, AheadOptions options, std::stop_token stop)
      : pages_(std::move(pages), std::move(options)), stop_(std::move(stop)) {}

  /// Waits for the next page; none after the last.
  std::optional<ObjectList<T>> next() { return detail::runBlocking(pages_.next(), stop_); }

  using Iterator = detail::PageIterator<PagesAhead, ObjectList<T>>;
  Iterator begin() { return Iterator(*this); }
  std::default_sentinel_t end() const { return {}; }

 private:
  AsyncPagesAhead<T> pages_;
  std::stop_token stop_;
};

template <Described T>
AsyncPagesAhead<T> pagesAhead(const AsyncResourceClient<T>& client, metav1::ListOptions list = {},
                              AheadOptions options = {}) {
  return AsyncPagesAhead<T>(client.pages(std::move(list)), std::move(options));
}
template <Described T>
PagesAhead<T> pagesAhead(const ResourceClient<T>& client, metav1::ListOptions list = {},
                         AheadOptions options = {}, std::stop_token stop = {}) {
  return PagesAhead<T>(client.async().pages(std::move(list)), std::move(options), std::move(stop));
}

}  // namespace kube
