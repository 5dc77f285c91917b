// journalctl -o json: {"MESSAGE":"...","_HOSTNAME":"...","__REALTIME_TIMESTAMP":"...",...}
#pragma once

#include "ingest/unwrap/peeled.h"
#include "ingest/unwrap/step.h"
#include "ingest/unwrap/text_pool.h"
#include "parsers/json/json_text.h"

namespace faultline {

// Held: it is a record, but its message was too large for journalctl to print.
Step peel_journal_json(Peeled& line, JsonText& json, TextPool& pool);

}  // namespace faultline
