# shellcheck shell=bash
# Progress goes to stderr: stdout belongs to what a command answers.

say() { printf '%s\n' "== $*" >&2; }

die() {
  printf '%s\n' "dev: $*" >&2
  exit 2
}
