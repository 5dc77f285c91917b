# shellcheck shell=bash
# Tests the page that a server serves in a browser.

# page_tests: Chromium is the system's; the packages that drive it come from npm, in the versions of the lock file.
page_tests() {
  need_packages browser
  command -v npm >/dev/null || need_packages node
  local work=build/page
  mkdir -p "$work/shots"
  cp tests/page/*.mjs tests/page/package.json tests/page/package-lock.json "$work/"
  if [[ ! -e $work/node_modules/.package-lock.json || $work/package-lock.json -nt $work/node_modules/.package-lock.json ]]; then
    say "fetching the packages that drive the browser"
    npm ci --prefix "$work" --no-audit --no-fund --loglevel=error >&2
  fi
  FAULTLINE_BINARY=$PWD/build/release/faultline CHROMIUM=$(command -v chromium) SHOTS=$PWD/$work/shots \
    node --test --test-concurrency=1 "$@" "$work"/*_test.mjs
  say "pictures of the page: $work/shots"
}
