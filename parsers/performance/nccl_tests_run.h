// One run of a program of nccl-tests, from its table or its JSON: the values that are kept, and the
// facts that they become.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/facts/part.h"
#include "parsers/document.h"
#include "parsers/performance/nccl_tests_table.h"

namespace faultline {

struct NcclTestsRun {
  // How many bytes of a name are kept.
  static constexpr std::size_t kMostWord = 80;

  std::string spoken_host;  // the host that printed the lines, according to their wrapping
  int spoken_rank = -1;

  std::string program;  // all_reduce_perf
  std::int64_t ranks = 0;
  std::vector<std::string> hosts;  // in the order of ranks
  std::set<std::string, std::less<>> known_hosts;
  std::string gpu;
  bool other_gpus = false;
  // Hosts of runs in the same output that had not ended when this run began. Rows and sums may be
  // theirs.
  std::set<std::string, std::less<>> hosts_before;
  std::uint64_t first_size_before = 0;  // the size of their first row; 0: they had no row
  std::uint64_t first_size = 0;
  std::uint64_t last_size = 0;
  bool in_order = true;  // the rows came in the order of sizes

  NcclTestsLayout layout;
  std::int64_t rows = 0;
  NcclTestsRow largest;
  double smallest = 0;
  double peak = 0;
  std::uint64_t peak_size = 0;
  // The row that fell furthest below the best row of smaller messages.
  struct Dip {
    double busbw = 0;
    std::uint64_t size = 0;
    double from = 0;
    std::uint64_t from_size = 0;
  } dip;
  std::int64_t wrong_rows = 0;
  double wrong_values = 0;
  std::uint64_t first_wrong = 0;
  bool checked = false;
  bool lost_a_check = false;  // a torn row lacks its count of wrong values
  std::uint64_t stopped_at = 0;
  // For the size stopped_at: the row so far, and how many of its two times have come.
  NcclTestsRow in_hand;
  std::int64_t times_in_hand = 0;
  std::string out_of_bounds;
  std::string average;
  KeptLine largest_line;
  KeptLine wrong_line;
  KeptLine device_line;

  bool empty() const { return rows == 0 && average.empty() && out_of_bounds.empty(); }
  bool heads_only() const { return empty() && stopped_at == 0; }

  void save(SavedBytesWriter& saved) const;
  void restore(SavedBytesReader& saved);
  // Fields that earlier versions did not save.
  void save_added(SavedBytesWriter& saved) const;
  void restore_added(SavedBytesReader& saved);
  void save_added_later(SavedBytesWriter& saved) const;
  void restore_added_later(SavedBytesReader& saved);
  std::size_t size() const;

  // before: a run in the same output that has not ended.
  void comes_after(NcclTestsRun&& before);
  bool may_be_of_other_hosts() const;
  void add_device(std::string_view host, std::string_view gpu_name);
  void add(const NcclTestsRow& row, const DocumentLine& line);
  void add(const NcclTestsTimes& times, const DocumentLine& line);
  std::string collective() const;
  int ranks_by_ratio() const;
  std::string_view host() const;
  std::vector<NamedValue> names() const;
  bool is_checked() const;
  void give(std::vector<DocumentReading>& readings) const;
};

}  // namespace faultline
