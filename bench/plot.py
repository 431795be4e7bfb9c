"""Draws bars and lines as SVG text, for light and dark pages."""

import math
from dataclasses import dataclass
from html import escape

STYLE = """
  svg { font: 12px system-ui, sans-serif; }
  .page { fill: #ffffff; } .text { fill: #24292f; } .faint { fill: #57606a; }
  .grid { stroke: #d0d7de; stroke-width: 1; }
  .c0 { fill: #0969da; stroke: #0969da; } .c1 { fill: #bc4c00; stroke: #bc4c00; }
  .c2 { fill: #1a7f37; stroke: #1a7f37; } .c3 { fill: #8250df; stroke: #8250df; }
  .line { fill: none; stroke-width: 2; } .range { stroke-width: 1; }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117; } .text { fill: #e6edf3; } .faint { fill: #9198a1; }
    .grid { stroke: #30363d; }
    .c0 { fill: #58a6ff; stroke: #58a6ff; } .c1 { fill: #f0883e; stroke: #f0883e; }
    .c2 { fill: #3fb950; stroke: #3fb950; } .c3 { fill: #bc8cff; stroke: #bc8cff; }
    .line { fill: none; }
  }
"""


@dataclass
class Bar:
    label: str
    value: float
    text: str
    color: int = 0


@dataclass
class Line:
    label: str
    points: list  # (x, low, median, high)
    color: int = 0


@dataclass
class Panel:
    title: str
    unit_x: str
    lines: list
    log_y: bool = True


def short(value):
    """The label of a tick."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"


class Canvas:
    def __init__(self, width, height, title):
        self.width, self.height = width, height
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" role="img" aria-label="{escape(title)}">',
            f"<style>{STYLE}</style>",
            f'<rect class="page" width="{width}" height="{height}" rx="6"/>',
        ]
        self.text(16, 24, title, size=15, weight=600)

    def text(self, x, y, text, anchor="start", kind="text", size=12, weight=400):
        self.parts.append(f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" '
                          f'font-size="{size}" font-weight="{weight}">{escape(str(text))}</text>')

    def line(self, x1, y1, x2, y2, kind):
        self.parts.append(f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>')

    def rectangle(self, x, y, width, height, kind):
        self.parts.append(f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{max(width, 1):.1f}" '
                          f'height="{height:.1f}" rx="2"/>')

    def legend(self, x, y, labels):
        """`labels` are pairs of a colour and a text."""
        for color, label in labels:
            self.rectangle(x, y - 9, 10, 10, f"c{color}")
            self.text(x + 15, y, label)
            x += 30 + 7 * len(label)

    def done(self):
        return "\n".join([*self.parts, "</svg>"]) + "\n"


class Scale:
    """Maps values to coordinates; on a logarithmic scale if `log`."""

    def __init__(self, low, high, start, end, log):
        self.log = log
        if log:
            self.low, self.high = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
            self.high = max(self.high, self.low + 1)
        else:
            step = 10 ** math.floor(math.log10(high or 1))
            self.low, self.high = 0, math.ceil(high / step) * step
        self.start, self.end = start, end

    def __call__(self, value):
        at = math.log10(max(value, 1e-12)) if self.log else value
        return self.start + (at - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self):
        if self.log:
            return [10.0 ** power for power in range(self.low, self.high + 1)]
        return [self.high * i / 4 for i in range(5)]


def bars(title, items, note="", legend=(), log=False):
    """Horizontal bars, one below the other."""
    left, right, row, top = 330, 130, 24, 62 if legend or note else 44
    canvas = Canvas(860, top + row * len(items) + 34, title)
    if legend:
        canvas.legend(16, 46, legend)
    elif note:
        canvas.text(16, 44, note, kind="faint")
    bottom = top + row * len(items)
    values = [item.value for item in items]
    scale = Scale(min(1, min(values)) if log else 0, max(values), left, canvas.width - right, log)
    for tick in scale.ticks():
        canvas.line(scale(tick), top - 4, scale(tick), bottom, "grid")
        canvas.text(scale(tick), bottom + 16, short(tick), "middle", "faint", 11)
    for i, item in enumerate(items):
        y = top + row * i
        canvas.text(left - 8, y + 14, item.label, "end")
        canvas.rectangle(left, y + 3, scale(item.value) - left, row - 8, f"c{item.color}")
        canvas.text(scale(item.value) + 6, y + 14, item.text, kind="faint")
    return canvas.done()


def panels(title, all_panels, legend):
    """Draws plots side by side, with logarithmic horizontal axes."""
    each, height, top = 290, 250, 80
    canvas = Canvas(20 + each * len(all_panels), height + top, title)
    canvas.legend(16, 46, legend)
    for i, panel in enumerate(all_panels):
        left, right = 20 + each * i + 48, 20 + each * (i + 1) - 16
        bottom = top + height - 50
        points = [point for line in panel.lines for point in line.points]
        if not points:
            continue
        low = min(point[1] for point in points)
        across = Scale(min(p[0] for p in points), max(p[0] for p in points), left, right, True)
        if across.high - math.log10(max(p[0] for p in points)) > 0.05:  # the axis ends with the points
            across.high = math.log10(max(p[0] for p in points))
        up = Scale(low, max(point[3] for point in points), bottom, top + 14, panel.log_y and low > 0)
        canvas.text(left - 40, top - 4, panel.title, weight=600)
        for tick in up.ticks():
            canvas.line(left, up(tick), right, up(tick), "grid")
            canvas.text(left - 6, up(tick) + 4, short(tick), "end", "faint", 11)
        for x in sorted({point[0] for point in points}):
            canvas.line(across(x), bottom, across(x), bottom + 4, "grid")
            canvas.text(across(x), bottom + 17, short(x), "middle", "faint", 11)
        canvas.text((left + right) / 2, bottom + 34, panel.unit_x, "middle", "faint", 11)
        for line in panel.lines:
            path = " ".join(f"{across(x):.1f},{up(median):.1f}" for x, _, median, _ in line.points)
            canvas.parts.append(f'<polyline class="c{line.color} line" style="fill:none" points="{path}"/>')
            for x, least, median, most in line.points:
                canvas.line(across(x), up(least), across(x), up(most), f"c{line.color} range")
                canvas.parts.append(f'<circle class="c{line.color}" cx="{across(x):.1f}" '
                                    f'cy="{up(median):.1f}" r="3"/>')
    return canvas.done()
