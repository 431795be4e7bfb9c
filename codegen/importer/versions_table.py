"""Writes the table of group-versions in docs/compatibility.md."""

import re

from .names import Problem, maturity

BEGIN = "<!-- group-versions: ./dev import writes the table below -->\n"
END = "<!-- end of group-versions -->\n"


def table(schemas, release):
    minor = ".".join(release.split(".")[:2])
    rows, without = {}, []
    for schema in schemas.values():
        served = [kind for kind in schema["kinds"] if "resource" in kind]
        column = "served"
        if schema["release"] != release:
            column = "former"
        elif not served:
            without.append(schema)
            continue
        elif all(kind.get("retired") for kind in served):
            column = "retired"
        text = schema["version"]
        if column == "former":
            text += " (" + ".".join(schema["release"].split(".")[:2]) + ")"
        rows.setdefault(schema["group"], {}).setdefault(column, []).append((schema["version"], text))
    lines = [f"| group | versions of {minor} | retired | former, with the last release |", "|---|---|---|---|"]
    for group, columns in sorted(rows.items()):
        cells = [", ".join(text for _, text in sorted(columns.get(column, []), key=lambda entry: maturity(entry[0]),
                                                      reverse=True)) for column in ("served", "retired", "former")]
        lines.append(f"| {group or 'core'} | " + " | ".join(cells) + " |")
    groups = {}
    for schema in without:
        groups.setdefault(schema["group"], []).append(schema["version"])
    text = ", ".join(f"{group} " + " and ".join(sorted(versions, key=maturity, reverse=True))
                     for group, versions in sorted(groups.items()))
    lines.append(f"| {text} | types without resources | | |")
    return "\n".join(re.sub(r"\|  (?=\|)", "| ", line) for line in lines) + "\n"


def update(file, schemas, release):
    text = file.read_text(encoding="utf-8")
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise Problem(f"{file}: has no lines {BEGIN.strip()} and {END.strip()}")
    file.write_text(f"{head}{BEGIN}\n{table(schemas, release)}\n{END}{tail}", encoding="utf-8")
