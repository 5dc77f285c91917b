// The query part of a request's target: ?name=value&…, percent-decoded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/result.h"
#include "model/time.h"

namespace faultline {

// "a%2Fb" is "a/b". An error names what is wrong with the text.
Result<std::string> percent_decoded(std::string_view text);

class QueryString {
 public:
  // As forms write it: '+' is a blank. A parameter given twice is an error, for nobody could tell
  // which of the two was meant.
  static Result<QueryString> parse(std::string_view text);

  bool has(std::string_view name) const;
  std::optional<std::string> text(std::string_view name) const;

  // Nothing when the parameter is absent; an error when it is there and is none of what it should
  // be.
  Result<std::optional<std::uint64_t>> number(std::string_view name, std::uint64_t smallest = 0,
                                              std::uint64_t largest = UINT64_MAX) const;
  Result<bool> boolean(std::string_view name) const;  // absent: false
  Result<std::optional<Timestamp>> time(std::string_view name) const;

  // A time, or how long before `now` it was: 90m, 2h.
  Result<std::optional<Timestamp>> time_or_age(std::string_view name, Timestamp now) const;

  // With the texts of a JSON object, of these names. What stands in both is given twice.
  Result<QueryString> with_json(std::string_view body,
                                const std::vector<std::string_view>& names) const;

  const std::vector<std::pair<std::string, std::string>>& all() const { return values_; }

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

// Whether text may name a job, host or source: UTF-8, not empty, at most 512 bytes, nothing that
// does not print. An error names `what`.
Result<void> check_name(std::string_view what, std::string_view text);

// The same for names nobody can be asked to mend, as those inside an archive: what may not stand
// becomes '?'.
std::string printable_name(std::string_view text);

// Where a list goes on; what it says inside is nobody's business but the list's.
std::string cursor_for(std::string_view last_seen);
Result<std::string> last_seen_of(std::string_view cursor);

}  // namespace faultline
