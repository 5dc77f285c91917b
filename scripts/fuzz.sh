# shellcheck shell=bash
# Runs libFuzzer over tests/fuzz/*_fuzz.cpp.

# fuzz [TARGET] [-runs N | --minutes N | --owed]: -runs 0 tries only the seeds.
fuzz() {
  local only='' bound=-runs=1000000
  while (($# > 0)); do
    case $1 in
      -runs) bound=-runs=${2:?-runs needs a number}; shift 2 ;;
      -runs=*) bound=$1; shift ;;
      --minutes) bound=$(seconds_of "${2:?--minutes needs a number}"); shift 2 ;;
      --minutes=*) bound=$(seconds_of "${1#*=}"); shift ;;
      --owed) bound=owed; shift ;;
      -*) die "fuzz takes [TARGET] [-runs N | --minutes N | --owed], not '$1'" ;;
      *) only=${1%_fuzz}_fuzz; shift ;;
    esac
  done

  local sources=(tests/fuzz/*_fuzz.cpp) names name
  [[ -z $only ]] || sources=("tests/fuzz/$only.cpp")
  [[ -e ${sources[0]} ]] || die "there is no ${sources[0]}"
  mapfile -t names < <(basename --suffix .cpp --multiple "${sources[@]}")

  build fuzz "${names[@]}"
  if [[ $bound == owed ]]; then
    fuzz_owed "${names[@]}"
    return
  fi
  for name in "${names[@]}"; do
    fuzz_one "$name" "$bound"
  done
}

# For each target: for how many CPU minutes it ran without a failure, and as which program. The minutes count
# until the program changes; other changes in the repository do not matter. With the same compiler and libraries
# the same code gives the same program in any folder.
FUZZ_RECORD=tests/fuzz/record.tsv
FUZZ_MINUTES=10
FUZZ_MINUTES_AT_ONCE=5

# fuzz_owed NAME...: runs each program for the minutes that it still lacks, as many programs at once as there are
# cores. Their output goes to build/fuzz/log. A failure ends its own target at once, and the command at the end.
fuzz_owed() {
  local name logs=build/fuzz/log broken=0 lanes running=0
  lanes=$(nproc)
  mkdir -p "$logs"
  gather_inputs build/fuzz/inputs
  for name in "$@"; do
    if ((running == lanes)); then
      wait -n || broken=1
      running=$((running - 1))
    fi
    fuzz_one_owed "$name" "$logs/$name" &
    running=$((running + 1))
  done
  while ((running > 0)); do
    wait -n || broken=1
    running=$((running - 1))
  done
  ((broken == 0)) || die "the inputs that failed are in build/fuzz/crashes"
}

# fuzz_one_owed NAME LOG: runs a few minutes at a time, so that little is lost if it is stopped.
fuzz_one_owed() {
  local name=$1 log=$2 program minutes
  program=$(fuzz_program "$name")
  minutes=$(awk -v name="$name" -v program="$program" '$1 == name && $2 == program { print $3 }' "$FUZZ_RECORD")
  for ((minutes = ${minutes:-0}; minutes < FUZZ_MINUTES; minutes += FUZZ_MINUTES_AT_ONCE)); do
    fuzz_one "$name" $((FUZZ_MINUTES_AT_ONCE * 60)) >"$log" 2>&1 || die "$name: failed; see $log"
    record_minutes "$name" "$program" $((minutes + FUZZ_MINUTES_AT_ONCE))
  done
  say "$name: no failure in $minutes CPU minutes of this program"
}

# record_minutes NAME PROGRAM MINUTES: may run at the same time for several targets.
record_minutes() {
  (
    flock 9
    {
      awk -v name="$1" '$1 != name' "$FUZZ_RECORD"
      printf '%s\t%s\t%s\n' "$1" "$2" "$3"
    } | LC_ALL=C sort >"$FUZZ_RECORD.new"
    mv "$FUZZ_RECORD.new" "$FUZZ_RECORD"
  ) 9>build/fuzz/.record
}

# fuzz_program NAME: a fingerprint of the program, without the debug information.
fuzz_program() {
  local stripped=build/fuzz/.$1.stripped
  strip --strip-debug -o "$stripped" "build/fuzz/tests/fuzz/$1"
  sha256sum "$stripped" | cut -c1-16
}

# Minutes are CPU time of the target itself, so that a busy machine tries as much as an idle one.
seconds_of() {
  [[ $1 =~ ^[1-9][0-9]*$ ]] || die "--minutes needs a whole number, not '$1'"
  echo "$(($1 * 60))"
}

# fuzz_one NAME BOUND: BOUND is -runs=N, or seconds of CPU time. Starts from the target's own seeds and from the
# inputs of parser tests. What it learns stays in build/fuzz/corpus; inputs that fail go to build/fuzz/crashes.
fuzz_one() {
  local name=$1 bound=$2
  local corpus=build/fuzz/corpus/$name inputs=build/fuzz/inputs crashes=build/fuzz/crashes
  mkdir -p "$corpus" "$crashes"
  gather_inputs "$inputs"
  local seeds=("$inputs")
  [[ -d tests/fuzz/seeds/$name ]] && seeds+=("tests/fuzz/seeds/$name")

  local run=("build/fuzz/tests/fuzz/$name" -max_len=8192 -timeout=20 -rss_limit_mb=2048 -print_final_stats=1
    -artifact_prefix="$crashes/$name-")
  if [[ $bound == -runs=* ]]; then
    say "$name: $bound"
    "${run[@]}" "$bound" "$corpus" "${seeds[@]}"
    return
  fi
  local spent=0 before shell=$BASHPID
  while ((spent < bound)); do
    say "$name: $((bound - spent)) s of CPU time to go"
    before=$(cpu_seconds_under "$shell")
    "${run[@]}" -max_total_time=$((bound - spent)) "$corpus" "${seeds[@]}" || return
    spent=$((spent + $(cpu_seconds_under "$shell") - before + 1))
  done
}

# cpu_seconds_under SHELL: the CPU time of its finished commands so far, rounded down.
cpu_seconds_under() {
  awk '{ print int(($16 + $17) / '"$(getconf CLK_TCK)"') }' "/proc/$1/stat"
}

# gather_inputs FOLDER: copies the golden inputs, whose names begin with "input". Does not touch copies that are
# up to date: other targets may be reading them.
gather_inputs() {
  mkdir -p "$1"
  local file
  while IFS= read -r file; do
    cp -u "$file" "$1/${file//\//_}"
  done < <(find tests -name 'input*' -type f -size -256k -not -path 'tests/fuzz/*')
}
