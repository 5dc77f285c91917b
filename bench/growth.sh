#!/usr/bin/env bash
# bench/growth.sh BUILD [--jobs N] [--ranks N]: measures how cost grows with the ranks of a job, with its findings, with
# its length and with the number of jobs: each at a tenth of what is asked for, and at all of it. It exits with 1 if ten
# times as much costs more than twelve times as much, or a server with so many jobs is not ready in time.
set -euo pipefail

# shellcheck source=bench/server.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/server.sh"
build=$(readlink -f "${1:?usage: bench/growth.sh BUILD [--jobs N] [--ranks N]}")
shift
jobs=100000
ranks=16384
findings=10000
megabytes=10000
while (($# > 0)); do
  case $1 in
    --jobs) jobs=${2:?--jobs needs a number}; shift 2 ;;
    --ranks) ranks=${2:?--ranks needs a number}; shift 2 ;;
    *) echo "growth: no flag '$1', only --jobs N and --ranks N" >&2; exit 2 ;;
  esac
done
readonly RANKS_OF_A_HOST=8
readonly JOBS_OF_A_BODY=1000
readonly MOST_TIMES=12            # as much, for ten times as much
readonly LEAST_SECONDS=0.1        # less is noise: counts as this
readonly MOST_SECONDS_TO_READY=2

work=$(mktemp -d "$build/growth.XXXXXX")
server=
finish() {
  [[ -z $server ]] || kill "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

over=()
row() { printf '| %s | %s | %s | %s |\n' "$@"; }

# compare WHAT SMALL LARGE SECONDS-OF-SMALL SECONDS-OF-LARGE MB-OF-SMALL MB-OF-LARGE
compare() {
  row "$2 $1" "$4" "$6" ''
  row "$3 $1" "$5" "$7" "$(awk -v a="$4" -v b="$5" 'BEGIN { if (a > 0) printf "%.1f times", b / a }')"
  awk -v a="$4" -v b="$5" -v least="$LEAST_SECONDS" -v most="$MOST_TIMES" \
    'BEGIN { if (a < least) a = least; exit b > most * a }' || over+=("seconds for $3 $1: $5, and for $2 $4")
  awk -v a="$6" -v b="$7" -v most="$MOST_TIMES" 'BEGIN { exit b > most * a }' || over+=("MB for $3 $1: $7, and for $2 $6")
}

# Sets took and peak.
diagnose() {
  local begin=$EPOCHREALTIME
  /usr/bin/time --quiet --format %M --output "$work/peak" "$build/faultline" diagnose "$1" >/dev/null 2>&1 || true
  took=$(seconds_since "$begin")
  peak=$(($(<"$work/peak") / 1024))
}

# ten_times WHAT N COMMAND: COMMAND N makes $work/input.
ten_times() {
  local what=$1 large=$2 small_took small_peak
  "$3" $((large / 10))
  diagnose "$work/input"
  small_took=$took small_peak=$peak
  "$3" "$large"
  diagnose "$work/input"
  compare "$what" $((large / 10)) "$large" "$small_took" "$took" "$small_peak" "$peak"
  rm -rf "$work/input" "$work/sim"
}

hung_job() {
  rm -rf "$work/sim"
  "$build/faultline" simulate --scenario rank_behind --nodes $(($1 / RANKS_OF_A_HOST)) \
    --gpus-per-node "$RANKS_OF_A_HOST" --steps 4 --out "$work/sim" >/dev/null
  rm -rf "$work/input"
  mv "$work/sim/logs" "$work/input"
}
hosts_with_faults() { "$build/bench/generate_flood" hosts "$1" >"$work/input"; }
megabytes_of_calls() { "$build/bench/generate_coll_log" --megabytes "$1" >"$work/input"; }

memory_of_server() { awk '/VmHWM/ { printf "%d", $2 / 1024 }' "/proc/$server/status"; }
metric() { curl -s "$url/metrics" | awk -v name="$1" '$1 == name { print $2 }'; }

# Sets stored, read (seconds), restarted and peak: a server with so many small jobs.
serve_jobs() {
  local count=$1 first begin
  rm -rf "$work/data"
  start_server "$work/data"
  begin=$EPOCHREALTIME
  for ((first = 0; first < count; first += JOBS_OF_A_BODY)); do
    awk -v from="$first" -v to=$((first + JOBS_OF_A_BODY < count ? first + JOBS_OF_A_BODY : count)) 'BEGIN {
      for (i = from; i < to; ++i)
        printf "{\"faultline_job\":\"job-%d\",\"host\":\"n%d\",\"message\":\"[Fri Nov 28 02:47:00 2025] NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.\"}\n", i, i
    }' | curl -sf -o /dev/null --data-binary @- "$url/api/v1/ingest/json"
  done
  stored=$(seconds_since "$begin")
  stop_server
  begin=$EPOCHREALTIME
  start_server "$work/data"
  restarted=$ready
  until [[ $(metric faultline_jobs_unread) == 0 ]]; do sleep 0.2; done
  read_all=$(seconds_since "$begin")
  peak=$(memory_of_server)
  curl -sf "$url/api/v1/jobs/job-$((count - 1))/diagnosis" | grep -q gpu.off_bus || over+=("the last of $count jobs has no answer")
  stop_server
}

printf '| | seconds | MB | |\n|---|--:|--:|--:|\n'
ten_times 'ranks of a job that hangs' "$ranks" hung_job
ten_times 'findings' "$findings" hosts_with_faults
ten_times 'MB of calls' $((megabytes / 10)) megabytes_of_calls

serve_jobs $((jobs / 10))
few_stored=$stored few_read=$read_all few_peak=$peak
serve_jobs "$jobs"
compare 'jobs to store' $((jobs / 10)) "$jobs" "$few_stored" "$stored" "$few_peak" "$peak"
compare 'jobs to read after a restart' $((jobs / 10)) "$jobs" "$few_read" "$read_all" "$few_peak" "$peak"
row "ready with $jobs jobs" "$restarted" '' ''
awk -v is="$restarted" -v most="$MOST_SECONDS_TO_READY" 'BEGIN { exit is > most }' ||
  over+=("seconds until ready with $jobs jobs: $restarted")

if ((${#over[@]} > 0)); then
  printf 'growth: over its limit: %s\n' "${over[@]}" >&2
  exit 1
fi
