#!/usr/bin/env bash
# bench/redaction.sh BUILD: measures what hiding secrets costs, in seconds of CPU: `diagnose` with and without
# --keep-secrets, on calls, on start-up lines, on a trainer's lines, and on a trainer's lines with words that often stand
# before secrets. Prints medians of five runs each. The runs alternate, since a machine is seldom idle.
set -euo pipefail

readonly RUNS=5
build=$(readlink -f "${1:?usage: bench/redaction.sh BUILD}")
work=$(mktemp -d "$build/redaction.XXXXXX")
trap 'rm -rf "$work"' EXIT

# trainer_lines WORDS: 60 MB; every second line has one of WORDS.
trainer_lines() {
  awk -v words="$1" 'BEGIN {
    count = split(words, word, "|")
    for (i = 0; size < 60e6; ++i) {
      line = sprintf("2026-03-05 02:%02d:%02d,%03d INFO train.py:212 step=%d loss=%.4f lr=3.00e-04 samples %d of 500000%s", \
                     i / 60 % 60, i % 60, i % 1000, i, 2 + i % 997 / 1000, i * 512, \
                     count && i % 2 ? ", " word[int(i / 2) % count + 1] : "")
      print line
      size += length(line) + 1
    }
  }'
}

cpu_seconds() {
  local times
  TIMEFORMAT='%U %S'
  times=$({ time "$build/faultline" diagnose "$@" >/dev/null 2>&1 || true; } 2>&1)
  awk '{ print $1 + $2 }' <<<"$times"
}
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

"$build/bench/generate_coll_log" --megabytes 200 >"$work/calls"
"$build/bench/generate_startup_log" --megabytes 100 >"$work/start"
trainer_lines '' >"$work/trainer"
trainer_lines 'pad_token_id=50256 eos_token: </s>|fetching https://hub.example.com/llama/part-1.bin|password authentication is off, token is not set|connected to tcp://10.0.0.7:29500|api_key is not set' >"$work/trainer-words"
for file in calls start trainer trainer-words; do
  : >"$work/hidden"; : >"$work/kept"
  for ((run = 0; run < RUNS; ++run)); do
    cpu_seconds "$work/$file" >>"$work/hidden"
    cpu_seconds --keep-secrets "$work/$file" >>"$work/kept"
  done
  awk -v file="$file" -v hidden="$(median <"$work/hidden")" -v kept="$(median <"$work/kept")" \
    'BEGIN { printf "%-14s %.2f s, %.2f s with --keep-secrets: %+.1f %%\n", file, hidden, kept, (hidden / kept - 1) * 100 }'
done
