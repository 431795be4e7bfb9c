# Filters a header for Doxygen: its opening comment becomes the description of the file, its examples code blocks.
NR == 1 && /^\/\// { opening = 1; print "/// \\file" }
opening && /^\/\// {
  sub(/^\/\/ ?/, "")
  if ($0 ~ /^  [^ ]/ || $0 ~ /^   */) $0 = "  " $0  # Markdown wants four spaces
  print "/// " $0
  next
}
{ opening = 0; print }
