// What the names of a file and its folders say of its lines: their host and their rank.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace faultline {

// The host that a path names with a word that is usual for hosts: "gpu-node-3/dmesg.txt",
// "dmesg-node-1.log". Empty: none. A number alone does not make a host: "run-3", "gpu7".
std::string host_by_its_words(std::string_view path);

// Whether a word may be a host's name: "run-3" and "rank7" number something else.
bool may_be_a_host(std::string_view name);

struct RankInName {
  int rank = -1;        // -1: none
  std::size_t end = 0;  // of its digits, in the text
};

// "rank7", "Rank 5", "[RANK:5]", "mpirank:5" -> 7, 5, 5, 5. If there are several, the last. The
// number of a node, of a place on a host or in a group of ranks is no rank: "local_rank0",
// "node-rank-1", "TP rank 2".
RankInName rank_in_words(std::string_view text);

// "nccl-debug-rank7.log" -> 7. A bare number is no rank.
RankInName rank_by_file_name(std::string_view path);

// Hosts that lines or senders have named. Paths may be named after them.
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

// Paths that differ in one name only: "node-0/dmesg.txt", "spare-07/dmesg.txt". If one of these
// names is a known host, the others are hosts, too.
class LikePaths {
 public:
  void add(std::string_view path);

  // Empty: no path that differs from this one in a single name has a known host there.
  std::string host_in(std::string_view path, const HostNames& known) const;

 private:
  std::unordered_map<std::string, std::set<std::string>> by_frame_;  // "*/dmesg.txt" -> names
};

}  // namespace faultline
