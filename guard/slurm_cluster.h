// The nodes of Slurm, through scontrol. A node is taken by draining it with a reason that begins
// with "faultline:". Slurm forgets the reason when a person resumes the node, so the memories
// of nodes are kept in a file.
#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "guard/guard_cluster.h"
#include "ship/collect/run_command.h"
#include "ship/log_part.h"

namespace faultline {

// What `scontrol --oneliner show nodes` prints, with times in UTC.
std::vector<GuardNode> slurm_nodes_in(std::string_view text);

class SlurmCluster : public GuardedCluster {
 public:
  // `path`: where scontrol is looked for, as PATH. `folder`: where memories are kept.
  SlurmCluster(std::string path, const std::filesystem::path& folder,
               const std::atomic<bool>& stopped);

  // Reads what is kept; to be called first. `writes`: nodes will be changed, so nobody else may use
  // the folder.
  Result<void> open_state(bool writes);

  Result<std::vector<GuardNode>> nodes() override;
  Result<void> take(const std::string& node, const GuardFinding& finding,
                    const GuardMark& mark) override;
  Result<void> give_back(const std::string& node, const std::string& finding,
                         const std::string& why, Timestamp now) override;
  Result<void> settle(const std::string& node, Timestamp now) override;
  bool may_have_taken(const std::string& node) override;

 private:
  Result<std::string> scontrol(std::vector<std::string> words);
  // As Slurm has it now.
  Result<GuardNode> node_now(const std::string& name);
  // What is kept, and what Slurm says beside it.
  GuardMemory memory_of(const GuardNode& node) const;
  Result<void> keep(const std::string& node, const GuardMemory& memory);

  CommandRunner runner_;
  std::filesystem::path file_;
  OpenDescriptor lock_;
  std::map<std::string, GuardMemory> memories_;  // of nodes
};

}  // namespace faultline
