// The schema grows by numbered steps: store/schema/0001_initial.sql and what follows it. A step
// that was released is never changed.
#pragma once

#include <string_view>
#include <vector>

#include "store/sqlite.h"

namespace faultline {

struct Migration {
  std::string_view name;  // "0001_initial.sql"
  std::string_view text;
};

// In order. Compiled in.
const std::vector<Migration>& migrations();

// Brings a database up to date, each step in a transaction of its own. Throws StoreError if the
// database has seen more steps than there are: a newer program wrote it.
void migrate(Database& database, const std::vector<Migration>& steps);

}  // namespace faultline
