// Whatever the bytes: no crash, little memory, and a tree that can be traversed.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "parsers/torch/pickle.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace faultline;
  // A copy that ends exactly at its last byte, so that reading beyond it is noticed.
  const std::vector<char> bytes(data, data + size);
  const Pickle pickle = read_pickle({bytes.data(), bytes.size()});
  if (pickle.outcome == Pickle::Outcome::refused) {
    if (pickle.reason.empty() || pickle.tree.root() != ValueTree::kNothing) std::abort();
    return 0;
  }
  if (pickle.consumed > size) std::abort();
  const ValueTree& tree = pickle.tree;
  if (pickle.outcome == Pickle::Outcome::whole && tree.root() == ValueTree::kNothing) std::abort();
  if (tree.root() == ValueTree::kNothing) return 0;
  std::vector<ValueTree::Index> waiting{tree.root()};
  std::size_t met = 0;
  while (!waiting.empty()) {
    const ValueTree::Index value = waiting.back();
    waiting.pop_back();
    if (++met > (std::size_t{1} << 24)) std::abort();
    if (const auto text = tree.text(value); text && !is_utf8(*text)) std::abort();
    tree.for_each(value, [&](ValueTree::Index element) { waiting.push_back(element); });
  }
  return 0;
}
