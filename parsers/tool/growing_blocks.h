// GrowingBlocks: an array that grows without moving its elements. An array that doubles holds both
// copies while it grows, which is three times the memory that it needs.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace faultline {

template <class T>
class GrowingBlocks {
 public:
  std::size_t size() const { return size_; }
  T& operator[](std::size_t index) { return blocks_[index / kBlock][index % kBlock]; }
  const T& operator[](std::size_t index) const { return blocks_[index / kBlock][index % kBlock]; }

  T& push_back(const T& value) {
    if (size_ == blocks_.size() * kBlock)
      blocks_.push_back(std::make_unique_for_overwrite<T[]>(kBlock));
    T& place = (*this)[size_++];
    place = value;
    return place;
  }

 private:
  static constexpr std::size_t kBlock = std::size_t{1} << 13;

  std::vector<std::unique_ptr<T[]>> blocks_;
  std::size_t size_ = 0;
};

}  // namespace faultline
