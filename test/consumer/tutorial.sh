#!/usr/bin/env bash
# tutorial.sh <folder>: follows docs/tutorial.md in an empty folder. It runs the `sh` blocks in order, and saves the
# blocks after "Save this as `name`". It skips the installation: the command kubexx and a library for find_package
# have to be there already.
set -euo pipefail
page=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/docs/tutorial.md
mkdir -p "$1"
cd "$1"

awk '
  BEGIN { print "set -euo pipefail\ntrap \"kill \\$(jobs -p) 2>/dev/null || true\" EXIT" }
  !inBlock && match($0, /ave this as `[^`]+`/) { file = substr($0, RSTART + 13, RLENGTH - 14) }
  /^```/ && !inBlock {
    inBlock = 1
    what = file != "" ? "save" : $0 == "```sh" ? "run" : "skip"
    if (what == "save") print "cat >" file " <<\"END-OF-FILE\""
    next
  }
  /^```/ {
    if (what == "save") print "END-OF-FILE"
    inBlock = 0
    file = ""
    next
  }
  !inBlock || what == "skip" || /^sudo / { next }
  { print }
  # These programs need a moment to start, in which a person types the next line.
  /^kubexx serve .*&$/ { print "until [ -s demo.kubeconfig ]; do sleep 0.1; done" }
  /^build\/.*&$/ { print "until kubexx get websites >/dev/null 2>&1; do sleep 0.1; done" }
' "$page" >tutorial.sh

grep -q '^kubexx serve' tutorial.sh || { echo "no commands found in $page" >&2; exit 1; }
unset KUBECONFIG

timeout 600 bash -x tutorial.sh || { status=$?; echo "the tutorial does not work (exit $status)" >&2; exit "$status"; }
