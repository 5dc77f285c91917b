// LiveCatalog: the catalog in force. It may be replaced while it is in use: a reader keeps the
// catalog that it got for as long as it needs it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "rules/knowledge/catalog.h"

namespace faultline {

class LiveCatalog {
 public:
  explicit LiveCatalog(Catalog first)
      : current_(std::make_shared<const Catalog>(std::move(first))) {}

  std::shared_ptr<const Catalog> get() const {
    const std::lock_guard lock(mutex_);
    return current_;
  }

  void replace(Catalog next) {
    auto shared = std::make_shared<const Catalog>(std::move(next));
    const std::lock_guard lock(mutex_);
    current_.swap(shared);
    ++version_;
  }

  // Grows with every replacement; cheap enough to be asked for every line.
  std::uint64_t version() const { return version_.load(std::memory_order_acquire); }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Catalog> current_;
  std::atomic<std::uint64_t> version_{0};
};

}  // namespace faultline
