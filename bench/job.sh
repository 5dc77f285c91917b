#!/usr/bin/env bash
# shellcheck disable=SC2154
# (build, work, server and address are set by run.sh)
#
# For run.sh: measures a whole job, with a file for each rank. How long does its diagnosis take, from the files
# and from a server that holds it, if nothing is wrong and if all ranks wait for one?

readonly COMMUNICATORS=20
readonly GPUS_PER_NODE=8
readonly UPLOADS_AT_ONCE=8

# measure_job_files SCENARIO DIR: sets files_wall, files_cpu (seconds) and files_peak (KB).
measure_job_files() {
  local walls=() cpus=() run status
  files_peak=0
  for ((run = 0; run < RUNS; ++run)); do
    status=0
    timeout "$PATIENCE" /usr/bin/time --quiet --format '%e %U %S %M' --output "$work/usage" \
      "$build/faultline" diagnose "$2" >"$work/out" 2>&1 || status=$?
    ((status <= 1)) || { tail -n 3 "$work/out" >&2; return 1; }
    local wall user system peak
    read -r wall user system peak <"$work/usage"
    walls+=("$wall")
    cpus+=("$(awk -v u="$user" -v s="$system" 'BEGIN { print u + s }')")
    ((files_peak > peak)) || files_peak=$peak
  done
  say "$1: $(sed -n 2p "$work/out" | cut -c 1-100)"
  files_wall=$(printf '%s\n' "${walls[@]}" | median)
  files_cpu=$(printf '%s\n' "${cpus[@]}" | median)
}

server_cpu() { awk -v hz="$(getconf CLK_TCK)" '{ print ($14 + $15) / hz }' "/proc/$server/stat"; }

# measure_job_server DIR: sets ingest_wall, ingest_cpu, answer, answer_cpu (seconds) and server_peak (KB).
measure_job_server() {
  local data=$work/job.data answers=() run begin
  start_server "$data" || { cat "$work/serve.log" >&2; return 1; }
  find "$1" -type f | sort | awk -F / -v to="http://$address/api/v1/ingest?job=bench&source=" '{
    printf "upload-file = \"%s\"\nurl = \"%s%s/%s\"\noutput = \"/dev/null\"\n", $0, to, $(NF - 1), $NF
  }' >"$work/uploads"
  begin=$EPOCHREALTIME
  curl --silent --show-error --no-progress-meter --fail --parallel --parallel-max "$UPLOADS_AT_ONCE" \
    --config "$work/uploads" >"$work/out" || { stop_server; return 1; }
  ingest_wall=$(seconds_since "$begin")
  ingest_cpu=$(server_cpu)
  sleep 1.2   # the server finishes the work of uploads within a second
  begin=$(server_cpu)
  for ((run = 0; run < RUNS; ++run)); do
    sleep 1.2   # answers are kept for a second; this one is to be computed
    answers+=("$(curl --silent --show-error --fail --output "$work/answer" \
      --write-out '%{time_total}' "http://$address/api/v1/jobs/bench/diagnosis")")
  done
  answer=$(printf '%s\n' "${answers[@]}" | median)
  answer_cpu=$(awk -v from="$begin" -v to="$(server_cpu)" -v runs="$RUNS" 'BEGIN { print (to - from) / runs }')
  server_peak=$(awk '/^VmHWM:/ { print $2 }' "/proc/$server/status")
  stop_server
  rm -rf "$data"
}

# measure_job RANKS STEPS
measure_job() {
  local job=$work/job scenario bytes lines
  (($1 % GPUS_PER_NODE == 0)) || { echo "bench: --ranks takes a multiple of $GPUS_PER_NODE" >&2; exit 2; }
  for scenario in healthy rank_behind; do
    say "$scenario: $1 ranks, $COMMUNICATORS communicators of each, $2 steps"
    "$build/faultline" simulate --scenario "$scenario" --nodes $(($1 / GPUS_PER_NODE)) \
      --gpus-per-node "$GPUS_PER_NODE" --communicators "$COMMUNICATORS" --steps "$2" --out "$job" >&2
    bytes=$(du --summarize --bytes "$job/logs" | cut -f 1)
    lines=$(find "$job/logs" -type f -exec cat {} + | wc -l)   # and warms the page cache
    measure_job_files "$scenario" "$job/logs"
    measure_job_server "$job/logs"
    rm -rf "$job"
    printf '%s\t' "$scenario" "$bytes" "$lines" "$files_wall" "$files_cpu" "$files_peak" \
      "$ingest_wall" "$ingest_cpu" "$server_peak" "$answer" "$answer_cpu" >>"$work/jobs.tsv"
    echo >>"$work/jobs.tsv"
  done
}

print_jobs() {
  awk -F '\t' '
    BEGIN {
      row = "%-12s %7s %9s | %8s %7s %8s | %8s %7s %8s | %10s %7s\n"
      printf row, "", "", "million", "diagnose", "", "", "ingest", "", "", "one answer", ""
      printf row, "job", "GB", "lines", "seconds", "CPU s", "peak MB", "seconds", "CPU s", "peak MB", "ms", "CPU ms"
    }
    {
      printf row, $1, sprintf("%.2f", $2 / 1e9), sprintf("%.1f", $3 / 1e6),
        sprintf("%.2f", $4), sprintf("%.2f", $5), sprintf("%.0f", $6 * 1024 / 1e6),
        sprintf("%.2f", $7), sprintf("%.2f", $8), sprintf("%.0f", $9 * 1024 / 1e6), sprintf("%.0f", $10 * 1000),
        sprintf("%.0f", $11 * 1000)
    }' "$work/jobs.tsv"
}
