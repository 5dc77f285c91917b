#!/usr/bin/env bash
# docs.sh FOLDER: copies the pages for operators, in the layout of the repository, so that their links
# work. A link to a file that is not installed becomes plain text.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

into=${1:?usage: docs.sh FOLDER}
pages=(README.md CHANGELOG.md docs/*.md)
mkdir -p "$into"
cp --parents LICENSE docs/*.svg packaging/prometheus/*.yml packaging/grafana/*.json packaging/kubernetes/*.yaml packaging/slurm/*.sh \
  "${pages[@]}" "$into"

cd "$into"
for page in "${pages[@]}"; do
  while IFS= read -r target; do
    [[ $target == http* || -e $(dirname "$page")/${target%%#*} || $target == '#'* ]] ||
      sed -i "s|\[\([^]]*\)\]($target)|\1|g" "$page"
  done < <(grep --only-matching '](\([^)]*\))' "$page" | sed 's/^](\(.*\))$/\1/' | sort -u)
done
