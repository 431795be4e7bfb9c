#!/usr/bin/env bash
# terminal.sh <kubexx>: checks that the program escapes control characters on a terminal, and not in a pipe. The text is
# the name of a kubeconfig that does not exist, which the error quotes.
set -euo pipefail
command -v script >/dev/null || exit 77  # makes terminals
export kubexx=$1 name=$'/nonexistent/\e[2J\b\xc2\x9b'
unset KUBEXX_LOG
piped=$("$kubexx" --kubeconfig "$name" get pods 2>&1 || true)
[[ $piped == *"$name"* ]] || { printf 'FAILED: the text is changed in a pipe: %q\n' "$piped"; exit 1; }
for streams in '' '2>/dev/null' '>/dev/null'; do
  export streams
  shown=$(script -qc "eval '\"\$kubexx\" --kubeconfig \"\$name\" get pods $streams'" /dev/null || true)
  [[ $shown != *$'\e'* && $shown != *$'\b'* && $shown != *$'\xc2\x9b'* ]] ||
    { printf 'FAILED: control characters on a terminal (%s): %q\n' "$streams" "$shown"; exit 1; }
  [[ $streams == 2* || $shown == *'/nonexistent/U+001B[2JU+0008U+009B'* ]] ||
    { printf 'FAILED: control characters are not shown in words on a terminal (%s): %q\n' "$streams" "$shown"; exit 1; }
done
echo "all checks passed"
