// What the detectors of performance share: numbers out of reports, and whose they are.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rules/detect/detector.h"

namespace faultline {

std::vector<Suspicion> suspect_bandwidth_tests(const View& view);   // nccl-tests
std::vector<Suspicion> suspect_profiles(const View& view);          // torch.profiler
std::vector<Suspicion> suspect_barrier_times(const View& view);     // home-made reports
std::vector<Suspicion> suspect_own_times(const View& view);         // of the parts of their steps
std::vector<Suspicion> suspect_least_throughput(const View& view);  // Megatron-LM's measurements
std::vector<Suspicion> suspect_idle_gpus(const View& view);         // samples of GPUs at work
std::vector<Suspicion> suspect_dead_processes(const View& view);    // ps
std::vector<Suspicion> suspect_training(const View& view);          // lines of its steps
std::vector<Suspicion> suspect_late_calls(const View& view);        // NCCL's calls, where dated

// The number that a text begins with.
std::optional<double> leading_number(std::string_view text);

// The latest that the record says of a quantity.
std::optional<double> number_in(const View& view, const PartRecord& record, std::string_view name);
std::string text_in(const View& view, const PartRecord& record, std::string_view name);

struct Pings {
  double sent = 0;
  double received = 0;
};
std::optional<Pings> pings_in(const View& view, const PartRecord& record);

// Whether large messages reach far less than smaller ones did.
bool is_cliff(double reached, double best);

double median(std::vector<double> values);  // 0 of none

// The rank that a record names, or that its sender does; -1: neither does.
int rank_of(const View& view, const PartRecord& record);

// Of a profile, also by the name of its file.
int profiled_rank(const View& view, const PartRecord& record);

// A rank that its peers wait for, with what to compare.
Suspicion late_rank(const View& view, const PartRecord& record, int rank, std::string title,
                    Claim claim);

// Lays a finding on a rank, with its host if that is known.
void lay_on_rank(const View& view, int rank, Finding& finding);

// A finding about the job's speed, resting on the record's line.
Suspicion slow_suspicion(const View& view, const PartRecord& record, Cause cause, Claim claim);

}  // namespace faultline
