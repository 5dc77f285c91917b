# shellcheck shell=bash
# libFuzzer over tests/fuzz/*_fuzz.cpp.

# fuzz [TARGET] [-runs N | --minutes N | --owed]: -runs 0 tries the seeds alone.
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
  for name in "${names[@]}"; do
    if [[ $bound == owed ]]; then
      fuzz_owed "$name"
    else
      fuzz_one "$name" "$bound"
    fi
  done
}

# Which targets ran clean, for how many CPU minutes, on which code: what a target is made of has to
# stand still for its minutes to count, not the whole repository.
FUZZ_RECORD=tests/fuzz/record.tsv
FUZZ_MINUTES=10

# fuzz_owed NAME: what its code still lacks of those minutes, a minute at a time, so that little is
# lost when it is stopped.
fuzz_owed() {
  local name=$1 code minutes
  code=$(fuzz_code "$name")
  minutes=$(awk -v name="$name" -v code="$code" '$1 == name && $2 == code { print $3 }' "$FUZZ_RECORD")
  for ((minutes = ${minutes:-0}; minutes < FUZZ_MINUTES; ++minutes)); do
    fuzz_one "$name" 60
    record_minutes "$name" "$code" $((minutes + 1))
  done
  say "$name: clean for $minutes CPU minutes on the code as it is"
}

# record_minutes NAME CODE MINUTES
record_minutes() {
  {
    awk -v name="$1" '$1 != name' "$FUZZ_RECORD"
    printf '%s\t%s\t%s\n' "$1" "$2" "$3"
  } | sort >"$FUZZ_RECORD.new"
  mv "$FUZZ_RECORD.new" "$FUZZ_RECORD"
}

# fuzz_code NAME: the fingerprint of all files of ours that the program is made of, as it says itself.
fuzz_code() {
  local named
  named=$(strings -a "build/fuzz/tests/fuzz/$1" | grep "^$PWD/" | sort -u)
  {
    grep '/Unity/' <<<"$named" | xargs -r sed -n 's/^#include "\(.*\)"$/\1/p'
    grep -v '/Unity/' <<<"$named" | xargs -r realpath --quiet --canonicalize-existing
    echo "$PWD/tests/fuzz/$1.cpp"
  } | grep -v "^$PWD/build" | sort -u | while read -r file; do
    [[ ! -f $file ]] || cat "$file"
  done | sha256sum | cut -c1-16
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
