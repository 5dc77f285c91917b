# shellcheck shell=bash
# Progress goes to stderr; stdout has only a command's result.

say() { printf '%s\n' "== $*" >&2; }

die() {
  printf '%s\n' "dev: $*" >&2
  exit 2
}
