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
  // As forms write it: '+' is a blank. A parameter given twice is an error, because nobody knows
  // which one was meant.
  static Result<QueryString> parse(std::string_view text);

  bool has(std::string_view name) const;
  std::optional<std::string> text(std::string_view name) const;

  // Nothing if the parameter is absent; an error if its value is not allowed.
  Result<std::optional<std::uint64_t>> number(std::string_view name, std::uint64_t smallest = 0,
                                              std::uint64_t largest = UINT64_MAX) const;
  Result<bool> boolean(std::string_view name) const;  // absent: false
  Result<std::optional<Timestamp>> time(std::string_view name) const;

  // A time, or how long before `now` it was: 90m, 2h.
  Result<std::optional<Timestamp>> time_or_age(std::string_view name, Timestamp now) const;

  // Adds the texts of a JSON object with these names. A name that is in both is an error.
  Result<QueryString> with_json(std::string_view body,
                                const std::vector<std::string_view>& names) const;

  const std::vector<std::pair<std::string, std::string>>& all() const { return values_; }

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

// Whether text may name a job, host or source: UTF-8, not empty, at most 512 bytes, nothing that
// does not print. An error names `what`.
Result<void> check_name(std::string_view what, std::string_view text);

// For names that nobody can be asked to fix, such as those inside an archive: what is not allowed
// becomes '?'.
std::string printable_name(std::string_view text);

// Where a list goes on. Only the list knows what the cursor means.
std::string cursor_for(std::string_view last_seen);
Result<std::string> last_seen_of(std::string_view cursor);

}  // namespace faultline
