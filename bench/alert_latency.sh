#!/usr/bin/env bash
# bench/alert_latency.sh BUILD-FOLDER [TRIES]: measures the time from a line's arrival at the server to its
# alert in Alertmanager, while the server takes logs as fast as it can. Prints the median, the 95th percentile
# and the slowest, in milliseconds. Needs prometheus-alertmanager (./dev test fetches it).
set -euo pipefail
build=$(realpath "$1")
tries=${2:-40}
PATH=$PWD/build/tools/usr/bin:$PATH
folder=$(mktemp -d)
pids=()
finish() {
  local pid
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -r "$folder"
}
trap finish EXIT

port=$((20000 + RANDOM % 10000))
cat >"$folder/alertmanager.yml" <<'YAML'
route: {receiver: none}
receivers: [{name: none}]
YAML
prometheus-alertmanager --config.file="$folder/alertmanager.yml" --storage.path="$folder/am" \
  --web.listen-address="127.0.0.1:$port" --cluster.listen-address= >"$folder/am.log" 2>&1 &
pids+=($!)
"$build/faultline" serve --listen "127.0.0.1:$((port + 1))" --data "$folder/data" --alert-hold 0s \
  --alertmanager "http://127.0.0.1:$port" 2>"$folder/faultline.log" &
pids+=($!)
server=http://127.0.0.1:$((port + 1))
curl -sS --retry 50 --retry-connrefused --retry-delay 1 "$server/readyz" -o /dev/null 2>/dev/null

# The load: a job's logs over and over, by turns under eight names.
"$build/faultline" simulate --scenario healthy_uneven_opcounts --nodes 16 --out "$folder/sim" >/dev/null
tar -C "$folder/sim/logs" -cf "$folder/load.tar" .
load() {
  local i=0
  while :; do
    i=$((i + 1))
    curl -sS -o /dev/null --data-binary "@$folder/load.tar" "$server/api/v1/ingest?job=load$((i % 8))&source=s$i" 2>/dev/null || true
  done
}
load &
pids+=($!)
sleep 3

now_ms() { echo $(($(date +%s%N) / 1000000)); }
for ((i = 0; i < tries; i++)); do
  started=$(now_ms)
  printf '[ 1000.000001] NVRM: Xid (PCI:0000:3b:00): 79, pid=4021, name=python3, GPU has fallen off the bus.\n' |
    curl -sS -o /dev/null --data-binary @- "$server/api/v1/ingest?job=probe$i&host=h$i&source=dmesg"
  until curl -sS "http://127.0.0.1:$port/api/v2/alerts?filter=job%3D%22probe$i%22" | grep -q gpu.off_bus; do
    (($(now_ms) - started < 60000)) || { echo "no alert within a minute" >&2; exit 1; }
    sleep 0.02
  done
  echo $(($(now_ms) - started))
done | sort -n >"$folder/times"
lines=$(curl -sS "$server/metrics" | sed -n 's/^faultline_ingest_lines_total //p')
awk -v n="$tries" -v lines="$lines" '
  { t[NR] = $1 }
  END { printf "median %d ms, p95 %d ms, slowest %d ms; %d lines taken meanwhile\n",
        t[int((n + 1) / 2)], t[int(n * 0.95 + 0.5)], t[n], lines }' "$folder/times"
