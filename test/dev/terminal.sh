#!/usr/bin/env bash
# terminal.sh <kubexx>: what the program shows of others' text on a terminal, and in a pipe. The text is the name of a
# kubeconfig that is not there, which its error quotes.
set -euo pipefail
command -v script >/dev/null || exit 77  # makes terminals
export kubexx=$1 name=$'/nonexistent/\e[2J\b\xc2\x9b'
unset KUBEXX_LOG
piped=$("$kubexx" --kubeconfig "$name" get pods 2>&1 || true)
[[ $piped == *"$name"* ]] || { printf 'FAILED: into a pipe, it is changed: %q\n' "$piped"; exit 1; }
for streams in '' '2>/dev/null' '>/dev/null'; do
  export streams
  shown=$(script -qc "eval '\"\$kubexx\" --kubeconfig \"\$name\" get pods $streams'" /dev/null || true)
  [[ $shown != *$'\e'* && $shown != *$'\b'* && $shown != *$'\xc2\x9b'* ]] ||
    { printf 'FAILED: on a terminal (%s): %q\n' "$streams" "$shown"; exit 1; }
  [[ $streams == 2* || $shown == *'/nonexistent/U+001B[2JU+0008U+009B'* ]] ||
    { printf 'FAILED: on a terminal (%s), it is not told: %q\n' "$streams" "$shown"; exit 1; }
done
echo "all as it should be"
