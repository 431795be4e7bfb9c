#!/usr/bin/env bash
# Checks that the code in documents is compiled: the lines of every ```cpp block of README.md and docs/ must
# stand one after the other in a file of examples/ or test/consumer/. Indentation and blank lines are ignored.
# A line with only `...` or `// ...` stands for omitted lines: it splits a block into pieces, which are
# searched separately. For #include "kube/x.h" in an example, a block may have <kube/x.h>, as users write it.
#
# Prints the first line of each piece that is not found, and fails if there is one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

list() { git ls-files --cached --others --exclude-standard --deduplicate -- "$@" | while IFS= read -r file; do
  [ ! -f "$file" ] || printf '%s\n' "$file"
done; }

mapfile -t sources < <(list 'examples/*.cc' 'examples/*.h' 'test/consumer/*.cc' 'test/consumer/*.h')
mapfile -t pages < <(list README.md 'docs/*.md')

awk '
  function plain(line) {
    gsub(/^[ \t]+|[ \t\r]+$/, "", line)
    if (line ~ /^#include "kube\//) { sub(/"/, "<", line); sub(/"$/, ">", line) }
    return line
  }
  # Called at the end of a piece: searches it in all examples.
  function look(    i) {
    if (piece == "") return
    count++
    for (i = 1; i <= files; i++) if (index(code[i], "\n" piece)) { piece = ""; return }
    print page ":" start ": not found in any example: " first
    piece = ""
    bad = 1
  }
  FNR == 1 { page = FILENAME; isPage = page ~ /\.md$/; inBlock = 0; if (!isPage) code[++files] = "\n" }
  !isPage { line = plain($0); if (line != "") code[files] = code[files] line "\n"; next }
  !inBlock { if ($0 ~ /^[ \t]*```(cpp|c\+\+)[ \t\r]*$/) inBlock = 1; next }
  /^[ \t]*```/ { look(); inBlock = 0; next }
  {
    line = plain($0)
    if (line == "") next
    if (line ~ /^(\/\/ )?\.\.\.$/) { look(); next }
    if (piece == "") { start = FNR; first = line }
    piece = piece line "\n"
  }
  END { if (!bad) print "all " count " pieces of code in the documents are in examples"; exit bad }
' "${sources[@]}" "${pages[@]}"
