#!/usr/bin/env bash
# bench/run.sh BUILD [--ten-times] [--size MB]: compares time and memory of Faultline with other tools, on
# generated logs (calls; start-up lines without calls; a kernel log; a storm of Xids).
# bench/run.sh BUILD --ranks N [--steps N]: measures a whole job with so many ranks (job.sh).
# Each command runs three times with the file in the page cache; the median counts. It exits with 0 however slow
# that is; only what keeps it from measuring is an error.
set -euo pipefail

readonly RUNS=3
readonly PATIENCE=600     # seconds that a command may take
readonly ONCE_BEYOND=60   # a command slower than this is not repeated
bench=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")

build=$(readlink -f "${1:?usage: bench/run.sh BUILD [--ten-times] [--size MB] [--ranks N [--steps N]]}")
shift
megabytes=500
ten_times=false
ranks=
steps=60   # some 2,000 calls for each rank
while (($# > 0)); do
  case $1 in
    --ten-times) ten_times=true; shift ;;
    --size) megabytes=${2:?--size needs a number of MB}; shift 2 ;;
    --ranks) ranks=${2:?--ranks needs a number}; shift 2 ;;
    --steps) steps=${2:?--steps needs a number}; shift 2 ;;
    *) echo "bench: no flag '$1', only --ten-times, --size MB, --ranks N and --steps N" >&2; exit 2 ;;
  esac
done

work=$(mktemp -d "$build/bench.XXXXXX")
server=
trap '[[ -z $server ]] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
export HOME=$work/home   # lnav writes there
mkdir "$HOME"
rows=$work/rows.tsv      # file, its bytes, command, seconds, peak memory in KB

say() { printf '%s\n' "== $*" >&2; }
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
seconds_since() { awk -v from="$1" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.4f", to - from }'; }
size_of() { stat --format %s "$1"; }
row() { printf '%s\t%s\t%s\t%s\t%s\n' "$(basename "$1")" "$(size_of "$1")" "${@:2}" >>"$rows"; }

# measure FILE NAME COMMAND...: adds one row.
measure() {
  local file=$1 name=$2 times=() peak=0 run status
  say "$(basename "$file"): $name"
  for ((run = 0; run < RUNS; ++run)); do
    local begin=$EPOCHREALTIME
    status=0
    timeout "$PATIENCE" /usr/bin/time --quiet --format %M --output "$work/peak" "${@:3}" \
      </dev/null >"$work/out" 2>&1 || status=$?
    times+=("$(seconds_since "$begin")")
    if ((status > 1)); then
      local why="failed ($status)"
      ((status != 124)) || why="over $PATIENCE s"
      tail -n 3 "$work/out" >&2
      row "$file" "$name" "$why" -
      return
    fi
    ((peak > $(<"$work/peak"))) || peak=$(<"$work/peak")
    [[ ${times[0]%.*} -lt $ONCE_BEYOND ]] || break
  done
  ((status == 0)) || say "$name ended with status $status, although nothing is wrong with this log"
  row "$file" "$name" "$(printf '%s\n' "${times[@]}" | median)" "$peak"
}

# start_server DATA: sets `server` to its process and `address` to where it listens.
start_server() {
  "$build/faultline" serve --listen 127.0.0.1:0 --data "$1" </dev/null >"$work/serve.log" 2>&1 &
  server=$!
  local try
  for ((try = 0; try < 100; ++try)); do
    address=$(grep -om1 '127\.0\.0\.1:[1-9][0-9]*' "$work/serve.log" || true)
    [[ -z $address ]] || return 0
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  return 1
}

stop_server() {
  kill "$server" 2>/dev/null || true
  wait "$server" 2>/dev/null || true
  server=
}

# measure_ingest FILE: measures an upload over loopback until the answer, which says that all of it is durable.
# Each run has a server of its own, so that none already has the bytes.
measure_ingest() {
  local file=$1 name='ingest until durable' times=() peak=0 run
  say "$(basename "$file"): $name"
  for ((run = 0; run < RUNS; ++run)); do
    local data=$work/data.$run begin used
    if ! start_server "$data"; then
      cat "$work/serve.log" >&2
      row "$file" "$name" "failed" -
      stop_server
      return
    fi
    begin=$EPOCHREALTIME
    if ! curl --silent --show-error --fail-with-body --max-time "$PATIENCE" --upload-file "$file" \
      --output "$work/answer" "http://$address/api/v1/ingest?job=bench&source=all.log"; then
      cat "$work/answer" >&2
      row "$file" "$name" "failed" -
      stop_server
      return
    fi
    times+=("$(seconds_since "$begin")")
    used=$(awk '/^VmHWM:/ { print $2 }' "/proc/$server/status")
    ((peak > used)) || peak=$used
    stop_server
    stored=$(du --summarize --bytes "$data" | cut -f 1)
    rm -rf "$data"
  done
  row "$file" "$name" "$(printf '%s\n' "${times[@]}" | median)" "$peak"
  printf '%s\t%s\t%s\n' "$(basename "$file")" "$(size_of "$file")" "$stored" >>"$work/stored.tsv"
}

# generate NAME MEGABYTES [GENERATOR]: prints the path.
generate() {
  local file=$work/$1
  say "$1: writing $2 MB"
  "$build/bench/${3:-generate_coll_log}" --megabytes "$2" >"$file"
  cat "$file" >/dev/null
  echo "$file"
}

# print_table: the ratios compare with wc -l and lnav on the same file.
print_table() {
  awk -F '\t' '
    function ratio(of, to) { return of + 0 > 0 && to + 0 > 0 ? sprintf("%.2f", of / to) : "-" }
    NR == FNR { seconds[$1, $3] = $4; next }
    FNR == 1 {
      printf "%-20s %-22s %10s %8s %10s %10s %10s\n", \
        "file", "command", "seconds", "GB/s", "peak MB", "to wc -l", "to lnav"
    }
    {
      name = $1 == last ? "" : sprintf("%s %.1f GB", $1, $2 / 1e9)
      last = $1
      number = $4 + 0 > 0
      printf "%-20s %-22s %10s %8s %10s %10s %10s\n", name, $3, \
        number ? sprintf("%.3f", $4) : $4, number ? sprintf("%.2f", $2 / 1e9 / $4) : "-", \
        number ? sprintf("%.1f", $5 * 1024 / 1e6) : "-", \
        ratio($4, seconds[$1, "wc -l"]), ratio($4, seconds[$1, "lnav, SQL"])
    }' "$rows" "$rows"
  [[ ! -e $work/stored.tsv ]] || awk -F '\t' '
    { printf "%s: the database takes %.1f MB, 1/%.0f of the log\n", $1, $3 / 1e6, $2 / $3 }' "$work/stored.tsv"
}

print_machine() {
  printf '%s, %s cores; median of %s runs, page cache warm\n\n' \
    "$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -1)" "$(nproc)" "$RUNS"
}

if [[ -n $ranks ]]; then
  # shellcheck source-path=SCRIPTDIR source=/dev/null
  source "$bench/job.sh"
  measure_job "$ranks" "$steps"
  print_machine
  print_jobs
  exit
fi

# Where does every rank stand on every communicator? The part of the diagnosis that SQL can ask.
readonly STANDINGS=';SELECT host, comm, nranks, count(*), max(log_line) FROM nccl_log
  WHERE function IS NOT NULL GROUP BY comm'

file=$(generate all.log "$megabytes")
measure "$file" 'wc -l' wc -l "$file"
measure "$file" 'rg -c opCount' rg -c opCount "$file"
measure "$file" 'lnav, SQL' lnav -I "$bench/lnav" -n -c "$STANDINGS" "$file"
measure "$file" 'faultline diagnose' "$build/faultline" diagnose "$file"
measure_ingest "$file"
rm "$file"

file=$(generate startup.log "$megabytes" generate_startup_log)
measure "$file" 'wc -l' wc -l "$file"
measure "$file" 'rg -c "via NET"' rg -c 'via NET' "$file"
measure "$file" 'faultline diagnose' "$build/faultline" diagnose "$file"
rm "$file"

file=$(generate kernel.log "$megabytes" generate_kernel_log)
measure "$file" 'wc -l' wc -l "$file"
measure "$file" 'rg -c NVRM' rg -c NVRM "$file"
measure "$file" 'faultline diagnose' "$build/faultline" diagnose "$file"
rm "$file"

# 170,000 lines of Xid 45 with ten other Xids among them; then ten times as many, to see that memory is flat.
for lines in 170000 1700000; do
  file=$work/xid-storm-$lines.log
  "$build/bench/generate_kernel_log" --storm "$lines" >"$file"
  measure "$file" 'wc -l' wc -l "$file"
  measure "$file" 'rg -c Xid' rg -c Xid "$file"
  measure "$file" 'faultline diagnose' "$build/faultline" diagnose "$file"
  rm "$file"
done

if $ten_times; then
  file=$(generate tenfold.log $((10 * megabytes)))
  measure "$file" 'wc -l' wc -l "$file"
  measure "$file" 'faultline diagnose' "$build/faultline" diagnose "$file"
  rm "$file"
fi

print_machine
print_table
