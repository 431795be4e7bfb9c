#!/usr/bin/env bash
# Every ```cpp block of README.md and docs/ is code that is compiled: its lines stand one after the other in
# a file of examples/ or test/consumer/, whatever their indentation. Blank lines do not count. A line with
# nothing but `...` or `// ...` stands for anything left out: what is before it and after it are looked for
# by themselves. Where an example includes "kube/x.h", a block may have <kube/x.h>, as users write it.
#
# Prints the first line of each piece that is found nowhere, and fails if there is one.
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
  # The end of a piece: it must be somewhere.
  function look(    i) {
    if (piece == "") return
    count++
    for (i = 1; i <= files; i++) if (index(code[i], "\n" piece)) { piece = ""; return }
    print page ":" start ": in no example: " first
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
  END { if (!bad) print count " pieces of code in the documents are in examples"; exit bad }
' "${sources[@]}" "${pages[@]}"
