# shellcheck shell=bash
# Configures, builds and tests a preset of CMakePresets.json in build/PRESET.

# The command that stands before every build and test run.
launcher=()

# How many compilers run at once: at most one a core, and one for each 1.5 GB of memory.
parallelism() {
  local cores by_memory least
  cores=$(nproc)
  by_memory=$(awk '/^MemAvailable:/ { print int($2 / 1572864) }' /proc/meminfo)
  least=$((by_memory < cores ? by_memory : cores))
  echo $((least > 1 ? least : 1))
}

# build PRESET [TARGET...]
build() {
  local preset=$1 targets=("${@:2}")
  configure "$preset"
  say "building $preset"
  "${launcher[@]}" cmake --build "build/$preset" --parallel "$(parallelism)" \
    --target "${targets[@]:-all}" >&2
}

# Ninja itself configures again if a CMakeLists.txt changes, but not if the presets change.
configure() {
  local stamp=build/$1/.configured
  if [[ ! -e $stamp || CMakePresets.json -nt $stamp ]]; then
    say "configuring $1"
    cmake --preset "$1" >&2
    touch "$stamp"
  fi
}

# run_tests PRESET [-R NAME] [CTEST-FLAG...]: ends with ctest's summary and status. ctest knows only test
# programs and their shards. Many of them mostly wait, so there are twice as many as cores; with sanitizers they wait
# less. -R NAME chooses single tests (Reader, Suite.Test, *last*), so GoogleTest gets it.
run_tests() (
  local preset=$1 flags=() at_once
  shift
  at_once=$(($(parallelism) * 2))
  [[ $preset == debug ]] || at_once=$(($(parallelism) + 1))
  while (($# > 0)); do
    if [[ $1 == -R && $# -gt 1 ]]; then
      export GTEST_FILTER="*$2*"
      shift
    else
      flags+=("$1")
    fi
    shift
  done
  folder=$(folder_of_tests)
  trap '[[ $folder != /dev/shm/faultline_tests.* ]] || rm -rf "$folder"' EXIT  # also after an interrupt
  TMPDIR=$folder "${launcher[@]}" ctest --test-dir "build/$preset" --output-on-failure --no-tests=error \
    --parallel "$at_once" "${flags[@]}"
)

# Prints where tests make their files: $TMPDIR, else memory if there is enough of it. Thousands of small files, made
# and removed, cost a disk's file system a tenth of the tests' time.
folder_of_tests() {
  local free folder
  free=$(df --output=avail --block-size=1M /dev/shm 2>/dev/null | tail -n 1) || free=0
  if [[ -n ${TMPDIR:-} ]]; then
    echo "$TMPDIR"
  elif [[ -w /dev/shm ]] && ((free >= 4096)); then
    folder=$(mktemp -d /dev/shm/faultline_tests.XXXXXX)
    chmod 755 "$folder"  # some tests run programs as another user
    echo "$folder"
  else
    echo /tmp
  fi
}

# sanitize_with asan|tsan
sanitize_with() {
  case $1 in
    asan) ;;
    # The thread sanitizer of g++ 12 dies of the wide address randomisation of newer kernels. The
    # build needs this as well: it runs each test program to list its tests.
    tsan)
      if setarch --addr-no-randomize true 2>/dev/null; then launcher=(setarch --addr-no-randomize); fi
      export TSAN_OPTIONS="suppressions=$PWD/tests/tsan_suppressions.txt ${TSAN_OPTIONS:-}"
      ;;
    *) die "no sanitizer '$1', only asan and tsan" ;;
  esac
  build "$1"
  run_tests "$1"
  launcher=()
}
