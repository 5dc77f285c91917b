# Draws the rows of soak.sh as a picture (SVG): four panels over the minutes.

function scale_of(most,   step) {
  step = 10 ^ int(log(most) / log(10))
  if (step > most) step /= 10
  return int(most / step + 0.999999) * step
}

# panel(NUMBER, TITLE, COLUMN...): lines of up to two columns, from 0 to the highest.
function panel(number, title, first, second, names,   i, top, most, y, column, points, c) {
  top = 30 + number * 120
  most = 0
  for (i = 1; i <= rows; ++i) {
    if (value[i, first] > most) most = value[i, first]
    if (second && value[i, second] > most) most = value[i, second]
  }
  most = scale_of(most > 0 ? most : 1)
  printf "<text x=\"60\" y=\"%d\" class=\"title\">%s</text>\n", top - 6, title
  printf "<path class=\"axis\" d=\"M60 %d V%d H780\"/>\n", top, top + 80
  printf "<text x=\"54\" y=\"%d\" text-anchor=\"end\">%s</text>\n", top + 8, most
  printf "<text x=\"54\" y=\"%d\" text-anchor=\"end\">0</text>\n", top + 80
  for (c = 1; c <= 2; ++c) {
    column = c == 1 ? first : second
    if (!column) continue
    points = ""
    for (i = 1; i <= rows; ++i)
      points = points sprintf("%.1f,%.1f ", 60 + 720 * value[i, 1] / value[rows, 1], top + 80 - 80 * value[i, column] / most)
    printf "<polyline class=\"line%d\" points=\"%s\"/>\n", c, points
  }
}

NR == 1 { next }
{ ++rows; for (i = 1; i <= NF; ++i) value[rows, i] = $i }

END {
  print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 800 540\" font-family=\"sans-serif\" font-size=\"11\">"
  print "<style>.title{font-weight:bold}.axis{fill:none;stroke:#888}.line1{fill:none;stroke:#1667b7;stroke-width:1.5}.line2{fill:none;stroke:#c2571a;stroke-width:1.5}svg{background:#fff}</style>"
  panel(0, "memory, MB", 2, 0)
  panel(1, "open descriptors", 3, 0)
  panel(2, "logs taken, MB/s", 4, 0)
  panel(3, "answers with a diagnosis, ms: median (blue), 99 % (brown)", 8, 9)
  printf "<text x=\"60\" y=\"%d\">0</text><text x=\"780\" y=\"%d\" text-anchor=\"end\">%d minutes</text>\n", 490, 490, value[rows, 1]
  print "</svg>"
}
