#include "parsers/nccl/nccl_forms.h"

#include <algorithm>
#include <array>

#include "parsers/nccl/nccl_call.h"
#include "parsers/nccl/nccl_connection.h"
#include "parsers/nccl/nccl_lifetime.h"
#include "parsers/nccl/nccl_remark.h"
#include "parsers/nccl/nccl_setup.h"
#include "parsers/scan.h"

namespace faultline {
namespace {

using S = NcclSubsystem;
using Facts = std::vector<Fact>;

bool is_call(const NcclMessage& message, Facts& /*facts*/) {
  NcclCall call;
  return parse_nccl_call(message.text, call);
}

bool contains(const NcclMessage& message, std::string_view part) {
  return message.text.find(part) != std::string_view::npos;
}

bool is_algorithm(const NcclMessage& message, Facts& /*facts*/) {
  return contains(message, " Bytes -> ");
}

bool is_allocation(const NcclMessage& message, Facts& /*facts*/) {
  return contains(message, "Alloc Size ") || contains(message, " Mem ");
}

bool is_registration(const NcclMessage& message, Facts& /*facts*/) {
  return contains(message, " register ");
}

bool is_pointer_check(const NcclMessage& message, Facts& /*facts*/) {
  return contains(message, " : skipping sendbuff/recvbuff pointer check");
}

bool is_table_row(const NcclMessage& message, Facts& /*facts*/) {
  return contains(message, " |") && message.text.find_first_not_of(' ') > 0;
}

bool is_indented(const NcclMessage& message, Facts& /*facts*/) {
  return message.text.starts_with("  ") || message.text.starts_with(" + ");
}

bool is_pattern_row(const NcclMessage& message, Facts& /*facts*/) {
  Scan scan(message.text);
  int number = 0;
  scan.skip_blanks();
  return scan.integer(number) && scan.skip(" :");
}

bool is_retry(const NcclMessage& message, Facts& /*facts*/) {
  return contains(message, ", retrying");
}

// Among forms that begin with the same letter, the frequent ones come first.
constexpr NcclForm kForms[] = {
    // Lifetime.
    {"communicator_init",
     "2.3.5-2.3.7, 2.3.7, 2.4.2-2.4.8, 2.5.6-2.15.5, 2.16.2-2.18.1, "
     "2.18.3-2.20.5, 2.18.3-2.20.5",
     S::init, "comm ", read_communicator_init, "communicator_init"},
    {"communicator_init_by",
     "2.21.5-2.28.9, 2.21.5+, 2.21.5-2.22.3, 2.21.5-2.22.3, 2.23.4, "
     "2.23.4, 2.24.3-2.28.9, 2.24.3-2.28.9, 2.29.2+, 2.29.2+",
     S::init, "ncclComm", read_communicator_init, "communicator_init"},
    {"communicator_init_rank", "2.29.2+", S::init, "[Rank ", read_communicator_init,
     "communicator_init"},
    {"communicator_end", "2.12.7+, 2.12.7+, 2.28.3+, 2.28.7+, 2.28.7+", S::destroy, "comm ",
     read_communicator_end, "communicator_end"},
    {"communicator_shape", "2.20.3+", S::init, "comm ", read_communicator_shape,
     "communicator_shape"},
    {"communicator_revoke", "2.28.7+, 2.28.7+", S::destroy, "CommRevokeAsync ", nullptr, ""},
    {"communicator_grow", "2.29.2+", S::init, "ncclCommGrow: ", nullptr, ""},
    {"communicator_suspend", "2.29.7+", S::init, "ncclCommSuspend: ", nullptr, ""},
    {"communicator_resume", "2.29.7+", S::init, "ncclCommResume: ", nullptr, ""},
    {"bootstrap_split", "2.18.1-2.19.4, 2.20.3-2.22.3", S::init, "bootstrapSplit: ", nullptr, ""},

    // Calls, and what surrounds them.
    {"call", "2.3.5, 2.3.7+, 2.7.3+", S::coll, "", is_call, "call"},
    {"algorithm", "2.20.3-2.22.3, 2.23.4, 2.24.3+, 2.27.3-2.27.7, 2.28.3+, 2.29.2+, 2.30.7+",
     S::tuning, "", is_algorithm, ""},
    {"launch_mode", "2.3.5-2.12.12", S::init, "Launch mode ", nullptr, ""},
    {"symmetric_check", "2.29.7+", S::coll, "SymCheck: ", nullptr, ""},
    {"pointer_check", "2.29.7+", S::coll, "", is_pointer_check, ""},

    // Connections.
    {"peer_connection",
     "2.7.3-2.12.12, 2.7.3-2.18.1, 2.8.3+, 2.8.3+, 2.12.7+, 2.12.7+, "
     "2.13.4-2.30.4, 2.14.3+, 2.18.3+, 2.20.3+, 2.26.2+, 2.30.7+",
     S::init, "Channel ", read_peer_connection, "peer_connection"},
    {"ring", "2.4.2-2.4.8, 2.5.6-2.22.3, 2.23.4+", S::init, "Channel ", read_ring, "setting"},
    {"ring_connection", "2.3.5-2.4.8, 2.3.5-2.4.8, 2.5.6-2.6.4", S::init, "Ring ",
     read_peer_connection, "peer_connection"},
    {"graph_ring", "2.10.3+", S::graph, "Ring ", nullptr, ""},
    {"connected", "2.8.3-2.23.4, 2.24.3+, 2.8.3+, 2.23.4+, 2.18.1+, 2.14.3-2.21.5", S::init,
     "Connected ", read_connected, "setup_step"},
    {"connected_collnet", "2.8.3+", S::init, "rank ", read_rank_connected, "setup_step"},
    {"collnet_connection", "2.14.3+", S::init, "CollNet ", read_collnet_connection,
     "peer_connection"},
    {"connect_timings", "2.22.3+", S::profile, "timings: ", read_connect_timings, "setup_step"},
    {"bootstrap_timings", "2.23.4+", S::bootstrap, "Bootstrap timings ", read_bootstrap_timings,
     "setup_step"},
    {"init_timings", "2.22.3, 2.23.4+", S::init, "Init timings", read_init_timings, "setup_step"},

    // How the process is set up.
    {"version", "2.3.5+", S::init, "NCCL version ", read_version, "setting"},
    {"git_version", "2.29.2+", S::init, "NCCL git version ", read_git_version, "setting"},
    {"environment", "2.3.5-2.12.7, 2.12.10+, 2.7.3+, 2.4.2+, 2.4.2+, 2.24.3+", S::env, "NCCL_",
     read_environment, "setting"},
    {"rccl_environment", "RCCL", S::env, "RCCL_", read_environment, "setting"},
    {"driver_version", "2.13.4+", S::init, "cudaDriverVersion ", read_driver_version, "setting"},
    {"config", "2.17.1+, 2.28.7+", S::init, "Comm config ", read_config, "setting"},
    {"bootstrap_interface", "2.4.8-2.23.4, 2.24.3+, 2.24.3+", S::bootstrap, "Bootstrap",
     read_bootstrap_interface, "setting"},
    {"interface", "2.3.5-2.3.7", S::init, "NET : Using interface ", read_old_interface, "setting"},
    {"ib_devices", "2.4.2-2.11.4, 2.12.7+, 2.20.3-2.23.4, 2.24.3+, 2.30.7+, 2.4.2+", S::net,
     "NET/IB : ", read_ib_devices, "setting"},
    {"ib_device", "2.3.5-2.3.7", S::net, "NET/IB: [", read_old_ib_device, "setting"},
    {"socket_devices", "2.4.2+", S::net, "NET/Socket : Using [", read_socket_devices, "setting"},
    {"nic_gdr", "2.4.2-2.4.8, 2.4.2-2.4.8, 2.5.6-2.12.12, 2.13.4+", S::net, "NET/", read_nic_gdr,
     "setting"},
    {"pair_gdr", "2.6.4-2.20.5, 2.21.5-2.23.4, 2.24.3-2.28.9, 2.29.2-2.29.7", S::net,
     "GPU Direct RDMA ", read_pair_gdr, "setting"},
    {"dmabuf", "2.13.4+", S::init, "DMA-BUF ", read_dmabuf, "setting"},
    {"network", "2.6.4+", S::init, "Using network ", read_network, "setting"},
    {"old_network", "2.3.5-2.3.7, 2.3.5-2.3.7", S::init, "Using ", read_network, "setting"},
    {"old_tuner", "2.19.1-2.20.5", S::init, "Using tuner plugin: ", read_old_tuner, "setting"},
    {"plugin_environment", "2.11.4+", S::env, "NET/Plugin", read_plugin_environment, "setting"},
    {"net_plugin",
     "2.4.2-2.16.5, 2.17.1-2.18.6, 2.19.1-2.20.5, 2.21.5, 2.22.3-2.25.1, 2.26.2+, "
     "2.11.4+",
     S::net, "NET/Plugin", read_plugin, "setting"},
    {"tuner_plugin", "2.21.5+, 2.21.5+", S::tuning, "TUNER/Plugin", read_plugin, "setting"},
    {"profiler_plugin", "2.23.4+", S::init, "PROFILER/Plugin", read_plugin, "setting"},
    {"gin_plugin", "2.26.2+, 2.30.7+", S::net, "GIN/Plugin", read_plugin, "setting"},
    {"env_plugin", "2.28.7+", S::env, "ENV/Plugin", read_plugin, "setting"},
    {"assigned_gin", "2.28.7-2.30.4", S::net, "Assigned GIN plugin ", read_assigned_plugin,
     "setting"},
    {"assigned_net", "2.27.3+", S::net, "Assigned ", read_assigned_plugin, ""},
    {"initialized_plugin", "2.27.3+", S::net, "Initialized ", nullptr, ""},
    {"failed_plugin", "2.28.3+", S::net, "Failed to initialize ", nullptr, ""},
    {"loaded_plugin", "2.27.3-2.27.7, 2.28.3+", S::net, "Successfully loaded external ", nullptr,
     ""},
    {"unsupported_plugin", "2.27.3+", S::net, "External network plugin ", nullptr, ""},
    {"disabled_plugins", "2.27.3+", S::net, "Disabling external plugins: ", nullptr, ""},
    {"channel_counts", "2.7.3-2.16.5, 2.17.1-2.19.4, 2.20.3+", S::init, "", read_channel_counts,
     "setting"},
    {"p2p_type", "2.24.3-2.26.6, 2.27.3-2.28.3, 2.28.7+", S::init, "Check P2P Type ", read_p2p_type,
     "setting"},
    {"p2p_chunk", "2.16.2+", S::init, "P2P Chunksize ", read_p2p_chunk, "setting"},
    {"confidential", "2.24.3+", S::init, "CC ", read_confidential, "setting"},
    {"multicast", "2.17.1-2.26.6, 2.27.3-2.29.7, 2.30.3+", S::init, "NVLS multicast ",
     read_multicast, "setting"},
    {"mnnvl", "2.20.3+, 2.21.5+, 2.28.3+", S::init, "MNNVL ", read_mnnvl, "setting"},
    {"affinity", "2.4.2-2.27.7", S::init, "Setting affinity ", read_affinity, "setting"},
    {"thresholds", "2.5.6+", S::init, "threadThresholds ", nullptr, ""},
    {"debug_file", "2.3.5-2.5.7", S::init, "DEBUG file is ", nullptr, ""},
    {"invalid_value", "2.3.5+", S::env, "Invalid value ", nullptr, ""},
    {"stack_size", "2.28.3+", S::init, "Stack size limit ", nullptr, ""},

    // Errors passed up the call stack, and trouble that is printed as INFO.
    {"back_trace", "2.3.5-2.30.4, 2.18.3-2.30.4, 2.4.2-2.18.6, 2.19.1-2.30.4, 2.30.7+", S::warning,
     "", read_back_trace, "back_trace"},
    {"call_retry", "2.4.2-2.23.4", S::net, "Call to ", is_retry, ""},
    {"connect_retry", "2.24.3-2.26.6, 2.27.3+", S::net, "", is_retry, ""},
    {"hint", "2.30.7+", S::net, "HINT: ", nullptr, ""},
    {"cumem_host", "2.26.3+", S::init, "cuMem host allocations ", nullptr, ""},
    {"p2p_disabled", "2.12.7+", S::init, "P2P is disabled between ", nullptr, ""},
    {"p2p_query_failed", "2.6.4+", S::init, "peer query failed between ", nullptr, ""},
    {"p2p_not_enabled", "2.6.4+", S::init, "Could not enable P2P between ", nullptr, ""},
    {"legacy_ipc", "2.6.4+", S::init, "Legacy IPC ", nullptr, ""},
    {"no_verbs", "2.11.4+", S::net, "Failed to open libibverbs.so", nullptr, ""},
    {"no_symbol", "2.27.3+", S::net, "dlvsym failed on ", nullptr, ""},
    {"net_count_mismatch", "2.30.3+", S::net, "Detected mixed local Net device counts ", nullptr,
     ""},
    {"no_color", "2.18.1+", S::init, "Rank ", nullptr, ""},

    // Of little interest.
    {"trees", "2.4.2-2.4.8, 2.5.6-2.7.8, 2.8.3+", S::init, "Trees ", nullptr, ""},
    {"graph_tree", "2.8.3+", S::graph, "Tree ", nullptr, ""},
    {"graph_nvls", "2.18.1+", S::graph, "NVLS Trees ", nullptr, ""},
    {"graph_system", "2.14.3+, 2.14.3+", S::graph, "===", nullptr, ""},
    {"tuning_table", "2.5.6+", S::tuning, "", is_table_row, ""},
    {"graph_node", "2.14.3+", S::graph, "", is_indented, ""},
    {"graph_link", "2.14.3+", S::graph, "+ ", nullptr, ""},
    {"graph_gpu_paths", "2.14.3+", S::graph, "GPU/", nullptr, ""},
    {"graph_pattern", "2.14.3+", S::graph, "Pattern ", read_graph, "setting"},
    {"graph_pattern_row", "2.14.3+", S::graph, "", is_pattern_row, ""},
    {"topology", "2.5.6+", S::graph, "Topology detection", nullptr, ""},
    {"nvls", "2.17.1+", S::nvls, "NVLS ", nullptr, ""},
    {"proxy_service", "2.23.4+, 2.23.4+, 2.23.4+", S::proxy, "[Proxy ", nullptr, ""},
    {"service_thread", "2.12.7+", S::proxy, "[Service thread] ", nullptr, ""},
    {"proxy_new", "2.12.7+", S::proxy, "New proxy ", nullptr, ""},
    {"proxy_listens", "2.30.7+", S::proxy, "proxy listening socket ", nullptr, ""},
    {"ras", "2.24.3+", S::ras, "RAS ", nullptr, ""},
    {"ib_other", "2.3.5-2.28.9, 2.24.3+, 2.27.3+, 2.30.7+", S::net, "NET/IB", nullptr, ""},
    {"socket_other", "2.4.2+", S::net, "NET/Socket", nullptr, ""},
    {"shared_memory", "2.10.3+", S::alloc, "Allocated ", nullptr, ""},
    {"host_allocation", "2.23.4+", S::alloc, "CUMEM Host ", nullptr, ""},
    {"allocation", "2.10.3-2.29.3, 2.29.7-2.30.4, 2.10.3+", S::alloc, "", is_allocation, ""},
    {"registration", "2.21.5+, 2.21.5+", S::reg, "rank ", is_registration, ""},
    {"old_rank", "2.3.5-2.3.7", S::init, "rank ", nullptr, ""},

    // Other levels.
    {"bare_version", "2.3.5+, 2.26.2+", S::init, "NCCL version ", read_version, "setting",
     NcclLevel::version},
    {"warning", "2.3.5-2.25.1, 2.26.2-2.30.4, 2.30.7+", S::warning, "", read_warning, "remark",
     NcclLevel::warn},
    {"abort", "2.3.5-2.6.4", S::warning, "", read_abort, "remark", NcclLevel::abort},
    {"api_call", "2.13.4+", S::call, "", nullptr, "", NcclLevel::call},
    {"trace", "2.3.5+", S::trace, "", nullptr, "", NcclLevel::trace},
};
constexpr std::size_t kCount = std::size(kForms);
static_assert(kCount < 256);

constexpr std::size_t kIndexRoom = [] {
  std::size_t rows = 0;
  for (const NcclForm& form : kForms) rows += form.begins.empty() ? 256 : 1;
  return rows;
}();

// For every first character: the INFO forms that begin with it, in the table's order, then the
// forms that may begin with anything.
struct Index {
  std::array<std::uint16_t, 257> starts{};
  std::array<std::uint8_t, kIndexRoom> rows{};

  std::span<const std::uint8_t> forms(char first) const {
    auto letter = static_cast<unsigned char>(first);
    return std::span(rows).subspan(starts[letter], starts[letter + 1] - starts[letter]);
  }
};

constexpr Index kIndex = [] {
  Index index;
  std::uint16_t size = 0;
  for (std::size_t letter = 0; letter < 256; ++letter) {
    index.starts[letter] = size;
    for (const bool anything : {false, true}) {
      for (std::size_t i = 0; i < kCount; ++i) {
        const NcclForm& form = kForms[i];
        if (form.level != NcclLevel::info || form.begins.empty() != anything) continue;
        if (anything || static_cast<unsigned char>(form.begins[0]) == letter)
          index.rows[size++] = static_cast<std::uint8_t>(i);
      }
    }
  }
  index.starts[256] = size;
  return index;
}();

bool is_of(const NcclForm& form, const NcclMessage& message, Facts& facts) {
  if (!message.text.starts_with(form.begins)) return false;
  if (form.read == nullptr) return true;
  const std::size_t before = facts.size();
  if (form.read(message, facts)) return true;
  facts.erase(facts.begin() + static_cast<std::ptrdiff_t>(before), facts.end());
  return false;
}

}  // namespace

std::string_view name_of(NcclSubsystem subsystem) {
  constexpr std::array<std::string_view, kNcclSubsystems> kNames = {
      "INIT",  "COLL",    "P2P",   "NET",     "GRAPH",     "TUNING", "ENV",
      "ALLOC", "CALL",    "PROXY", "NVLS",    "BOOTSTRAP", "REG",    "PROFILE",
      "RAS",   "DESTROY", "TRACE", "WARNING", "UNKNOWN"};
  return kNames[static_cast<std::size_t>(subsystem)];
}

std::span<const NcclForm> nccl_forms() { return kForms; }

const NcclForm* read_nccl_message(NcclLevel level, const NcclMessage& message, Facts& facts) {
  if (level == NcclLevel::info) {
    if (message.text.empty()) return nullptr;
    for (std::uint8_t i : kIndex.forms(message.text[0]))
      if (is_of(kForms[i], message, facts)) return &kForms[i];
    return nullptr;
  }
  for (const NcclForm& form : kForms)
    if (form.level == level && is_of(form, message, facts)) return &form;
  return nullptr;
}

NcclMessage message_of(const NcclLine& line) {
  std::string_view text = line.message;
  while (text.ends_with(' ') || text.ends_with('\r')) text.remove_suffix(1);
  return {text, line.tid, line.place, line.function};
}

const NcclForm* read_nccl_line(const NcclLine& line, Facts& facts) {
  const std::size_t before = facts.size();
  const NcclForm* form = read_nccl_message(line.level, message_of(line), facts);
  const auto added = facts.begin() + static_cast<std::ptrdiff_t>(before);
  // Ignore a line that other text quotes, unless it is a warning: a warning is free text anyway.
  const bool only_words = line.quoted && line.level != NcclLevel::warn;
  if (only_words)
    facts.erase(added, facts.end());
  else if (line.merged)
    facts.erase(std::remove_if(added, facts.end(),
                               [](const Fact& fact) { return !stands_though_cut(fact); }),
                facts.end());
  return form;
}

bool stands_though_cut(const Fact& fact) {
  // 2.3 ends its line at a place where later versions go on.
  if (const auto* init = std::get_if<CommunicatorInit>(&fact))
    return init->complete || init->cuda_device != -1;
  // "P2p connect done in 0.1" may be a cut 0.12; the other steps end with a word or a bracket.
  if (const auto* step = std::get_if<SetupStep>(&fact)) return step->step != "p2p";
  return std::holds_alternative<CommunicatorEnd>(fact) ||
         std::holds_alternative<CommunicatorShape>(fact);
}

NcclSubsystem guessed_subsystem(std::string_view message) {
  struct Beginning {
    std::string_view text;
    NcclSubsystem subsystem;
  };
  constexpr Beginning kBeginnings[] = {
      {"NET/", S::net},
      {"NET :", S::net},
      {"COLLNET/", S::net},
      {"GIN", S::net},
      {"NVLS", S::nvls},
      {"RAS", S::ras},
      {"PROXY", S::proxy},
      {"[Proxy", S::proxy},
      {"Bootstrap", S::bootstrap},
      {"bootstrap", S::bootstrap},
      {"TUNER", S::tuning},
      {"PROFILER", S::profile},
      {"NCCL_", S::env},
      {"RCCL_", S::env},
      {"Channel", S::init},
      {"Comm", S::init},
      {"comm", S::init},
      {"ncclComm", S::init},
      {"Tree", S::graph},
      {"Ring", S::graph},
      {"P2P", S::p2p},
      {"SHM", S::p2p},
  };
  for (const Beginning& beginning : kBeginnings)
    if (message.starts_with(beginning.text)) return beginning.subsystem;
  return S::unknown;
}

}  // namespace faultline
