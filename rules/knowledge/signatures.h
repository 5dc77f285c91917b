// Signatures: what lines mean that say it in words of their own. Data under
// rules/knowledge/catalog/signatures/, and in a folder of the user's in the same form.
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
  part,  // something of its machine that the job need not use: an array of disks, a control group
  nic,   // the NIC and port that the line names (fields "device", "port", "netdev", "pci")
  port,  // the port of a switch (field "netdev"), whose log this is
  peer,  // the one at the other end of the connection (field "peer")
  pair,  // both ends: nothing tells which is guilty
  gpu,   // the GPU at the line's PCI address (field "pci")
  pci,   // whatever has that address; "bridge": the port above it
};
BOOST_DESCRIBE_ENUM(Blames, process, host, part, nic, port, peer, pair, gpu, pci)

// What a line of this signature is in a story.
enum class Weight {
  cause,     // can be where it began
  echo,      // follows from something else; says nothing alone
  notice,    // an echo, whose reason whoever says it prints as well, before or after
  harmless,  // also healthy jobs print it
};
BOOST_DESCRIBE_ENUM(Weight, cause, echo, notice, harmless)

constexpr bool is_echo(Weight weight) { return weight == Weight::echo || weight == Weight::notice; }

// What a line says of the machine, or of the job, as a whole.
enum class Marks {
  nothing,
  maintenance_begins,  // a shutdown, a driver that is unloaded: what fails next was taken down
  maintenance_ends,
  past_boot,           // a boot tells of the one before it
  ended_well,          // the job's program says that it did all it was to do
  last_words,          // it means something only near the end of its source
  gave_up,             // a program ended itself for an error that others of its lines tell
  ended_from_outside,  // for another job, by somebody: no rank began it
  ended_at_a_limit,    // of its time; so as well
  process_ends,        // a process came to the end of its program, well or not
};
BOOST_DESCRIBE_ENUM(Marks, nothing, maintenance_begins, maintenance_ends, past_boot, ended_well,
                    last_words, gave_up, ended_from_outside, ended_at_a_limit, process_ends)

constexpr bool is_from_outside(Marks marks) {
  return marks == Marks::ended_from_outside || marks == Marks::ended_at_a_limit;
}

enum class Span { minute, hour, day };
BOOST_DESCRIBE_ENUM(Span, minute, hour, day)

// How many lines of one part within one span of time are a fault; a few of them are none.
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
  double confidence =
      limits::signature;            // that this is what the line says it is, if nothing else speaks
  std::string dialect;              // nccl, kernel, system (a host's programs); empty: any line
  std::vector<std::string> levels;  // warn, info; empty: any
  std::string place;                // text in the place that printed it; empty: any
  std::vector<std::string> literals;  // one of them is in every line that can match
  std::string pattern;                // RE2, searched in the text; named groups are fields
  std::string versions;               // of NCCL, for people: "2.22.3..2.23.4"
  // Of lines of the kernel and the system:
  Storm storm;
  std::vector<std::string> recovers;  // ids: what those told of the same part is over
  std::vector<std::string> excuses;   // ids: what those tell of the same part is no fault
  bool lasts = false;                 // it is so until the next boot; not only when it is said
  Marks marks = Marks::nothing;
  std::vector<Action> actions;
  std::vector<std::string> matches;      // samples that must match
  std::vector<std::string> matches_not;  // and that must not
  std::string file;                      // where it is written, for messages: "nccl.yaml:12"
};

// What is wrong with a signature taken by itself, each with its file, its id and the mend: a
// pattern that does not compile, a sample that does not match, ... Empty: it is sound.
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
  // Of signatures with the same id only the first one counts. Throws std::runtime_error, naming
  // file and id, if one cannot be used at all; its samples are problems_of()'s to check. Of those
  // that were checked before, a pattern is compiled when it is first asked for.
  enum class Were { not_checked, checked };
  explicit Signatures(std::vector<MessageSignature> all, Were were = Were::not_checked);
  ~Signatures();
  Signatures(const Signatures&) = delete;
  Signatures& operator=(const Signatures&) = delete;

  // In the order of their files; where several match, the first one counts.
  std::span<const MessageSignature> all() const;
  const MessageSignature* find(std::string_view id) const;

  std::optional<SignatureMatch> match(const Remark& remark) const;

  // Whether a line of this dialect that is no warning should be kept, because some signature may
  // match it. Quick.
  bool wants(std::string_view text, std::string_view dialect) const;

  // Whether a line that nothing frames is one that a signature of the kernel's knows.
  bool reads_like_kernel(std::string_view text) const;
  // Where in a line that nothing frames a warning of NCCL's begins that a signature knows; nothing
  // where the line only talks about it.
  std::optional<std::size_t> nccl_warning_in(std::string_view text) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace faultline
