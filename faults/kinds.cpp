#include "faults/kinds.h"

#include <array>

#include "faults/flips.h"
#include "faults/power.h"
#include "faults/rounds.h"

namespace faultline::faults {
namespace {

auto course(Round round) {
  return [round](Lane& lane) { run_course(lane, {.round = round}); };
}

// The times differ from a twin's, so the ends cannot be compared.
auto course_without_twin(Round round) {
  return [round](Lane& lane) { run_course(lane, {.round = round, .has_twin = false}); };
}

// Each round has a folder of its own.
auto single_lives(Round round, bool starts) {
  return [round, starts](Lane& lane) {
    run_course(lane, {.round = round, .rounds_of_a_life = 1, .has_twin = false, .starts = starts});
  };
}

const std::array kKinds = {
    Kind{"kill", "kill -9 at any moment under load", 2000, 12, course(kill_round)},
    Kind{"power", "a power cut; what was not synced is lost, whole or in part", 1000, 12,
         run_power_cuts},
    Kind{"freeze", "SIGSTOP, and SIGCONT or a kill", 200, 2, course(freeze_round)},
    Kind{"full", "the disk is full; only overwrites succeed", 200, 3, course(full_disk_round)},
    Kind{"small", "a real small disk, full", 200, 1, single_lives(small_disk_round, false)},
    Kind{"read-only", "the disk becomes read-only", 200, 3, course(read_only_round)},
    Kind{"read-only-start", "a real disk is read-only when the server starts", 200, 1,
         single_lives(read_only_start_round, false)},
    Kind{"io", "reads, writes or syncs fail with EIO", 200, 4, course(io_error_round)},
    Kind{"short", "writes store only a part", 200, 3, course(short_write_round)},
    Kind{"slow", "each write and sync is slow", 200, 2, course(slow_disk_round)},
    Kind{"descriptors", "no file descriptor is free", 200, 2, course(descriptors_round)},
    Kind{"memory", "no memory is free", 2000, 3, course(memory_round), true},
    Kind{"clock", "the clock jumps", 200, 2, course_without_twin(clock_round)},
    Kind{"drip", "a body is sent again, its first bytes slowly", 200, 1, course(drip_round)},
    Kind{"renamed", "the data folder is renamed while the server runs", 200, 2,
         single_lives(renamed_folder_round, true)},
    Kind{"removed", "the data folder is removed while the server runs", 200, 2,
         single_lives(removed_folder_round, true)},
    Kind{"ready", "/readyz on a full disk", 200, 1, single_lives(readiness_round, false)},
    Kind{"rereading", "kill -9 in a write while lines are read again with other rules", 200, 3,
         course(rereading_round)},
    Kind{"housekeeping", "kill -9 in a write while calls are shortened and the log is folded", 200,
         1, course(housekeeping_round)},
    Kind{"second", "a second server on the same folder", 200, 2, course(second_server_round)},
    Kind{"flip", "a bit of the database changes between two runs", 1000, 8, run_flips},
};

}  // namespace

std::span<const Kind> kinds() { return kKinds; }

}  // namespace faultline::faults
