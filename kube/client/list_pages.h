// Reads a long list page by page.
//
//   for (const auto& page : pods.pages({.limit = 100}))
//     for (const auto& pod : page.items) ...
//   pods.pages().forEach([](const corev1::Pod& pod) { ... });     // hides the pages
//
// Each page is requested when it is needed. A server keeps the state that pages are cut from for a
// few minutes only. If the state is gone before the last page (isResourceExpired), the whole list
// is read again in one piece, and items that were returned before are returned again.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/task.h"
#include "kube/codec/object_list.h"
#include "kube/meta/api_error.h"
#include "kube/meta/v1.h"

namespace kube {

namespace detail {

/// Throws TransportError if a page names itself as the next one, which would never end.
inline void checkNextPage(const String& token, const String& next) {
  if (next.empty() || next != token) return;
  throw TransportError(
      "the list has no end: the server returned the continue token that it received", true, true);
}

/// A single-pass iterator over what next() returns.
template <class Pages, class Page>
class PageIterator {
 public:
  using value_type = Page;
  using difference_type = std::ptrdiff_t;

  explicit PageIterator(Pages& pages) : pages_(&pages), page_(pages.next()) {}

  const Page& operator*() const { return *page_; }
  const Page* operator->() const { return &*page_; }
  PageIterator& operator++() {
    page_ = pages_->next();
    return *this;
  }
  void operator++(int) { ++*this; }
  bool operator==(std::default_sentinel_t) const { return !page_.has_value(); }

 private:
  Pages* pages_;
  std::optional<Page> page_;
};

}  // namespace detail

/// The pages of a list for coroutines:
///
///   auto pages = pods.pages();
///   while (true) {
///     const auto page = co_await pages.next();
///     if (!page) break;
///     ...
///   }
///
/// It outlives the tasks that next() returns.
template <Described T>
class AsyncPages {
 public:
  using Fetch = std::function<Task<ObjectList<T>>(const metav1::ListOptions&)>;

  AsyncPages(Fetch fetch, metav1::ListOptions options)
      : fetch_(std::move(fetch)), options_(std::move(options)) {
    if (options_.limit == 0) options_.limit = kDefaultLimit;
  }

  /// Reads the next page; none after the last.
  Task<std::optional<ObjectList<T>>> next() {
    if (over_) co_return std::nullopt;
    std::optional<ObjectList<T>> page;
    while (!page) {
      try {
        page = co_await fetch_(options_);
      } catch (const ApiError& error) {
        if (!isResourceExpired(error) || options_.continue_.empty()) throw;
        options_.limit = 0;
        // Not {}: in a template, clang 14 then does not destroy the old value.
        options_.continue_ = String();
        options_.resourceVersion = String();
        options_.resourceVersionMatch = String();
      }
    }
    detail::checkNextPage(options_.continue_, page->metadata.continue_);
    options_.continue_ = page->metadata.continue_;
    // The token contains the position and the version.
    options_.resourceVersion = String();
    options_.resourceVersionMatch = String();
    over_ = options_.continue_.empty();
    co_return page;
  }

 private:
  static constexpr std::int64_t kDefaultLimit = 500;

  Fetch fetch_;
  metav1::ListOptions options_;
  bool over_ = false;
};

template <Described T>
class Pages {
 public:
  using Fetch = std::function<ObjectList<T>(const metav1::ListOptions&)>;

  Pages(Fetch fetch, metav1::ListOptions options)
      : pages_(
            [fetch = std::move(fetch)](const metav1::ListOptions& page) -> Task<ObjectList<T>> {
              return fetched(fetch, page);
            },
            std::move(options)) {}

  /// Reads the next page; none after the last.
  std::optional<ObjectList<T>> next() { return detail::runBlocking(pages_.next(), {}); }

  using Iterator = detail::PageIterator<Pages, ObjectList<T>>;
  Iterator begin() { return Iterator(*this); }
  std::default_sentinel_t end() const { return {}; }

  /// Calls `use` for each item of each remaining page.
  template <class Use>
  void forEach(Use use) {
    while (const auto page = next()) {
      for (const T& item : page->items) use(item);
    }
  }

 private:
  static Task<ObjectList<T>> fetched(const Fetch& fetch, const metav1::ListOptions& page) {
    co_return fetch(page);
  }

  AsyncPages<T> pages_;
};

}  // namespace kube
