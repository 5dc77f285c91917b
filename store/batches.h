// The tables of batches and events: what was read, for ever.
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
                                          std::string_view source);
std::vector<HeldBlock> select_blocks_after(Database& database, std::string_view job,
                                           std::string_view source, std::int64_t batch);

// One batch at a time, with nothing held open while `visit` has it: a long replay keeps neither
// memory nor the writer's log.
std::vector<DamagedSource> replay_batches(
    Database& database, std::string_view job,
    const std::function<void(std::string_view packed)>& take_calls,
    const std::function<void(const StoredBatch&)>& visit);

// Nothing: there is none of this number. Throws StoreError if it is damaged.
std::optional<StoredBatch> select_stored_batch(Database& database, std::int64_t number);

// In place of what it told before; nothing, if it is there no more.
// `content` is the encoded batch.
void replace_batch(Database& database, const ChangedBatch& changed, std::string_view content);

bool was_received_after(Database& database, std::string_view job, Timestamp time);

// Its sources are gone at once, however many there are; their batches, which may be gigabytes, with
// each call of delete_some_batches, which returns whether some are left. False: there are none.
bool forget_sources(Database& database, std::string_view job);
bool delete_some_batches(Database& database);

}  // namespace faultline
