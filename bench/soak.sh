#!/usr/bin/env bash
# bench/soak.sh BUILD [--minutes N] [--plot FILE]: a server takes logs as fast as it can for an hour, while
# clients read answers and an Alertmanager receives alerts. Prints every minute: memory, descriptors, logs taken,
# and how long answers took; FILE gets a picture of it. Exits with 1 if memory or descriptors grow, an answer is not
# 200, a diagnosis takes too long, or an alert does not arrive.
# Needs prometheus-alertmanager (./dev bench fetches it).
set -euo pipefail

bench=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
build=$(readlink -f "${1:?usage: bench/soak.sh BUILD [--minutes N] [--plot FILE]}")
shift
minutes=60
plot=
while (($# > 0)); do
  case $1 in
    --minutes) minutes=${2:?--minutes needs a number}; shift 2 ;;
    --plot) plot=${2:?--plot needs a file}; shift 2 ;;
    *) echo "soak: no flag '$1', only --minutes N and --plot FILE" >&2; exit 2 ;;
  esac
done
readonly BETWEEN_INCIDENTS=5    # seconds
readonly INCIDENTS=(rank_behind gpu_off_bus healthy_late_start oom_killed)
readonly REST=5                 # minutes without a request until a job rests
readonly MOST_GROWTH=5          # percent
readonly MOST_P99=50            # ms, of diagnoses

export PATH=$bench/../build/tools/usr/bin:$PATH   # where ./dev puts Alertmanager
work=$(mktemp -d "$build/soak.XXXXXX")
pids=()
finish() {
  local pid
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

start() {
  local port=$((20000 + RANDOM % 10000))
  printf 'route: {receiver: none}\nreceivers: [{name: none}]\n' >"$work/alertmanager.yml"
  prometheus-alertmanager --config.file="$work/alertmanager.yml" --storage.path="$work/am" \
    --web.listen-address="127.0.0.1:$port" --cluster.listen-address= >"$work/am.log" 2>&1 &
  pids+=($!)
  until curl -sf -o /dev/null "http://127.0.0.1:$port/-/ready"; do sleep 0.05; done
  "$build/faultline" serve --listen 127.0.0.1:0 --data "$work/data" --rest-after "${REST}m" \
    --alert-hold 0s --alertmanager "http://127.0.0.1:$port" 2>"$work/messages" &
  server=$!
  pids+=("$server")
  until url=$(sed -n 's/.*msg="listening on \([^"]*\)".*/\1/p' "$work/messages" 2>/dev/null) && [[ -n $url ]]; do sleep 0.05; done
  until curl -sf -o /dev/null "$url/readyz"; do sleep 0.05; done
}

# The training: 64 ranks log every call for the whole time, a gigabyte in each upload.
train() {
  "$build/bench/generate_coll_log" --megabytes 4000000 |
    split --bytes 1GB --filter "curl -sf -o /dev/null -T - '$url/api/v1/ingest?job=training&source=all.log'" 2>/dev/null
}

# Small jobs that go wrong meanwhile, each under a name of its own.
incidents() {
  local name number=0
  for name in "${INCIDENTS[@]}"; do
    "$build/faultline" simulate --scenario "$name" --out "$work/sim.$name" >/dev/null
    tar -C "$work/sim.$name/logs" -cf "$work/$name.tar" .
  done
  while :; do
    name=${INCIDENTS[number % ${#INCIDENTS[@]}]}
    number=$((number + 1))
    curl -sS -o /dev/null --data-binary "@$work/$name.tar" "$url/api/v1/ingest?job=incident-$number&source=logs.tar" || true
    echo "incident-$number" >"$work/incident"
    sleep "$BETWEEN_INCIDENTS"
  done
}

# Each line: what was asked for, the seconds until its last byte, and the status.
read_answers() {
  local incident i
  while :; do
    incident=$(<"$work/incident")
    for ((i = 0; i < 10; ++i)); do
      curl -s -w 'training %{time_total} %{http_code}\n' -o /dev/null "$url/api/v1/jobs/training/diagnosis" \
        --next -s -w 'incident %{time_total} %{http_code}\n' -o /dev/null "$url/api/v1/jobs/$incident/diagnosis" \
        --next -s -w 'list %{time_total} %{http_code}\n' -o /dev/null "$url/api/v1/jobs" \
        --next -s -w 'health %{time_total} %{http_code}\n' -o /dev/null "$url/healthz" >>"$work/answers" || true
      sleep 0.05
    done
  done
}

metric() { awk -v name="$1" '$1 == name { print $2 }' "$work/metrics"; }

# One row a minute: minute, MB of memory, descriptors, MB a second, jobs, jobs in memory, MB stored,
# then median, 99th percentile and longest of the diagnoses, in ms.
sample() {
  local minute=$1 seconds=$2 bytes
  curl -s "$url/metrics" >"$work/metrics"
  bytes=$(metric faultline_ingest_bytes_total)
  mv "$work/answers" "$work/answers.minute" 2>/dev/null || : >"$work/answers.minute"
  cat "$work/answers.minute" >>"$work/all-answers"
  printf '%s %s %s %s %s %s %s ' "$minute" "$(awk '/^VmRSS/ { printf "%.1f", $2 / 1024 }' "/proc/$server/status")" \
    "$(find "/proc/$server/fd" -mindepth 1 | wc -l)" \
    "$(awk -v n="$bytes" -v b="$taken" -v s="$seconds" 'BEGIN { printf "%.0f", (n - b) / s / 1e6 }')" \
    "$(metric faultline_jobs)" "$(metric faultline_jobs_in_memory)" "$(du -sm "$work/data" | cut -f 1)"
  awk '$1 == "training" || $1 == "incident" { print $2 * 1000 }' "$work/answers.minute" | quantiles
  taken=$bytes
}

# Of numbers on stdin, one a line: median, 99th percentile, longest.
quantiles() {
  sort -n | awk '{ v[NR] = $1 }
    END { printf "%.1f %.1f %.1f\n", v[int((NR + 1) / 2)], v[int(NR * 0.99 + 0.5)], v[NR] }'
}

failed=0
fail() {
  echo "soak: $*" >&2
  failed=1
}

start
taken=0
train &
pids+=($!)
incidents &
pids+=($!)
until [[ -s $work/incident ]] && curl -sf -o /dev/null "$url/api/v1/jobs/training"; do sleep 0.1; done
read_answers &
pids+=($!)
began=$SECONDS
last=$SECONDS
echo 'minute memory_mb descriptors mb_per_s jobs jobs_in_memory stored_mb median_ms p99_ms longest_ms' | tee "$work/rows"
for ((minute = 1; minute <= minutes; ++minute)); do
  sleep $((began + minute * 60 - SECONDS))
  sample "$minute" $((SECONDS - last)) | tee -a "$work/rows"
  taken=$(metric faultline_ingest_bytes_total)
  last=$SECONDS
done
kill -0 "$server" || { echo 'soak: the server has ended' >&2; exit 1; }

printf '\n| asked | answers | not 200 | median / 99 %% / longest, ms |\n|---|--:|--:|--:|\n'
for what in training incident list health; do
  answers=$(grep -c "^$what " "$work/all-answers" || true)
  refused=$(awk -v what="$what" '$1 == what && $3 != 200' "$work/all-answers" | wc -l)
  printf '| %s | %s | %s | %s |\n' "$what" "$answers" "$refused" \
    "$(awk -v what="$what" '$1 == what { print $2 * 1000 }' "$work/all-answers" | quantiles)"
  ((answers > 0)) || fail "nobody asked for $what"
  ((refused == 0)) || fail "$refused answers about $what are not 200"
done
p99=$(awk '$1 == "training" || $1 == "incident" { print $2 * 1000 }' "$work/all-answers" | quantiles | cut -d ' ' -f 2)
awk -v p99="$p99" -v most="$MOST_P99" 'BEGIN { exit p99 > most }' ||
  fail "1 in 100 diagnoses takes longer than $p99 ms, and $MOST_P99 ms are allowed"

alerts() { awk -v outcome="outcome=\"$1\"" '/^faultline_alert_messages_total/ && index($1, outcome) { sum += $2 } END { print sum + 0 }' "$work/metrics"; }
printf '\nmessages to Alertmanager: %s accepted, %s refused, %s failed\n' "$(alerts accepted)" "$(alerts refused)" "$(alerts failed)"
(($(alerts accepted) > 0 && $(alerts refused) + $(alerts failed) == 0)) || fail 'not all alerts arrived'
[[ -z $plot ]] || awk -f "$bench/soak_plot.awk" "$work/rows" >"$plot"

# Compares the means of the second and the last third. In the first third the earliest jobs have yet to rest.
awk -v most="$MOST_GROWTH" 'NR > 1 { memory[NR - 1] = $2; descriptors[NR - 1] = $3; n = NR - 1 }
  function mean(of, from, to,   i, sum) {
    for (i = from + 1; i <= to; ++i) sum += of[i]
    return sum / (to - from)
  }
  END {
    third = int(n / 3)
    if (third == 0) exit
    m = (mean(memory, n - third, n) / mean(memory, n - 2 * third, n - third) - 1) * 100
    d = (mean(descriptors, n - third, n) / mean(descriptors, n - 2 * third, n - third) - 1) * 100
    printf "the last third, compared with the second: memory %+.1f %%, descriptors %+.1f %%\n", m, d
    exit m > most || d > most
  }' "$work/rows" || fail 'memory or descriptors grow'
((failed == 0))
