#!/usr/bin/env bash
# Installs the actual servers for `pytest -m server`: tests/server/install.sh DIR
# About 100 MB a release beside torch and triton; 2.5 GB each on disk; Linux on x86-64, Python 3.11.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:?"give a folder for the servers"}
python=${PYTHON:-python3}
mkdir -p "$folder"
install() {
  rm -rf "$2"
  "$python" -m venv "$2"
  "$2/bin/pip" install -q --disable-pip-version-check --no-deps -r "$1"
  # The mark of a complete one is written last.
  cp "$1" "$2/complete"
}
jobs=()
for list in "$here"/requirements-*.txt; do
  version=${list##*requirements-}
  target="$folder/${version%.txt}"
  if cmp -s "$list" "$target/complete"; then continue; fi
  install "$list" "$target" &
  jobs+=($!)
done
for job in ${jobs[@]+"${jobs[@]}"}; do wait "$job"; done
