#include "simulate/bandwidth_table.h"

#include <fmt/format.h>

#include <iterator>

#include "simulate/chance.h"

namespace faultline::simulation {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kSmallest = kMiB;
constexpr double kLatency = 24;  // microseconds, of the smallest messages

// The form of nccl-tests' table, by its version.
enum class Print { deviations, counts, current };

Print print_of(const NcclVersion& version) {
  if (version.since(27)) return Print::current;
  return version.since(12) ? Print::counts : Print::deviations;
}

bool is_hopper(const NcclVersion& version) { return version.since(18); }

std::string_view gpu_of(const NcclVersion& version) {
  if (is_hopper(version)) return "NVIDIA H100 80GB HBM3";
  return version.since(12) ? "NVIDIA A100-SXM4-80GB" : "A100-SXM4-80GB";
}

// The bandwidth of large messages when nothing is wrong, in GB/s.
double usual_busbw(const Cluster& cluster, const NcclVersion& version, std::size_t hosts) {
  const bool hopper = is_hopper(version);
  // Each GPU has a NIC of its own.
  if (hosts > 1) return 0.92 * cluster.gpus_per_host() * (hopper ? 50 : 25);
  if (!hopper) return 228;
  return cluster.gpus_per_host() >= 8 ? 476 : 362;
}

class Table {
 public:
  Table(const Cluster& cluster, const NcclVersion& version, const BandwidthTest& test)
      : cluster_(cluster),
        version_(version),
        test_(test),
        print_(print_of(version)),
        chance_(chance(cluster.options().seed, 0x9e4f, test.salt, test.hosts.front())),
        ranks_(static_cast<int>(test.hosts.size()) * cluster.gpus_per_host()),
        busbw_(test.reaches * usual_busbw(cluster, version, test.hosts.size())) {}

  std::string write() {
    head();
    double sum = 0;
    int rows = 0;
    const std::uint64_t largest = (print_ == Print::deviations ? 1'024 : 8'192) * kMiB;
    for (std::uint64_t size = kSmallest; size <= largest; size *= kFactor, ++rows) sum += row(size);
    put("# Out of bounds values : {} {}\n# Avg bus bandwidth    : {:g} \n#\n", wrong_,
        wrong_ > 0 ? "FAILED" : "OK", sum / rows);
    if (print_ == Print::current) put("# Collective test concluded: all_reduce_perf\n#\n");
    return std::move(out_);
  }

 private:
  static constexpr std::uint64_t kFactor = 4;

  template <class... Arguments>
  void put(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Arguments>(arguments)...);
  }

  void head() {
    // On one host a single process has all GPUs; on several, mpirun starts a process for each GPU.
    const bool one_process = test_.hosts.size() == 1;
    if (print_ == Print::current)
      put("# nccl-tests version 2.19.6 nccl-headers=22907 nccl-library=22907\n"
          "# Collective test starting: all_reduce_perf\n");
    put("# nThread 1 nGpus {} minBytes {} maxBytes {} step: {}(factor) warmup iters: {} iters: 20 ",
        one_process ? cluster_.gpus_per_host() : 1, kSmallest,
        (print_ == Print::deviations ? 1'024 : 8'192) * kMiB, kFactor,
        print_ == Print::current ? 1 : 5);
    if (print_ != Print::deviations) put("agg iters: 1 ");
    put("validation: {} ", test_.checked ? 1 : 0);
    if (print_ != Print::deviations) put("graph: 0 ");
    if (print_ == Print::current) put("unalign: 0 ");
    put("\n#\n# Using devices\n");
    int rank = 0;
    for (const int host : test_.hosts)
      for (int local = 0; local < cluster_.gpus_per_host(); ++local)
        device(rank++, host, local, one_process);
    put("#\n");
    columns();
  }

  void columns() {
    const bool old = print_ == Print::deviations;
    const std::string_view wider = print_ == Print::current ? " " : "";
    const std::string group =
        fmt::format("    time   algbw   busbw {}{}", wider, old ? " error" : "#wrong");
    put("#{:{}}out-of-place{:23}in-place{:10}\n", "", old ? 53 : 62, "", "");
    put("#       size         count  {}{} {}{}\n",
        old ? "  type   redop " : "    type   redop    root ", group, group, wider);
    put("#        (B)    (elements){:{}}(us)  (GB/s)  (GB/s){:{}}(us)  (GB/s)  (GB/s)       \n", "",
        old ? 21 : 31, "", 12 + wider.size());
  }

  void device(int rank, int host, int local, bool one_process) {
    const std::string address = cluster_.pci_address(local);  // 0000:3b:00.0
    const auto pid = 21'700 + 100 * host + (one_process ? 0 : local);
    put("#{}Rank {:>2} ", print_ == Print::deviations ? "   " : "  ", rank);
    if (print_ != Print::deviations) put("Group  0 ");
    put("Pid {:>6} on {:>10} device {:>2} [{}] {}\n", pid, Cluster::host_name(host), local,
        print_ == Print::current ? address.substr(0, address.rfind('.'))
                                 : "0x" + address.substr(5, 2),
        gpu_of(version_));
  }

  // Returns the row's part of the average.
  double row(std::uint64_t size) {
    put("{:>12}  {:>12}  {:>{}}  {:>6}", size, size / 4, "float",
        print_ == Print::deviations ? 6 : 8, "sum");
    if (print_ != Print::deviations) put("  {:>6}", -1);
    const bool wrong = test_.wrong_from > 0 && size >= test_.wrong_from;
    double sum = 0;
    for (int place = 0; place < 2; ++place) sum += measured(size, wrong);
    put("\n");
    return sum / 2;
  }

  double measured(std::uint64_t size, bool wrong) {
    const double factor = 2.0 * (ranks_ - 1) / ranks_;
    const double algbw = busbw_ / factor * (0.99 + 0.02 * chance_.fraction());  // GB/s
    const double us = kLatency + static_cast<double>(size) / (algbw * 1e3);
    const double reached = static_cast<double>(size) / (us * 1e3);
    put("  {:>7}  {:>6.2f}  {:>6.2f}  {}",
        fmt::format("{:.{}f}", us,
                    us >= 10'000 ? 0
                    : us >= 100  ? 1
                                 : 2),
        reached, reached * factor, check(wrong));
    return reached * factor;
  }

  std::string check(bool wrong) {
    if (!test_.checked) return fmt::format("{:>5}", "N/A");
    const std::uint64_t count = wrong ? 1 + chance_.below(4'000) : 0;
    if (wrong) ++wrong_;
    // Even right sums deviate a little, since they are added in another order.
    if (print_ == Print::deviations) return wrong ? "2e+00" : "1e-06";
    return fmt::format("{:>{}}", count, print_ == Print::current ? 6 : 5);
  }

  const Cluster& cluster_;
  const NcclVersion& version_;
  const BandwidthTest& test_;
  Print print_;
  Chance chance_;
  int ranks_;
  double busbw_;
  int wrong_ = 0;
  std::string out_;
};

}  // namespace

std::string all_reduce_perf(const Cluster& cluster, const NcclVersion& version,
                            const BandwidthTest& test) {
  return Table(cluster, version, test).write();
}

}  // namespace faultline::simulation
