# shellcheck shell=bash
# Measures which lines and branches the tests reach.

coverage() {
  build coverage
  find build/coverage -name '*.gcda' -delete
  run_tests coverage >&2
  local summary=build/coverage/summary.json
  gcovr --root . --exclude 'tests/.*' --exclude 'build/.*' --exclude 'bench/.*' \
    --exclude-throw-branches --json-summary "$summary" build/coverage
  by_folder "$summary"
}

# by_folder SUMMARY: prints a row for each folder, and one for all.
by_folder() {
  python3 - "$1" <<'PYTHON'
import collections, json, sys

Tally = collections.namedtuple("Tally", "lines lines_reached branches branches_reached")
folders = collections.defaultdict(lambda: Tally(0, 0, 0, 0))
for file in json.load(open(sys.argv[1]))["files"]:
    row = Tally(file["line_total"], file["line_covered"], file["branch_total"], file["branch_covered"])
    for folder in (file["filename"].split("/")[0] + "/", "all"):
        folders[folder] = Tally(*map(sum, zip(folders[folder], row)))

def share(part, whole):
    return f"{100 * part / whole:6.1f} %" if whole else "       -"

print(f"{'folder':<12}{'lines':>8}{'reached':>10}{'branches':>11}{'reached':>10}")
for name, t in sorted(folders.items(), key=lambda item: (item[0] == "all", item[0])):
    print(f"{name:<12}{t.lines:>8}{share(t.lines_reached, t.lines):>10}"
          f"{t.branches:>11}{share(t.branches_reached, t.branches):>10}")
PYTHON
}
