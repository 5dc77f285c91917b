#include "simulate/torch_dump.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unordered_map>

#include "simulate/dump_writer.h"

namespace faultline::simulation {
namespace {

using Value = DumpValue;
using std::chrono::nanoseconds;

Value text(std::string_view its) { return {std::string(its)}; }
Value number(std::int64_t its) { return {its}; }

class Dump {
 public:
  Dump(const Options& options, const TorchCalls& calls)
      : version_(*closest_torch(options.torch)), json_(options.json_dumps), calls_(calls) {}

  Value root() {
    Value::List entries;
    entries.items.reserve(calls_.calls().size());
    for (const TorchCall& call : calls_.calls()) {
      // The members of a batch of collectives are recorded from schema 2.7 on.
      const bool of_collectives = !is_peer_to_peer(call.call.function);
      if (call.batched && of_collectives && !version_.schema_since(2, 7)) continue;
      entries.items.push_back(entry(call));
    }
    Value::Dictionary root;
    add(root, "version", text(version_.schema));
    if (version_.schema_since(1, 4)) add(root, "pg_config", config());
    if (version_.schema_since(2, 10))
      add(root, "comm_lib_version", text("2.27.5"));
    else if (version_.schema_since(2, 7))
      add(root, "nccl_version", text("2.26.2"));
    if (version_.schema_since(2, 3)) add(root, "pg_status", status());
    if (!json_ || !entries.items.empty()) add(root, "entries", {std::move(entries)});
    if (json_) add(root, "nccl_comm_state", {Value::Dictionary{}});
    return {std::move(root)};
  }

 private:
  static void add(Value::Dictionary& to, std::string_view name, Value value) {
    to.members.push_back({std::string(name), std::move(value)});
  }

  Value config() const {
    Value::Dictionary all;
    for (const TorchGroupState& group : calls_.groups()) {
      if (group.enqueued < 0) continue;  // a communicator is made when it is first used
      Value::Dictionary one;
      add(one, "name", text(group.name));
      add(one, "desc", text(group.description));
      add(one, "ranks", text(fmt::format("[{}]", fmt::join(group.communicator->members, ", "))));
      add(all, group.name, {std::move(one)});
    }
    return {std::move(all)};
  }

  Value status() const {
    Value::Dictionary all;
    for (const TorchGroupState& group : calls_.groups()) {
      Value::Dictionary one;
      const auto put = [&](std::string_view name, std::int64_t value) {
        add(one, name, json_ ? text(std::to_string(value)) : number(value));
      };
      put("last_enqueued_collective", group.enqueued);
      put("last_started_collective", group.started);
      put("last_completed_collective", group.completed);
      add(all, std::to_string(group.id), {std::move(one)});
    }
    return {std::move(all)};
  }

  Value stack(const TorchCall& call, Group group) {
    Value::List list;
    for (const ProgramFrame& frame : frames_of(call, group)) {
      const auto [known, is_new] =
          frames_.try_emplace(fmt::format("{}{}:{}", frame.function, frame.file, frame.line),
                              static_cast<int>(frames_.size()));
      Value::Dictionary one;
      one.members.reserve(3);
      add(one, "name", text(frame.function));
      add(one, "filename", text(frame.file));
      add(one, "line", number(frame.line));
      list.items.push_back({std::move(one), known->second});
    }
    return {std::move(list)};
  }

  Value sizes(const TorchCall& call, std::uint64_t elements) const {
    if (call.closes) return {Value::List{}};
    return {Value::List{{{Value::List{{number(static_cast<std::int64_t>(elements))}}}}}};
  }
  Value dtypes(const TorchCall& call) const {
    if (call.closes) return {Value::List{}};
    return {Value::List{{text(dtype_name(call.call.datatype))}}};
  }

  Value moment(bool happened, const TorchCall& call, std::chrono::milliseconds after) const {
    if (!happened) return json_ ? number(0) : Value{Value::None{}};
    return number(nanoseconds(call.created.time_since_epoch() + after).count());
  }

  Value entry(const TorchCall& call) {
    const TorchGroupState& group = calls_.groups()[call.call.slot];
    const bool p2p = is_peer_to_peer(call.call.function) && !call.closes;
    const bool completed = call.progress == Progress::completed;
    const bool started = calls_.timing() && call.progress != Progress::scheduled;
    Value::Dictionary entry;
    entry.members.reserve(25);  // all that may follow
    if (!json_) add(entry, "frames", stack(call, group.communicator->group));
    if (version_.schema_since(1, 4)) add(entry, "record_id", number(call.record));
    add(entry, "pg_id", number(group.id));
    if (version_.schema_since(2, 0))
      add(entry, "process_group", {Value::Tuple{{text(group.name), text(group.description)}}});
    if (version_.schema_since(2, 10)) {
      add(entry, "thread_name", text("pt_main_thread"));
      add(entry, "thread_id", text("7254"));
    }
    if (version_.schema_since(2, 0)) {
      add(entry, "collective_seq_id", number(call.sequence));
      add(entry, "p2p_seq_id", number(call.p2p_sequence));
    } else {
      add(entry, "seq_id", number(call.sequence + call.p2p_sequence));
    }
    if (version_.schema_since(1, 4)) add(entry, "op_id", number(call.operation));
    add(entry, "profiling_name", text(recorder_name(call, group.rank)));
    if (version_.schema_since(1, 1)) {
      add(entry, "time_created_ns", moment(true, call, std::chrono::milliseconds{0}));
      if (started && completed) add(entry, "duration_ms", {1.100000023841858});
    }
    const int size = group.communicator->size();
    add(entry, "input_sizes", sizes(call, elements_in(call, size)));
    if (version_.schema_since(2, 0)) add(entry, "input_dtypes", dtypes(call));
    add(entry, "output_sizes", sizes(call, elements_out(call, size)));
    if (version_.schema_since(2, 0)) add(entry, "output_dtypes", dtypes(call));
    add(entry, "state", text(completed ? "completed" : started ? "started" : "scheduled"));
    if (version_.schema_since(1, 1)) {
      using std::chrono::milliseconds;
      add(entry, "time_discovered_started_ns", moment(started, call, milliseconds{90}));
      add(entry, "time_discovered_completed_ns", moment(completed, call, milliseconds{100}));
      add(entry, "retired", {completed});
    }
    if (version_.schema_since(2, 3)) {
      const std::chrono::milliseconds timeout = version_.timeout();
      add(entry, "timeout_ms", number(timeout.count()));
    }
    if (version_.schema_since(2, 0)) add(entry, "is_p2p", {p2p});
    return {std::move(entry)};
  }

  const TorchVersion& version_;
  bool json_;
  const TorchCalls& calls_;
  std::unordered_map<std::string, int> frames_;
};

}  // namespace

std::string dump_name(const Options& options, int rank) {
  if (options.json_dumps) return fmt::format("rank_{}.json", rank);
  return closest_torch(options.torch)->since(2, 9) ? fmt::format("comm_lib_trace_rank_{}", rank)
                                                   : fmt::format("nccl_trace_rank_{}", rank);
}

std::string flight_dump(const Options& options, const TorchCalls& calls) {
  const DumpValue root = Dump(options, calls).root();
  return options.json_dumps ? as_json(root) : pickled(root);
}

}  // namespace faultline::simulation
