"""Writes docs/performance.md and its plots from the results of a run."""

import re
import shutil

from plot import Bar, Line, Panel, bars, panels
from programs import TOP
from results import Series, figure
from rows import (COUNTED, GROWTH_INFORMERS, GROWTH_OBJECTS, GROWTH_WORKERS, LATENCY_RATES, MAIN, OTHER,
                  REPLAYED, ROWS)

PAGE = TOP / "docs/performance.md"
PLOTS = TOP / "docs/performance"
NOTES = TOP / "bench/notes.md"
PEER = "client-go"
BOTH = (("kubexx", 0), (PEER, 1))


def table(head, lines):
    text = ["| " + " | ".join(head) + " |", "|" + "|".join("---" for _ in head) + "|"]
    return "\n".join(text + ["| " + " | ".join(line) + " |" for line in lines]) + "\n"


def spread(series):
    """The median, with the lowest and the highest value in brackets."""
    if not series:
        return "-"
    if len(series.values) == 1:
        return figure(series.median)
    return f"**{figure(series.median)}** ({figure(series.low)} .. {figure(series.high)})"


def times(factor):
    return "-" if factor is None else f"{factor:.1f} x"


def row_lines(results, rows):
    for row in rows:
        ours, theirs = results.row(row, "kubexx"), results.row(row, PEER)
        if not ours:
            yield [row.work, "not measured", spread(theirs), row.unit, "-"]
            continue
        yield [row.work, spread(ours), spread(theirs), row.unit, times(row.factor(ours.median, theirs.median))]


HEAD = ["work", "kubexx", PEER, "unit", "better by"]


def main_plot(results):
    items = []
    for row in MAIN:
        if row.key == "peak_ratio":
            continue
        factor = row.factor(results.row(row, "kubexx").median, results.row(row, PEER).median)
        if factor is not None:
            items.append(Bar(row.work, factor, times(factor)))
    return bars(f"How many times better than {PEER}", items, log=True) if items else None


def points(results, job, key, impl, sizes, tag, scale=1.0):
    for size in sizes:
        series = results.series(key, job=job, impl=impl, **{tag: size})
        if series:
            yield (size, series.low * scale, series.median * scale, series.high * scale)


def lines_of(results, job, key, sizes, tag, scale=1.0):
    return [Line(impl, list(points(results, job, key, impl, sizes, tag, scale)), color)
            for impl, color in BOTH if results.find(job=job, impl=impl)]


def growth_plots(results):
    legend = [(color, impl) for impl, color in BOTH]
    plots = {}

    def add(name, title, wanted):
        found = [panel for panel in wanted if any(line.points for line in panel.lines)]
        if found:
            plots[name] = panels(title, found, legend)

    objects = ("growth-objects", GROWTH_OBJECTS, "size")
    add("objects.svg", "An informer of pods, protobuf", [
        Panel("time, s", "pods", lines_of(results, objects[0], "wall_s", *objects[1:])),
        Panel("CPU, s", "pods", lines_of(results, objects[0], "cpu_s", *objects[1:])),
        Panel("memory of the process, MB", "pods", lines_of(results, objects[0], "rss_kb", *objects[1:], 1 / 1024)),
    ])
    many = ("growth-informers", GROWTH_INFORMERS, "size")
    add("informers.svg", "Many informers in one process", [
        Panel("memory of the process, MB", "informers", lines_of(results, many[0], "rss_kb", *many[1:], 1 / 1024)),
        Panel("threads", "informers", lines_of(results, many[0], "threads", *many[1:])),
        Panel("CPU until all are filled, s", "informers", lines_of(results, many[0], "cpu_s", *many[1:])),
    ])
    workers = ("growth-workers", GROWTH_WORKERS, "workers")
    add("workers.svg", "A work queue", [
        Panel("adds a second, million", "workers",
              lines_of(results, workers[0], "adds_per_s", *workers[1:], 1e-6), log_y=False),
        Panel("CPU for 2 million adds, s", "workers", lines_of(results, workers[0], "cpu_s", *workers[1:]), log_y=False),
    ])
    return plots


def growth_text(results, title, job, sizes, tag, columns, head):
    """`columns` are tuples of key, scale and name."""
    lines = []
    for size in sizes:
        cells = [f"{size:,}"]
        for key, scale, _ in columns:
            for impl, _ in BOTH:
                found = results.series(key, job=job, impl=impl, **{tag: size})
                cells.append(spread(Series(value * scale for value in found.values)))
        if any(cell != "-" for cell in cells[1:]):
            lines.append(cells)
    if not lines:
        return f"{title}: not measured.\n"
    names = [head] + [f"{name}: {impl}" for _, _, name in columns for impl, _ in BOTH]
    return table(names, lines)


def scale_text(results):
    lines, cpu_bars, memory_bars = [], [], []
    for color, impl in enumerate(("kubexx", PEER, "node", "python")):
        cpu = results.series("cpu_s", job="scale", impl=impl)
        if not cpu:
            lines.append([impl, "missing", "", "", ""])
            continue
        held = Series(v / 1024 for v in results.series("rss_kb", job="scale", impl=impl).values)
        peak = Series(v / 1024 for v in results.series("peak_rss_kb", job="scale", impl=impl).values)
        lines.append([impl, spread(results.series("wall_s", job="scale", impl=impl)), spread(cpu), spread(held),
                      spread(peak)])
        cpu_bars.append(Bar(f"{impl}: CPU, s", cpu.median, figure(cpu.median), color=color))
        memory_bars.append(Bar(f"{impl}: peak of the process, MB", peak.median, figure(peak.median), color=color))
    text = table(["client", "time, s", "CPU, s", "memory afterwards, MB", "peak memory, MB"], lines)
    plots = {}
    if cpu_bars:
        plots["clients-cpu.svg"] = bars("A list of 10,000 pods (JSON): CPU", cpu_bars)
        plots["clients-memory.svg"] = bars("A list of 10,000 pods (JSON): memory", memory_bars)
    return text, plots


def commands_text(results):
    lines = []
    for impl in ("kubexx get", "kubectl"):
        wall = results.series("wall_s", job="command", impl=impl)
        if not wall:
            lines.append([impl, "missing", "", ""])
            continue
        peak = Series(v / 1024 for v in results.series("peak_rss_kb", job="command", impl=impl).values)
        lines.append([impl, spread(wall), spread(results.series("cpu_s", job="command", impl=impl)), spread(peak)])
    return table(["command", "time, s", "CPU, s", "peak, MB"], lines)


def instructions_text(results):
    lines, tools = [], set()
    for counted in COUNTED:
        found = {impl: results.one(job=f"instructions-{counted.id}", impl=impl) for impl, _ in BOTH}
        ours, theirs = (found[impl].get("instructions") for impl, _ in BOTH)
        tools |= {line["tool"] for line in found.values() if line}
        factor = theirs / ours if ours and theirs else None
        lines.append([counted.work, figure(ours), figure(theirs), counted.unit, times(factor)])
    if not tools:
        return "Not measured: see the list of omissions above.\n"
    return f"Counted in user space by {', '.join(sorted(tools))}.\n\n" + table(
        ["work", "kubexx", PEER, "for", "fewer by"], lines)


def facts_text(results):
    machine, server, data = results.one(bench="machine"), results.one(bench="server"), results.one(bench="data")
    versions = {}
    for line in results.find(bench="versions"):
        versions.update({key: value for key, value in line.items() if key != "bench" and value})
    for impl in ("python", "node"):
        found = results.one(job="scale", impl=impl).get("version")
        if found:
            versions[{"python": "python3-kubernetes", "node": "@kubernetes/client-node"}[impl]] = found
    whole = results.one(bench="whole")
    lines = [
        f"- Machine: {machine.get('cpu', 'unknown')}, {machine.get('cores')} cores, {machine.get('memory_gb')} GB, "
        f"{machine.get('system', '')}, kernel {machine.get('kernel')}; load at the start "
        f"{machine.get('load_at_start')}.",
        "- Versions: " + ", ".join(f"{name} {value}" for name, value in versions.items()) + ".",
        f"- Server: {server.get('server')}.",
        f"- Pods to decode and encode: {data.get('source')}, 10,000 of them, {data.get('json_bytes', 0) / 1e6:.1f} MB "
        f"of JSON, {data.get('proto_bytes', 0) / 1e6:.1f} MB of protobuf.",
        f"- Run: {whole.get('rounds')} rounds{' (--quick)' if whole.get('quick') else ''} in "
        f"{whole.get('wall_s', 0) / 60:.0f} minutes, with kubexx and {PEER} in turn. Figures are medians, with the lowest "
        "and the highest value in brackets. [results.jsonl](performance/results.jsonl) has every result.",
    ]
    skipped = [f"- Not measured: {line['what']}: {line['why']}." for line in results.find(bench="skipped")]
    return "\n".join(lines + list(dict.fromkeys(skipped))) + "\n"


def image(name, text):
    return f"![{text}](performance/{name})\n"


def write(results):
    PLOTS.mkdir(parents=True, exist_ok=True)
    for old in PLOTS.glob("*.svg"):
        old.unlink()
    plots = growth_plots(results)
    scale, scale_plots = scale_text(results)
    plots.update(scale_plots)
    ratios = main_plot(results)
    if ratios:
        plots["ratios.svg"] = ratios

    def shown(name, text):
        return [image(name, text)] if name in plots else []

    parts = [
        "# Performance\n",
        "How kubexx compares with other Kubernetes clients on the same work, measured on one machine in one run. "
        "`./dev bench` measures again and writes this page.\n",
        "<!-- Written by bench/report.py. Edit bench/report.py, bench/rows.py and bench/notes.md instead. -->\n",
        facts_text(results),
        "## Compared with client-go\n",
        *shown("ratios.svg", "How many times better than client-go each figure is"),
        table(HEAD, row_lines(results, MAIN)),
        "\"Memory held\" is the growth of the process after garbage collection, with free memory returned to the system. "
        "\"Peak\" is the largest growth before that, as a multiple of the memory held. \"CPU\" is the time that all threads "
        "of the client's process used.\n",
        "## With a recorded server\n",
        "`kubexx-bench replay` is a server that sends recorded bytes as fast as the client reads them, so these figures "
        "depend on the client alone. It has no streamed lists.\n",
        table(HEAD, row_lines(results, REPLAYED)),
        "## Other figures\n",
        table(HEAD, row_lines(results, OTHER)),
        "## The delay of events\n",
        "From the acknowledgement of a write to the call of an informer's handler, in milliseconds, with default options. "
        "Negative: the event was faster than the answer to the write. The clients are measured in turn, with the same "
        "writer.\n",
        growth_text(results, "Delay", "latency", LATENCY_RATES, "rate",
                    (("p50_ms", 1, "median, ms"), ("p99_ms", 1, "99 %, ms"), ("cpu_us_per_event", 1, "CPU an event, us"),
                     ("writes_per_s", 1, "reached")), "writes a second"),
        "## Instructions\n",
        instructions_text(results),
        "These counts depend little on the load of the machine. `./dev bench --check` compares them and the ratios above "
        "with bench/thresholds.json.\n",
        "## Growth\n",
        "### Objects\n",
        *shown("objects.svg", "Time, CPU and memory of an informer by number of pods"),
        growth_text(results, "Objects", "growth-objects", GROWTH_OBJECTS, "size",
                    (("wall_s", 1, "time, s"), ("cpu_s", 1, "CPU, s"), ("rss_kb", 1 / 1024, "memory, MB")), "pods"),
        "### Informers\n",
        "All informers run in one process. Each watches the ten ConfigMaps of its own namespace.\n",
        *shown("informers.svg", "Memory, threads and CPU by number of informers"),
        growth_text(results, "Informers", "growth-informers", GROWTH_INFORMERS, "size",
                    (("rss_kb", 1 / 1024, "memory, MB"), ("threads", 1, "threads"), ("cpu_s", 1, "CPU, s")),
                    "informers"),
        f"{PEER} uses goroutines instead of threads: "
        + ", ".join(f"{results.one(job='growth-informers', impl=PEER, size=n).get('goroutines', '-')}"
                    for n in GROWTH_INFORMERS) + " of them.\n",
        "### Workers\n",
        *shown("workers.svg", "Adds a second by number of workers"),
        growth_text(results, "Workers", "growth-workers", GROWTH_WORKERS, "workers",
                    (("adds_per_s", 1e-6, "million adds/s"), ("cpu_s", 1, "CPU, s")), "workers"),
        "## Other clients\n",
        "Each client lists all 10,000 pods once, as JSON, in a new process.\n",
        *shown("clients-cpu.svg", "CPU of a list by client"),
        *shown("clients-memory.svg", "Memory of a list by client"),
        scale,
        "The command lines, with `get pods -A -o json`:\n",
        commands_text(results),
        NOTES.read_text() if NOTES.exists() else "",
    ]
    PAGE.write_text(re.sub(r"\n{3,}", "\n\n", "\n".join(parts)))
    for name, svg in plots.items():
        (PLOTS / name).write_text(svg)
    shutil.copyfile(results.path, PLOTS / "results.jsonl")
    print(f"\n{PAGE.relative_to(TOP)} and {len(plots)} plots: written")


def show(results):
    """Prints the medians on the terminal."""
    print(f"\n{'medians':52} {'kubexx':>12} {PEER:>12}  {'better by':>9}")
    for row in ROWS:
        ours, theirs = results.row(row, "kubexx"), results.row(row, PEER)
        if not ours:
            continue
        replayed = ", replayed" if row in REPLAYED else ""
        print(f"{(row.work + replayed)[:52]:52} {figure(ours.median):>12} {figure(theirs.median):>12}  "
              f"{times(row.factor(ours.median, theirs.median)):>9}  {row.unit}")
