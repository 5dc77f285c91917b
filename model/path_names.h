// What the name of a file or of its folder tells of whose lines it holds: a host, a rank.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace faultline {

// A host that a path names by words that hosts are called by: "gpu-node-3/dmesg.txt",
// "dmesg-node-1.log". Empty: none. What only has a number in it names no host: "run-3", "gpu7".
std::string host_by_its_words(std::string_view path);

// Whether a word may be a host's name: "run-3" and "rank7" number something else.
bool may_be_a_host(std::string_view name);

struct RankInName {
  int rank = -1;        // -1: none
  std::size_t end = 0;  // of its digits, in the text
};

// "rank7", "Rank 5", "[RANK:5]", "mpirank:5" -> 7, 5, 5, 5: of several the last. The number of a
// node, of a place on a host or in a group of ranks is none: "local_rank0", "node-rank-1", "TP rank
// 2".
RankInName rank_in_words(std::string_view text);

// "nccl-debug-rank7.log" -> 7. A bare number is no rank.
RankInName rank_by_file_name(std::string_view path);

// Hosts that lines or senders name, as far as paths may be named after them.
class HostNames {
 public:
  void add(const std::string& host);

  // The longest known host that is a word of the path: "dmesg-gpu-node-3.log".
  std::string known_in(std::string_view path) const;

  // A folder or file whose name differs from a known host's in its numbers alone.
  std::string numbered_like_one(std::string_view path) const;

  bool contains(std::string_view host) const { return names_.contains(std::string(host)); }

 private:
  std::unordered_set<std::string> names_;
  std::unordered_set<std::string> shapes_;  // gpu-node-#
};

// Paths of like files, one for each host: "node-0/dmesg.txt", "spare-07/dmesg.txt". Where one of
// them is named after a known host, the others are named after hosts.
class LikePaths {
 public:
  void add(std::string_view path);

  // Empty: nothing that differs between this path and its like is a known host.
  std::string host_in(std::string_view path, const HostNames& known) const;

 private:
  std::unordered_map<std::string, std::set<std::string>> by_frame_;  // "*/dmesg.txt" -> names
};

}  // namespace faultline
