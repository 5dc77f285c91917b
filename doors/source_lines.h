// SourceLines: sorts the messages of a body into the sources that they belong to, as lines that the
// readers of logs understand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "doors/destination.h"
#include "doors/record.h"

namespace faultline {

class SourceLines : public RecordVisitor {
 public:
  // A body with more sources is not what one shipper collects. Messages of further ones are
  // counted, and not kept.
  static constexpr std::size_t kMostSources = 16'384;
  static constexpr std::size_t kMostJobs = 1024;

  struct Lines {
    std::string text;  // each line ends with a newline
    std::uint64_t messages = 0;
    std::uint32_t number = 0;
  };

  SourceLines(const LabelNames& names, const DestinationDefaults& defaults);

  // What the messages of a body may grow to by what is put before each line. Beyond it they are not
  // kept: no body that is worth reading consists of line breaks.
  void limit_growth(std::size_t body) { most_bytes_ = kFreeBytes + kGrowth * body; }
  bool too_large() const { return bytes_ > most_bytes_; }
  // Whether messages of a further source or job may find no place.
  bool full() const { return sources_.size() >= kMostSources || jobs_.size() >= kMostJobs; }

  void begin_stream() override;
  void stream_label(std::string_view name, std::string_view value) override;
  void label(std::string_view name, std::string_view value) override;
  void message(std::optional<Timestamp> time, std::string_view text) override;
  void message_at_local_time(Timestamp time, std::string_view text) override;
  void object(std::string_view json) override;
  void unreadable() override { ++unreadable_; }

  const std::map<Destination, Lines>& sources() const { return sources_; }
  std::uint64_t messages() const { return messages_; }  // that were kept
  std::uint64_t unreadable_records() const { return unreadable_; }
  std::uint64_t too_many() const { return too_many_; }  // of more sources than one may have
  std::size_t bytes() const { return bytes_; }
  // By message, in their order: the number of its source; kNoSource: it was not kept.
  static constexpr std::uint32_t kNoSource = UINT32_MAX;
  const std::vector<std::uint32_t>& source_of_message() const { return source_of_message_; }

 private:
  static constexpr std::size_t kFreeBytes = std::size_t{1} << 20;
  static constexpr std::size_t kGrowth = 4;

  Lines* lines_of_next();
  Lines* begin_message();
  void add_message(const std::string& stamp, std::string_view text);
  void end_record();

  DestinationFinder stream_;
  DestinationFinder record_;
  const DestinationFinder empty_;
  bool has_labels_ = false;     // the next record, of its own
  Lines* of_stream_ = nullptr;  // where the messages of the stream without own labels go
  std::map<Destination, Lines> sources_;
  std::set<std::string> jobs_;
  std::uint64_t messages_ = 0;
  std::uint64_t unreadable_ = 0;
  std::uint64_t too_many_ = 0;
  std::size_t bytes_ = 0;
  std::size_t most_bytes_ = SIZE_MAX;
  std::vector<std::uint32_t> source_of_message_;
};

}  // namespace faultline
