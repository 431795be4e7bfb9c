#!/usr/bin/env bash
# check.sh <compiler> [flag...], in the top folder of the project: what compilers say.
#
# The headers that are installed compile without a warning, also where a project includes them by -I. And mistakes are
# answered by a line that says what to write: each file here does not compile. Its first lines tell what the first
# error has in it, of how many lines there may be in all, and (`says`) what else is to be among them.
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
    echo "$name compiles" >&2
    failed=1
    continue
  fi
  tell() { sed -nE "s|^// $1: (.*)|\1|p" "$file"; }
  first=$(grep -m1 'error:' "$said" || true)
  [[ $first == *"$(tell error)"* ]] || { echo "$name: the first error is: $first" >&2; failed=1; }
  [ "$(wc -l <"$said")" -le "$(tell lines)" ] || { echo "$name: $(wc -l <"$said") lines" >&2; failed=1; }
  grep -qF -- "$(tell says)" "$said" || { echo "$name: nothing says $(tell says)" >&2; failed=1; }
done

wait "$headers" || { echo "headers that are installed have warnings" >&2; failed=1; }
exit "$failed"
