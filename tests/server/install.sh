#!/usr/bin/env bash
# Installs the actual servers for `pytest -m server`: tests/server/install.sh DIR
# About 100 MB a release beside torch and triton; 2.5 GB each on disk; Linux on x86-64, Python 3.11.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:?"give a folder for the servers"}
python=${PYTHON:-python3}
mkdir -p "$folder"
for list in "$here"/requirements-*.txt; do
  version=${list##*requirements-}
  version=${version%.txt}
  target="$folder/$version"
  # What is complete is kept; the mark is written last.
  if [ -e "$target/complete" ] && cmp -s "$list" "$target/complete"; then continue; fi
  rm -rf "$target"
  "$python" -m venv "$target"
  "$target/bin/pip" install -q --disable-pip-version-check --no-deps -r "$list"
  cp "$list" "$target/complete"
done
