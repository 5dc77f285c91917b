#!/usr/bin/env bash
# check.sh BINARY: checks that it runs on every system with glibc 2.34 (Ubuntu 22.04, DGX OS 6, RHEL 9,
# Debian 12, and later): it needs no library except glibc's, and no symbol that is newer. Otherwise
# prints what it needs, and fails.
set -euo pipefail

binary=${1:?usage: check.sh BINARY}
newest=GLIBC_2.34

# Libraries that are not part of glibc; in 2.34, threads, resolver and dlopen() are in libc.so.6.
libraries() {
  readelf --dynamic --wide "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p' |
    grep --invert-match --extended-regexp '^(libc\.so\.6|libm\.so\.6|ld-linux-(x86-64\.so\.2|aarch64\.so\.1))$'
}

# Symbols of a glibc that is newer than $newest: NAME VERSION, one a line.
symbols() {
  local name version
  readelf --dyn-syms --wide "$1" | sed -n 's/.* UND \(.*\)@\(GLIBC_[0-9.]*\).*/\1 \2/p' |
    while read -r name version; do
      [[ $(printf '%s\n' "$version" "$newest" | sort --version-sort | tail -1) == "$newest" ]] ||
        echo "$name $version"
    done
}

# Versions that ld.so requires although no symbol has them, such as GLIBC_ABI_DT_RELR.
abi() { readelf --version-info --wide "$1" | grep --only-matching 'GLIBC_\(ABI_[A-Z_]*\|PRIVATE\)' | sort -u; }

against=$(
  libraries "$binary" | sed 's/^/  needs the library /' || true
  symbols "$binary" | sed 's/^/  needs the symbol /'
  abi "$binary" | sed 's/^/  needs /' || true
)
if [[ -n $against ]]; then
  echo "$binary does not run on every system with $newest:" >&2
  echo "$against" >&2
  exit 1
fi
