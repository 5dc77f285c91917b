// Joins things that share a name: things with a common name are the same thing.
#pragma once

#include <cstddef>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace faultline {

class Joining {
 public:
  std::size_t add() {
    parent_.push_back(parent_.size());
    return parent_.size() - 1;
  }

  // All things with this name are the same.
  void name(std::size_t thing, const std::string& key) {
    const auto [known, is_new] = named_.try_emplace(key, thing);
    if (!is_new) join(thing, known->second);
  }

  void join(std::size_t a, std::size_t b) {
    a = root(a);
    b = root(b);
    if (a != b) parent_[a > b ? a : b] = a > b ? b : a;
  }

  std::size_t root(std::size_t thing) {
    while (parent_[thing] != thing) thing = parent_[thing] = parent_[parent_[thing]];
    return thing;
  }

 private:
  std::vector<std::size_t> parent_;
  std::map<std::string, std::size_t> named_;
};

}  // namespace faultline
