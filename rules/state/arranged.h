// Values sorted by what they are, not by when they came: an answer must not depend on which file
// was read first. Indices follow the order of arrival and never change.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace faultline {

// Less: an order of T by fields that never change once a value is added.
template <class T, class Less>
class Arranged {
 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;

    Iterator() = default;
    Iterator(const T* values, const std::uint32_t* at) : values_(values), at_(at) {}
    const T& operator*() const { return values_[*at_]; }
    const T* operator->() const { return values_ + *at_; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++at_;
      return before;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const T* values_ = nullptr;
    const std::uint32_t* at_ = nullptr;
  };

  // Returns the index of the added value.
  std::size_t add(T value) {
    const auto index = static_cast<std::uint32_t>(values_.size());
    values_.push_back(std::move(value));
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
      return less_(values_[a], values_[b]);
    };
    if (order_.empty() || !before(index, order_.back()))
      order_.push_back(index);
    else
      order_.insert(std::upper_bound(order_.begin(), order_.end(), index, before), index);
    return index;
  }

  Iterator begin() const { return {values_.data(), order_.data()}; }
  Iterator end() const { return {values_.data(), order_.data() + order_.size()}; }
  std::size_t size() const { return values_.size(); }
  bool empty() const { return values_.empty(); }
  const T& front() const { return *begin(); }

  T& operator[](std::size_t index) { return values_[index]; }
  const T& operator[](std::size_t index) const { return values_[index]; }
  std::size_t index_of(const T& value) const {
    return static_cast<std::size_t>(&value - values_.data());
  }

 private:
  std::vector<T> values_;
  std::vector<std::uint32_t> order_;
  [[no_unique_address]] Less less_;
};

}  // namespace faultline
