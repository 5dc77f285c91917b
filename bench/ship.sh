#!/usr/bin/env bash
# bench/ship.sh BUILD [--outage SECONDS] [--acts LIST] [-- FLAG...]: `faultline ship --follow` and Debian's rsyslog
# send the same 16 logs to the same server: through 20 rotations of each kind, five restarts of the server, ten
# minutes without it, and an absence for which their room is too small. Prints for both which lines came once, and
# what it cost. Exits with 1 if the agent lost or doubled a line that it could have kept, or did not say what it lost.
#
# An absence of fewer SECONDS (default: 600) has the lines of ten minutes all the same. LIST are some of: rotations,
# absence, cost, full (default: all). FLAGs go to the agent, such as --read-here. FAULTLINE_KEEP=1 keeps the folder
# with all that was written and said.
# Needs rsyslog (./dev bench fetches it).
set -euo pipefail

readonly USAGE='usage: bench/ship.sh BUILD [--outage SECONDS] [--acts LIST] [-- FLAG...]'
build=$(readlink -f "${1:?$USAGE}")
shift
bench=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
shippers=$(readlink -f "$bench/../build/tools/shippers")
outage=600
acts=rotations,absence,cost,full
while (($# > 0)); do
  case $1 in
    --outage) outage=${2:?--outage needs seconds}; shift 2 ;;
    --acts) acts=${2:?--acts needs a list}; shift 2 ;;
    --) shift; break ;;
    *) echo "ship: no flag '$1'; $USAGE" >&2; exit 2 ;;
  esac
done
agent_flags=("$@")

readonly ROTATIONS=20
readonly ROTATED_RATE=400000    # bytes a second, of all logs together
readonly TRUNCATED_RATE=100000  # its writer pauses for 2 s of each 6
readonly ABSENT_RATE=100000     # 60 calls a second of each of 8 ranks
readonly ABSENT_FOR=600         # seconds whose lines are written
readonly STEADY_RATES=(10000 100000 5000000)  # the first: 1,024 ranks write 95 GB in a day
readonly STEADY_FOR=60
readonly FULL_RATE=1000000
readonly FULL_FOR=60
readonly FULL_SPOOL=1           # MB
readonly SPOOL=256              # MB
readonly CALLS_A_NOTE=16
readonly NO_MORE_AFTER=45       # seconds without a line of what is missing

work=$(mktemp -d "$build/ship.XXXXXX")
declare -A pid=()               # of server, agent, rsyslog, sampler, writer
wrong=()
declare -A caught_up=()
finish() {
  local name
  for name in "${!pid[@]}"; do end "$name"; done
  [[ -n ${FAULTLINE_KEEP:-} ]] || rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

end() {
  [[ -n ${pid[$1]:-} ]] || return 0
  kill "${@:2}" "${pid[$1]}" 2>/dev/null || true
  wait "${pid[$1]}" 2>/dev/null || true
  unset "pid[$1]"
}

has_act() { [[ ,$acts, == *",$1,"* ]]; }
say() { printf '%s\n' "== $(date +%T) $*" >&2; }

# --- the server

port=
start_server() {
  "$build/faultline" serve --listen "127.0.0.1:${port:-0}" --data "$work/data" --keep-lines 4GB --min-free 0 \
    2>"$work/messages" &
  pid[server]=$!
  local url
  until url=$(sed -n 's/.*msg="listening on \([^"]*\)".*/\1/p' "$work/messages") && [[ -n $url ]]; do
    kill -0 "${pid[server]}" || { cat "$work/messages" >&2; exit 1; }
    sleep 0.05
  done
  port=${url##*:}
  until curl -sf -o /dev/null "$url/readyz"; do
    kill -0 "${pid[server]}" || { cat "$work/messages" >&2; exit 1; }
    sleep 0.05
  done
}

# --- who ships

# start_shippers FOLDER JOB SPOOL: both follow FOLDER/logs, with so many MB on the disk at most. What the agent sends
# goes to the job JOB, what rsyslog sends to JOB-rsyslog.
start_shippers() {
  local folder=$1 job=$2 megabytes=$3
  mkdir -p "$folder/logs" "$folder/truth" "$folder/rsyslog"
  "$build/faultline" ship --follow --to "http://127.0.0.1:$port" --host gpu-7 --job "$job" --state "$folder/state" \
    --spool "${megabytes}MB" "${agent_flags[@]}" "$folder/logs" 2>"$folder/agent.messages" &
  pid[agent]=$!
  local modules=$shippers/usr/lib/x86_64-linux-gnu/rsyslog
  cat >"$folder/rsyslog.conf" <<CONFIG
global(workDirectory="$folder/rsyslog")
module(load="$modules/imfile.so")
module(load="$modules/omelasticsearch.so")
template(name="record" type="list" option.jsonf="on") {
  property(outname="@timestamp" name="timereported" dateFormat="rfc3339" format="jsonf")
  constant(outname="host" value="gpu-7" format="jsonf")
  property(outname="path" name="\$!metadata!filename" format="jsonf")
  property(outname="message" name="msg" format="jsonf")
  constant(outname="job" value="$job-rsyslog" format="jsonf")
}
input(type="imfile" file="$folder/logs/*.log" tag="nccl" addMetadata="on" reopenOnTruncate="on")
action(type="omelasticsearch" server="127.0.0.1" serverport="$port" template="record" bulkmode="on"
       queue.type="linkedlist" queue.filename="waiting" queue.maxDiskSpace="${megabytes}m" queue.size="20000"
       queue.dequeuebatchsize="1000" action.resumeRetryCount="-1" action.resumeInterval="2"
       action.resumeIntervalMax="30")
CONFIG
  LD_LIBRARY_PATH=$shippers/usr/lib/x86_64-linux-gnu "$shippers/usr/sbin/rsyslogd" -n -f "$folder/rsyslog.conf" \
    -i "$folder/rsyslog.pid" -M "$modules" >"$folder/rsyslog.messages" 2>&1 &
  pid[rsyslog]=$!
  sample "$folder" &
  pid[sampler]=$!
}

stop_shippers() {
  end sampler
  end agent
  end rsyslog
}

size_of() { { find "$@" -printf "%s\n" 2>/dev/null || true; } | awk '{ sum += $1 } END { printf "%.0f\n", sum }'; }

# Every half second: bytes that wait on the disk, of the agent and of rsyslog.
sample() {
  while sleep 0.5; do
    echo "$(size_of "$1/state" -name '*.spool') $(size_of "$1/rsyslog" -type f)"
  done >"$1/waiting"
}

# --- what it costs

ticks=$(getconf CLK_TCK)
cpu_of() { awk -v hz="$ticks" '{ sub(/.*\) /, ""); print ($12 + $13) / hz }' "/proc/${pid[$1]}/stat"; }
peak_of() { awk '/^VmHWM/ { printf "%.1f", $2 / 1024 }' "/proc/${pid[$1]}/status"; }

# act RESTARTS FOLDER NAME KIND ROTATIONS SECONDS RATE [NOTES]: writes logs, while the server is killed so often; a row
# of FOLDER/cost for each shipper. Without a server nobody waits until all has arrived.
act() {
  local restarts=$1 folder=$2 name=$3 seconds=$6 who i bytes begin=$EPOCHREALTIME
  shift
  say "$name"
  declare -A before=()
  for who in agent rsyslog; do
    before[$who]=$(cpu_of "$who")
    echo 5 >"/proc/${pid[$who]}/clear_refs"   # the peak counts from here
  done
  bytes=$(size_of "$folder/truth" -type f)
  "$build/bench/write_rotated_logs" "$@" &
  pid[writer]=$!
  for ((i = 0; i < restarts; ++i)); do
    sleep "$((seconds / (restarts + 1)))"
    end server -9
    sleep 1
    start_server
  done
  wait "${pid[writer]}" || exit 1
  unset "pid[writer]"
  [[ -z ${pid[server]:-} ]] || await_end "$folder"
  bytes=$(($(size_of "$folder/truth" -type f) - bytes))
  for who in agent rsyslog; do
    awk -v name="$name" -v who="$who" -v a="${before[$who]}" -v b="$(cpu_of "$who")" -v from="$begin" \
      -v to="$EPOCHREALTIME" -v bytes="$bytes" -v peak="$(peak_of "$who")" \
      'BEGIN { printf "| %s | %s | %.1f | %.2f | %.2f | %.1f | %.1f |\n", name, who, bytes / 1e6, b - a,
               (b - a) / (to - from) * 100, (b - a) / bytes * 1e9, peak }' >>"$work/cost"
  done
}

# sum_of JOB FIELD: over the sources that the server has of a job.
sum_of() {
  curl -sf "http://127.0.0.1:$port/api/v1/sources?job=$1&limit=1000" 2>/dev/null |
    grep -o "\"$2\": *[0-9]*" | awk -F: '{ sum += $2 } END { printf "%.0f\n", sum }' || true
}

lines_written() { awk '{ sum += $4 - $3 + 1 } END { print sum }' "$1/acts"; }

# Until the server has of both what was written, or no more comes of what is missing.
await_end() {
  local folder=$1 who written begin=$SECONDS
  written=$(lines_written "$folder")
  declare -A held=([agent]=-1 [rsyslog]=-1) changed=([agent]=$SECONDS [rsyslog]=$SECONDS)
  caught_up=()
  while ((${#caught_up[@]} < 2)); do
    for who in agent rsyslog; do
      [[ -z ${caught_up[$who]:-} ]] || continue
      local now
      now=$(sum_of "$(job_of "$folder" "$who")" lines)
      ((now == held[$who])) || changed[$who]=$SECONDS
      held[$who]=$now
      if ((now >= written)); then
        caught_up[$who]="$((SECONDS - begin)) s"
      elif ((SECONDS - changed[$who] > NO_MORE_AFTER)); then
        caught_up[$who]="never: $((written - now)) lines did not come"
      fi
    done
    sleep 0.2
  done
}

job_of() {
  local job
  job=$(basename "$1")
  if [[ $2 == agent ]]; then echo "$job"; else echo "$job-rsyslog"; fi
}

# --- what arrived

# check FOLDER [--bytes]: rows of $work/arrived, and what is wrong with what the agent sent.
check() {
  local folder=$1 who
  say "reading back what the server has of $(basename "$folder")"
  for who in agent rsyslog; do
    local flags=()
    [[ $who != agent ]] || flags=("${@:2}")
    "$build/bench/check_shipped_logs" "$folder" "$port" "$(job_of "$folder" "$who")" "${flags[@]}" >"$folder/$who.check"
    awk -v who="$who" '$1 != "total" && $1 != "bytes" {
        printf "| %s | %s | %d | %d | %d | %d | %d |\n", $1, who, $2, $3 + $4, $4, $5, $6 }' \
      "$folder/$who.check" >>"$work/arrived"
    awk -v who="$who" -v job="$(basename "$folder")" '
      $1 == "total" { printf "%s, all acts, %s: the server has %d of %d lines, in %d sources; %d of them of another host\n",
                      job, who, $3, $2, $4, $5 }
      $1 == "bytes" { printf "%s, all acts, %s: of %d bytes the server recognizes %d by their digests\n", job, who, $2, $3 }' \
      "$folder/$who.check" >>"$work/totals"
  done
}

expect() { [[ $2 == "$3" ]] || wrong+=("$1: $2, not $3"); }

# Each line of the agent once, in its order, of this host.
expect_all() {
  local folder=$1 job written
  job=$(basename "$folder")
  written=$(lines_written "$folder")
  expect "$job: lines of the agent that are missing, repeated or late" \
    "$(awk '$1 != "total" && $1 != "bytes" { print $4 + $5 + $6 }' "$folder/agent.check" | sort -u | tr '\n' ' ')" '0 '
  expect "$job: what the server has of the agent" "$(sed -n 's/^total //p' "$folder/agent.check")" "$written $written 16 0"
  expect "$job: bytes that the server recognizes" "$(awk '$1 == "bytes" { print $2 - $3 }' "$folder/agent.check")" 0
}

peak_waiting() { awk -v field="$2" '$field > most { most = $field } END { printf "%.1f", most / 1e6 }' "$1/waiting"; }

# What waited for the server on the disk, at most, in pieces of a half second.
tell_of_waiting() {
  echo "waited on the disk, at most, of $1 MB: agent $(peak_waiting "$folder" 1) MB, rsyslog $(peak_waiting "$folder" 2) MB" \
    >>"$work/totals"
}

# --- the acts

start_server
folder=$work/host
mkdir "$folder"
start_shippers "$folder" host "$SPOOL"
if has_act rotations; then
  act 2 "$folder" rename rename "$ROTATIONS" 40 "$ROTATED_RATE"
  act 1 "$folder" copytruncate copy "$ROTATIONS" 40 "$ROTATED_RATE"
  act 1 "$folder" rename+gzip rename+gzip "$ROTATIONS" 40 "$ROTATED_RATE"
  act 1 "$folder" truncate truncate "$ROTATIONS" 120 "$TRUNCATED_RATE"
fi
if has_act absence; then
  end server -9
  act 0 "$folder" "absence" rename+gzip "$ROTATIONS" "$outage" $((ABSENT_RATE * ABSENT_FOR / outage))
  start_server
  await_end "$folder"
  for who in agent rsyslog; do
    echo "after $outage s without a server, $who caught up after: ${caught_up[$who]}" >>"$work/totals"
  done
fi
if has_act cost; then
  for rate in "${STEADY_RATES[@]}"; do
    act 0 "$folder" "$((rate / 1000))_KB/s" none 0 "$STEADY_FOR" "$rate" "$CALLS_A_NOTE"
  done
fi
if [[ -s $folder/acts ]]; then
  tell_of_waiting "$SPOOL"
  check "$folder" --bytes
  expect_all "$folder"
fi
stop_shippers

if has_act full; then
  folder=$work/full
  mkdir "$folder"
  start_shippers "$folder" full "$FULL_SPOOL"
  act 0 "$folder" before none 0 5 "$FULL_RATE"
  end server -9
  act 0 "$folder" full rename+gzip "$ROTATIONS" "$FULL_FOR" "$FULL_RATE"
  start_server
  await_end "$folder"
  act 0 "$folder" after none 0 5 "$FULL_RATE"
  tell_of_waiting "$FULL_SPOOL"
  stop_shippers
  check "$folder"
  gone=$(($(size_of "$folder/truth" -type f) - $(sum_of full next_offset)))
  told=$(sed -n 's/.*: \([0-9]*\) bytes in [0-9]* files, .* are lost.*/\1/p' "$folder/agent.messages" |
    awk '{ sum += $1 } END { printf "%.0f\n", sum }')
  echo "full: $gone bytes of the agent are gone; its log told of $told" >>"$work/totals"
  expect 'full: bytes that the agent told of' "$told" "$gone"
  expect 'full: lines of the agent that are repeated or late' \
    "$(awk '$1 != "total" { print $5 + $6 }' "$folder/agent.check" | sort -u)" 0
fi

printf '\n| rotated by | who | lines | read back | lost | doubled | late |\n|---|---|--:|--:|--:|--:|--:|\n'
cat "$work/arrived"
printf '\n| while | who | MB | CPU, s | of a core, %% | CPU s a GB | memory at most, MB |\n|---|---|--:|--:|--:|--:|--:|\n'
cat "$work/cost"
printf '\n'
cat "$work/totals"
((${#wrong[@]} == 0)) || { printf 'wrong: %s\n' "${wrong[@]}"; exit 1; }
