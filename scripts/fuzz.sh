# shellcheck shell=bash
# libFuzzer over tests/fuzz/*_fuzz.cpp.

# fuzz [TARGET] [-runs N | --minutes N]: -runs 0 tries the seeds alone.
fuzz() {
  local only='' bound=-runs=1000000
  while (($# > 0)); do
    case $1 in
      -runs) bound=-runs=${2:?-runs needs a number}; shift 2 ;;
      -runs=*) bound=$1; shift ;;
      --minutes) bound=$(seconds_of "${2:?--minutes needs a number}"); shift 2 ;;
      --minutes=*) bound=$(seconds_of "${1#*=}"); shift ;;
      -*) die "fuzz takes [TARGET] [-runs N | --minutes N], not '$1'" ;;
      *) only=${1%_fuzz}_fuzz; shift ;;
    esac
  done

  local sources=(tests/fuzz/*_fuzz.cpp) names name
  [[ -z $only ]] || sources=("tests/fuzz/$only.cpp")
  [[ -e ${sources[0]} ]] || die "there is no ${sources[0]}"
  mapfile -t names < <(basename --suffix .cpp --multiple "${sources[@]}")

  build fuzz "${names[@]}"
  for name in "${names[@]}"; do
    fuzz_one "$name" "$bound"
  done
}

# Of each target's own CPU time, so that a busy machine tries no less.
seconds_of() {
  [[ $1 =~ ^[1-9][0-9]*$ ]] || die "--minutes needs a whole number, not '$1'"
  echo "$(($1 * 60))"
}

# fuzz_one NAME BOUND: -runs=N, or seconds of CPU time. It starts from the target's own seeds and from
# what the parser tests read; what it learns stays in build/fuzz/corpus, an input that breaks something
# in build/fuzz/crashes.
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
  local spent=0 before
  while ((spent < bound)); do
    say "$name: $((bound - spent)) s of CPU time to go"
    before=$(cpu_seconds)
    "${run[@]}" -max_total_time=$((bound - spent)) "$corpus" "${seeds[@]}"
    spent=$((spent + $(cpu_seconds) - before + 1))
  done
}

# What the commands of this shell have taken so far, rounded down.
cpu_seconds() {
  awk '{ print int(($16 + $17) / '"$(getconf CLK_TCK)"') }' "/proc/$$/stat"
}

# gather_inputs FOLDER: the golden inputs, which all have names of the form input*.
gather_inputs() {
  mkdir -p "$1"
  local file
  while IFS= read -r file; do
    cp "$file" "$1/${file//\//_}"
  done < <(find tests -name 'input*' -type f -size -256k -not -path 'tests/fuzz/*')
}
