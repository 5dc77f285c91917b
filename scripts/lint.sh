# shellcheck shell=bash
# Checks the code without running it. Includes between layers need no check: a wrong one does not build
# (cmake/layers.cmake).

# our_files PATTERN...: tracked files and new ones that git does not ignore.
our_files() { git ls-files --cached --others --exclude-standard --deduplicate -- "$@"; }

# lint [--changed [BASE]]
lint() {
  local changed_since=
  case ${1:-} in
    '') ;;
    --changed) changed_since=${2:-main} ;;
    *) die "lint takes --changed [BASE], not '$1'" ;;
  esac

  configure lint
  local sources failed=0
  sources=$(sources_to_lint "$changed_since")
  lint_format || failed=1
  lint_scripts || failed=1
  lint_headers || failed=1
  lint_odr || failed=1
  lint_co_await "$sources" || failed=1
  lint_tidy "$(units_with "$sources")" || failed=1
  ((failed == 0)) && say "lint: clean"
  return $failed
}

# sources_to_lint [BASE]: source files, one a line; with BASE only those that differ from it.
sources_to_lint() {
  local all
  # tests/fuzz is built by a preset of its own.
  all=$(our_files '*.cpp' ':!tests/fuzz' | sort)
  if [[ -z ${1:-} ]]; then
    echo "$all"
  else
    comm -12 <(echo "$all") <({
      git diff --name-only --diff-filter=d --merge-base "$1"
      git ls-files --others --exclude-standard
    } | sort)
  fi
}

# units_with SOURCES: for each source the unit that includes it, or else the source itself. Most of clang-tidy's
# time goes into headers, which the sources of a unit share.
units_with() {
  local all source
  all=$(find build/lint -path '*/Unity/*.cxx')
  while read -r source; do
    # shellcheck disable=SC2086
    grep --files-with-matches --fixed-strings "\"$PWD/$source\"" $all /dev/null || echo "$source"
  done <<<"$1" | sort -u
}

lint_format() {
  say "clang-format"
  our_files '*.h' '*.cpp' | xargs -r clang-format-19 --dry-run --Werror
}

lint_scripts() {
  say "shellcheck"
  our_files dev .ci/run '*.sh' 'packaging/deb/p*' | xargs -r shellcheck --external-sources
}

# Finds two types of one name in one namespace: the linker sees both only when it optimises the whole program.
lint_odr() { build odr faultline; }

lint_headers() { build lint all_verify_interface_header_sets; }

# lint_co_await SOURCES: clang-query succeeds even if it prints matches, so look at its output.
lint_co_await() {
  say "co_await"
  local with_coroutines found
  with_coroutines=$(echo "$1" | xargs -r grep -l co_await || true)
  [[ -n $with_coroutines ]] || return 0
  found=$(echo "$with_coroutines" | each_core clang-query-19 -p build/lint -f scripts/co_await.query) ||
    { echo "$found"; return 1; }
  if grep -q '^Match #' <<<"$found"; then
    grep -v '^0 matches\|^Match #' <<<"$found"
    return 1
  fi
}

# lint_tidy UNITS
lint_tidy() {
  say "clang-tidy"
  # On stderr it also counts warnings of foreign headers, which it does not show.
  echo "$1" | each_core clang-tidy-19 -p build/lint --quiet 2> >(grep -v ' warnings\? generated' >&2)
}

# each_core COMMAND...: runs it for every file named on stdin, several at once.
each_core() { xargs -r -n 1 -P "$(parallelism)" "$@"; }
