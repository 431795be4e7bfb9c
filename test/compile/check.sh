#!/usr/bin/env bash
# check.sh <compiler> [flag...], in the top folder of the project: checks the messages of a compiler.
#
# Installed headers must compile without warnings, also for projects that include them by -I. Mistakes must get an error
# with the way out: no file here compiles. The first lines of a file say what its first error must contain (`error`),
# how many lines of output there may be (`lines`), and what else the output must contain (`says`).
set -euo pipefail
here=test/compile
compile=("$@" -std=c++20 -fsyntax-only -fdiagnostics-color=never -I.)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

find kube -name '*.h' ! -name '*_test.h' | sort | sed 's/.*/#include "&"/' >"$scratch/headers.cc"
"${compile[@]}" -Wall -Wextra -Wconversion -Wshadow -Werror "$scratch/headers.cc" &
headers=$!

failed=0
for file in "$here"/*.cc; do
  name=$(basename "$file" .cc) said=$scratch/said
  if "${compile[@]}" "$file" >"$said" 2>&1; then
    echo "$name: compiles, but should not" >&2
    failed=1
    continue
  fi
  tell() { sed -nE "s|^// $1: (.*)|\1|p" "$file"; }
  first=$(grep -m1 'error:' "$said" || true)
  [[ $first == *"$(tell error)"* ]] || { echo "$name: wrong first error: $first" >&2; failed=1; }
  [ "$(wc -l <"$said")" -le "$(tell lines)" ] || { echo "$name: too many lines: $(wc -l <"$said")" >&2; failed=1; }
  grep -qF -- "$(tell says)" "$said" || { echo "$name: the output lacks: $(tell says)" >&2; failed=1; }
done

wait "$headers" || { echo "installed headers have warnings" >&2; failed=1; }
exit "$failed"
