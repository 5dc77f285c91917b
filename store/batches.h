// The tables of batches and events: everything that was read.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "store/sqlite.h"
#include "store/store.h"

namespace faultline {

// `content` is the commit's encoded batch. Returns the batch's number.
std::int64_t insert_batch(Database& database, std::int64_t source, const Commit& commit,
                          std::string_view content);

std::vector<HeldBlock> select_body_starts(Database& database, std::string_view job,
                                          std::string_view source, std::size_t at_most);
std::optional<Fingerprint> select_last_block(Database& database, std::string_view job,
                                             std::string_view source);
std::vector<HeldBlock> select_blocks_after(Database& database, std::string_view job,
                                           std::string_view source, std::int64_t batch);
std::vector<NumberedSource> select_numbered_sources(Database& database, std::string_view job,
                                                    std::string_view name);

// Reads one batch at a time, and holds no query open while `visit` runs: so a long replay takes
// little memory and does not make the writer's log grow.
std::vector<DamagedSource> replay_batches(
    Database& database, std::string_view job,
    const std::function<void(std::string_view packed)>& take_calls,
    const std::function<void(const StoredBatch&)>& visit);

// Nothing: there is none of this number. Throws StoreError if it is damaged.
std::optional<StoredBatch> select_stored_batch(Database& database, std::int64_t number);

// Replaces the content and the events of a batch; does nothing if the batch is gone.
// `content` is the encoded batch.
void replace_batch(Database& database, const ChangedBatch& changed, std::string_view content);

// A batch whose calls were dropped may then be joined to its neighbours (store/kept_calls.h).
void delete_events(Database& database, const EventsOfBatch& events);

bool was_received_after(Database& database, std::string_view job, Timestamp time);

// Hides all sources of the job at once; returns false if there are none. Their batches may be
// gigabytes: each call of delete_some_batches deletes a few, and returns whether some are left.
bool forget_sources(Database& database, std::string_view job);
bool delete_some_batches(Database& database);

// The same one by one, for when a damaged page makes that fail.
std::vector<std::int64_t> forgotten_batches(Database& database);
void delete_batch(Database& database, std::int64_t batch);
void delete_forgotten_sources(Database& database);

}  // namespace faultline
