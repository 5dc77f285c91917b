#!/usr/bin/env bash
# bench/flood.sh BUILD [--lines N]: measures what a hostile sender costs. First diagnoses each kind of flood
# alone; then sends floods to a server and measures how long its other jobs wait, also after a restart with little
# memory. It exits with 1 if something takes more than its limit, and says what.
set -euo pipefail

# shellcheck source=bench/server.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/server.sh"
build=$(readlink -f "${1:?usage: bench/flood.sh BUILD [--lines N]}")
shift
lines=100000
while (($# > 0)); do
  case $1 in
    --lines) lines=${2:?--lines needs a number}; shift 2 ;;
    *) echo "flood: no flag '$1', only --lines N" >&2; exit 2 ;;
  esac
done
readonly KINDS=(xids outlived fabric strangers boots nics hosts warnings warning-hosts tracebacks communicators callers
  forks peers behind groups barriers ranks ports scheduler finished-calls repeated-timeouts settings pairs
  memory-errors hung-tasks aborts bandwidths timeouts reboots exits)
readonly REQUESTS=300   # for each latency
readonly ASKING=5       # seconds for which clients ask together
readonly TURNS=4
readonly LEAST_BESIDE=80  # per cent of the answers, beside 500 slow clients

# The limits are for 100,000 lines on two cores.
readonly MOST_SECONDS=2 MOST_MB=300 MOST_SECONDS_OF_TENTH=1   # to diagnose a flood
# Kinds that may take more memory.
readonly LARGER=(outlived strangers boots nics warning-hosts ranks scheduler memory-errors reboots exits)
readonly MOST_ANSWER_P99=100 MOST_POST=50                     # ms, of other jobs
readonly MOST_HEALTH_P99=50                                   # ms
readonly MOST_SECONDS_OF_NEWLINES=1
readonly LITTLE_MEMORY=512MB MOST_MB_WITH_LITTLE=1024         # --memory, and what the server takes then
readonly MOST_SECONDS_TO_READY=5

work=$(mktemp -d "$build/flood.XXXXXX")
server=
others=
stop() { [[ -z $1 ]] || kill "$1" 2>/dev/null || true; }
trap 'stop "$others"; stop "$server"; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

over=()
# at_most WHAT MEASURED LIMIT
at_most() { awk -v is="$2" -v most="$3" 'BEGIN { exit is > most }' || over+=("$1: $2, at most $3"); }

ms() { awk '{ v[NR] = $1 * 1000 } END { n = asort_(v); }
  function asort_(a,   i, j, t) {
    for (i = 2; i <= NR; ++i) { t = a[i]; for (j = i - 1; j > 0 && a[j] > t; --j) a[j + 1] = a[j]; a[j + 1] = t }
    printf "%.0f / %.0f / %.0f", a[int((NR + 1) / 2)], a[int(NR * 0.99 + 0.5)], a[NR]
  }'; }

# latency NAME CURL-ARGUMENT...: median, 99th percentile and longest, in ms.
latency() {
  local name=$1 i
  for ((i = 0; i < REQUESTS; ++i)); do
    curl -s -o /dev/null --max-time 60 -w '%{time_total}\n' "${@:2}"
  done | ms >"$work/latency"
  printf '| %s | %s |\n' "$name" "$(<"$work/latency")"
}
p99() { cut -d ' ' -f 3 "$work/latency"; }      # of the last latency
longest() { cut -d ' ' -f 5 "$work/latency"; }

printf '%s lines of each kind, each line naming something else:\n\n' "$lines"
printf '| kind | s | MB | s of a tenth |\n|---|--:|--:|--:|\n'
for kind in "${KINDS[@]}"; do
  "$build/bench/generate_flood" "$kind" "$lines" >"$work/$kind"
  "$build/bench/generate_flood" "$kind" $((lines / 10)) >"$work/tenth"
  tenth=$EPOCHREALTIME
  "$build/faultline" diagnose "$work/tenth" >/dev/null 2>&1 || true
  tenth=$(seconds_since "$tenth")
  begin=$EPOCHREALTIME
  /usr/bin/time --quiet --format %M --output "$work/peak" \
    "$build/faultline" diagnose "$work/$kind" >/dev/null 2>&1 || true
  took=$(seconds_since "$begin")
  peak=$(($(<"$work/peak") / 1024))
  printf '| %s | %s | %d | %s |\n' "$kind" "$took" "$peak" "$tenth"
  at_most "seconds for $kind" "$took" "$MOST_SECONDS"
  [[ " ${LARGER[*]} " == *" $kind "* ]] || at_most "MB for $kind" "$peak" "$MOST_MB"
  at_most "seconds for a tenth of $kind" "$tenth" "$MOST_SECONDS_OF_TENTH"
done

start_server "$work/data" --stall-after 0s
"$build/bench/generate_flood" hosts 10 >"$work/small"
post() { curl -s -o /dev/null --data-binary "@$1" "$url/api/v1/ingest?job=$2&source=$(basename "$1")"; }
post "$work/small" good
printf '\nA server with one small job; ms of %s requests, median / 99 %% / longest:\n\n' "$REQUESTS"
printf '| asked | ms |\n|---|--:|\n'
latency 'its diagnosis, alone' "$url/api/v1/jobs/good/diagnosis"
latency 'a post to it, alone' --data-binary "@$work/small" "$url/api/v1/ingest?job=good&source=small"
readonly FLOODS=(xids warning-hosts tracebacks hosts ranks)
for kind in "${FLOODS[@]}"; do post "$work/$kind" "flood-$kind"; done
# What the small job waits while the floods grow and are diagnosed. $1: when.
beside_floods() {
  (while :; do for kind in "${FLOODS[@]}"; do
    post "$work/small" "flood-$kind"; curl -s -o /dev/null "$url/api/v1/jobs/flood-$kind/diagnosis"
  done; done) &
  others=$!
  latency "its diagnosis, while five floods are diagnosed$1" "$url/api/v1/jobs/good/diagnosis"
  at_most "ms of answers beside floods$1" "$(p99)" "$MOST_ANSWER_P99"
  latency "a post to it, while five floods are diagnosed$1" --data-binary "@$work/small" \
    "$url/api/v1/ingest?job=good&source=small"
  at_most "ms of the longest post beside floods$1" "$(longest)" "$MOST_POST"
  stop "$others"; wait "$others" 2>/dev/null || true
  others=
}
beside_floods ''

head -c 100000000 /dev/zero | tr '\0' '\n' >"$work/newlines"
begin=$EPOCHREALTIME
post "$work/newlines" newlines
took=$(seconds_since "$begin")
printf '| 100 MB of newlines | %s s |\n' "$took"
at_most 'seconds for 100 MB of newlines' "$took" "$MOST_SECONDS_OF_NEWLINES"
(while :; do
  for i in {1..16}; do post "$work/$([[ $((i % 2)) == 0 ]] && echo newlines || echo tracebacks)" "hostile-$i" & done
  wait
done) &
others=$!
latency '/healthz, under 16 hostile uploads' "$url/healthz"
at_most 'ms of /healthz under hostile uploads' "$(p99)" "$MOST_HEALTH_P99"
stop "$others"; wait "$others" 2>/dev/null || true
others=
# In turns, so that other load on the machine slows both.
ask_together() { "$build/bench/ask_together" "${url##*:}" 50 "$ASKING" /api/v1/jobs/good/diagnosis; }
# beside_slow NAME [heads]
beside_slow() {
  local alone=0 beside=0 i
  for ((i = 0; i < TURNS; ++i)); do
    alone=$((alone + $(ask_together)))
    : >"$work/dripping"
    "$build/bench/stall_uploads" "${url##*:}" 500 600 1000 "${@:2}" >"$work/dripping" &
    others=$!
    until grep -q begun "$work/dripping"; do sleep 0.1; done
    beside=$((beside + $(ask_together)))
    stop "$others"; wait "$others" 2>/dev/null || true
    others=
  done
  printf '| answers a second to 50 clients, alone; beside 500 %s of a byte a second | %d; %d (%d %%) |\n' \
    "$1" $((alone / TURNS)) $((beside / TURNS)) $((100 * beside / alone))
  at_most "per cent that 500 $1 take of the answers from others" $((100 - 100 * beside / alone)) $((100 - LEAST_BESIDE))
}
beside_slow uploads
beside_slow 'heads of requests' heads
"$build/bench/stall_uploads" "${url##*:}" 5000 60 >"$work/stalled" &
others=$!
sleep 5
answered=0
for ((i = 0; i < 100; ++i)); do
  curl -sf -o /dev/null --max-time 10 --interface 127.0.0.2 "$url/api/v1/jobs/good/diagnosis" && answered=$((answered + 1))
done
printf '| answers to another peer beside 5,000 stalled uploads | %s of 100 |\n' "$answered"
at_most 'lost answers to another peer beside 5,000 stalled uploads' $((100 - answered)) 0
stop "$others"; wait "$others" 2>/dev/null || true
others=
printf '| the longest that a thread of sockets was held, in all of this | %s s |\n' \
  "$(curl -sf "$url/metrics" | awk '$1 == "faultline_io_longest_seconds" { print $2 }')"
stop_server
start_server "$work/data" --memory "$LITTLE_MEMORY"
printf '| ready after a restart with all of it, and with little memory | %s s |\n' "$ready"
at_most 'seconds until it is ready with little memory' "$ready" "$MOST_SECONDS_TO_READY"
beside_floods ', with little memory'
peak=$(($(awk '/VmHWM/ { print $2 }' "/proc/$server/status") / 1024))
printf '| memory then, at most | %d MB |\n' "$peak"
at_most 'MB of a server with little memory' "$peak" "$MOST_MB_WITH_LITTLE"
if ((${#over[@]} > 0)); then
  printf 'flood: over its limit: %s\n' "${over[@]}" >&2
  exit 1
fi
