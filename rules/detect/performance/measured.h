// Shared by the detectors of performance: numbers in reports, and the ranks that they belong to.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rules/detect/detector.h"

namespace faultline {

std::vector<Suspicion> suspect_bandwidth_tests(const View& view);   // nccl-tests
std::vector<Suspicion> suspect_profiles(const View& view);          // torch.profiler
std::vector<Suspicion> suspect_barrier_times(const View& view);     // reports of scripts
std::vector<Suspicion> suspect_own_times(const View& view);         // times that ranks measure
std::vector<Suspicion> suspect_least_throughput(const View& view);  // Megatron-LM's measurements
std::vector<Suspicion> suspect_idle_gpus(const View& view);         // samples of GPU use
std::vector<Suspicion> suspect_dead_processes(const View& view);    // ps
std::vector<Suspicion> suspect_training(const View& view);          // lines of training steps
std::vector<Suspicion> suspect_late_calls(const View& view);        // NCCL's calls with times

// The number at the start of a text.
std::optional<double> leading_number(std::string_view text);

// The latest value that the record has for a quantity.
std::optional<double> number_in(const View& view, const PartRecord& record, std::string_view name);
std::string text_in(const View& view, const PartRecord& record, std::string_view name);

struct Pings {
  double sent = 0;
  double received = 0;
};
std::optional<Pings> pings_in(const View& view, const PartRecord& record);

// Whether large messages reach far less than smaller ones did.
bool is_cliff(double reached, double best);

double median(std::vector<double> values);  // 0: no values

// The rank that the record names, else the rank of its source; -1: neither is known.
int rank_of(const View& view, const PartRecord& record);

// The rank of a profile: as above, else the rank in the name of its file.
int profiled_rank(const View& view, const PartRecord& record);

// A finding that the peers of this rank wait for it, with an action that says what to compare.
Suspicion late_rank(const View& view, const PartRecord& record, int rank, std::string title,
                    Claim claim);

// Adds the rank, and its host if known, to the subject of the finding.
void lay_on_rank(const View& view, int rank, Finding& finding);

// A finding that the job is slow, with the latest line of the record as evidence.
Suspicion slow_suspicion(const View& view, const PartRecord& record, Cause cause, Claim claim);

}  // namespace faultline
