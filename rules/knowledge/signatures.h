// Signatures: what lines in plain words mean. Data in rules/knowledge/catalog/signatures/, and in
// the same form in a user's folder.
#pragma once

#include <boost/describe.hpp>

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/fact.h"
#include "model/finding.h"
#include "rules/knowledge/limits.h"

namespace faultline {

// Whom a signature blames.
enum class Blames {
  process,  // the rank that printed the line
  host,     // its machine
  part,     // something of its machine that the job may not use: an array of disks, a control group
  nic,      // the NIC and port that the line names (fields "device", "port", "netdev", "pci")
  port,     // the port of a switch (field "netdev"), whose log this is
  peer,     // the one at the other end of the connection (field "peer")
  pair,     // both ends: no line says which is at fault
  gpu,      // the GPU at the line's PCI address (field "pci")
  pci,      // any device at that address, or below the port in field "bridge"
};
BOOST_DESCRIBE_ENUM(Blames, process, host, part, nic, port, peer, pair, gpu, pci)

// The part of such a line in the story of a failure.
enum class Weight {
  cause,     // a failure can begin here
  echo,      // follows from something else; means nothing alone
  notice,    // an echo whose reason the same program prints in another line
  harmless,  // healthy jobs print it, too
};
BOOST_DESCRIBE_ENUM(Weight, cause, echo, notice, harmless)

constexpr bool is_echo(Weight weight) { return weight == Weight::echo || weight == Weight::notice; }

// What a line says of the machine, or of the job, as a whole.
enum class Marks {
  nothing,
  maintenance_begins,  // a shutdown, a driver that is unloaded: what fails next is no fault
  maintenance_ends,
  past_boot,           // a boot reports something of the boot before it
  ended_well,          // the job's program says that it finished all its work
  last_words,          // the line counts only near the end of its source
  gave_up,             // a program ended itself because of an error in another of its lines
  ended_from_outside,  // another job or a person ended the job: no rank is the cause
  ended_at_a_limit,    // the job reached its time limit: no rank is the cause
  process_ends,        // a process reached the end of its program, with success or not
};
BOOST_DESCRIBE_ENUM(Marks, nothing, maintenance_begins, maintenance_ends, past_boot, ended_well,
                    last_words, gave_up, ended_from_outside, ended_at_a_limit, process_ends)

constexpr bool is_from_outside(Marks marks) {
  return marks == Marks::ended_from_outside || marks == Marks::ended_at_a_limit;
}

enum class Span { minute, hour, day };
BOOST_DESCRIBE_ENUM(Span, minute, hour, day)

// How many lines of one part within one span of time are a fault; fewer are no fault.
struct Storm {
  std::uint64_t count = 0;  // 0: one line is enough
  Span within = Span::minute;
  bool operator==(const Storm&) const = default;
};

struct MessageSignature {
  std::string id;  // nccl.ib.retry_exceeded
  Cause cause = Cause::none;
  std::string title;  // template: {host}, {rank}, {gpu}, and the pattern's fields, {peer}
  Severity severity = Severity::error;
  Weight weight = Weight::cause;
  Blames blames = Blames::process;
  double confidence = limits::signature;  // that the line means this, if nothing else is known
  std::string dialect;              // nccl, kernel, system (a host's programs); empty: any line
  std::vector<std::string> levels;  // warn, info; empty: any
  std::string place;  // text in the source file or program that printed it; empty: any
  std::vector<std::string> literals;  // one of them is in every line that can match
  std::string pattern;                // RE2, searched in the text; named groups are fields
  std::string versions;               // of NCCL, for people: "2.22.3..2.23.4"
  // Of lines of the kernel and the system:
  Storm storm;
  std::vector<std::string> recovers;  // ids: what these reported of the same part is over
  std::vector<std::string> excuses;   // ids: what these report of the same part is no fault
  bool lasts = false;                 // the state lasts until the next boot
  Marks marks = Marks::nothing;
  std::vector<Action> actions;
  std::vector<std::string> matches;      // samples that must match
  std::vector<std::string> matches_not;  // and that must not
  std::string file;                      // where it is written, for messages: "nccl.yaml:12"
};

// What is wrong with a signature by itself: a pattern that does not compile, a sample that does not
// match, ... Each text has the file, the id and the correction. Empty: the signature is sound.
std::vector<std::string> problems_of(const MessageSignature& signature);

struct SignatureMatch {
  const MessageSignature* signature = nullptr;
  std::map<std::string, std::string, std::less<>> fields;  // of the groups that took part
  std::size_t begin = 0;                                   // where in the text it stands
  std::size_t end = 0;
};

class Signatures {
 public:
  Signatures();  // none
  // Of signatures with the same id only the first one counts. Throws std::runtime_error with file
  // and id if one cannot be used at all; problems_of() checks its samples. If they were checked
  // before, nothing is checked here, and a pattern is compiled only when it is first needed.
  enum class Were { not_checked, checked };
  explicit Signatures(std::vector<MessageSignature> all, Were were = Were::not_checked);
  ~Signatures();
  Signatures(const Signatures&) = delete;
  Signatures& operator=(const Signatures&) = delete;

  // In the order of their files; where several match, the first one counts.
  std::span<const MessageSignature> all() const;
  const MessageSignature* find(std::string_view id) const;

  std::optional<SignatureMatch> match(const Remark& remark) const;

  // Quick test whether to keep a line of this dialect that is no warning, because a signature may
  // match it.
  bool wants(std::string_view text, std::string_view dialect) const;

  // Whether a line without a known prefix is a kernel message that a signature knows.
  bool reads_like_kernel(std::string_view text) const;
  // Where an NCCL warning that a signature knows begins in a line without a known prefix. nullopt:
  // there is none, or the line only talks about it.
  std::optional<std::size_t> nccl_warning_in(std::string_view text) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace faultline
