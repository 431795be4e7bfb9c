"""Says what a release adds, removes and changes, in the form of an entry of CHANGELOG.md."""

from .schema_file import compact

# Changes of these are not changes of the API: `name` is the key of the comparison, and the name in protobuf is not
# visible.
IGNORED = {"name", "inline", "protoName"}


def report(previous, current, release):
    """Markdown."""
    shared = [package for package in current if package in previous]
    parts = [
        section("New group-versions", [describe(current[package]) for package in current if package not in previous]),
        section("New kinds", kinds(shared, previous, current, lambda old, new: old is None)),
        section("New fields", fields(shared, previous, current, lambda old, new: old is None)),
        section("Served again", kinds(shared, previous, current, lambda old, new: old and gone(old) and not gone(new))),
        section("No longer served, or gone; the types stay, for older clusters",
                kinds(shared, previous, current, lambda old, new: old and gone(new) and not gone(old))),
        section("Removed types", removed_types(shared, previous, current)),
        section("Removed fields", fields(shared, current, previous, lambda old, new: old is None)),
        section("Changed fields", changed(shared, previous, current)),
    ]
    if not any(parts):
        return "No changes of the API.\n"
    return f"Kubernetes {release}:\n\n" + "".join(parts)


def section(title, lines):
    return f"- {title}:\n" + "".join(f"  - {line}\n" for line in lines) if lines else ""


def gone(kind):
    return bool(kind.get("retired") or kind.get("former"))


def describe(schema):
    names = [kind["kind"] for kind in schema["kinds"] if "resource" in kind]
    return f"`{schema['package']}`" + (": " + listed(names) if names else "")


def listed(names):
    return ", ".join(f"`{name}`" for name in names)


def kinds(shared, previous, current, wanted):
    lines = []
    for package in shared:
        old = {kind["kind"]: kind for kind in previous[package]["kinds"]}
        names = [kind["kind"] for kind in current[package]["kinds"] if wanted(old.get(kind["kind"]), kind)]
        # A list comes with its item type.
        names = [name for name in names if name[:-len("List")] not in names]
        if names:
            lines.append(f"`{package}`: " + listed(names))
    return lines


def pairs(package, previous, current):
    """[(type, {field name: old}, {field name: new})] of the types that both have."""
    key = lambda field: field.get("name", field.get("inline"))
    for name, new in sorted(current[package]["types"].items()):
        if name in previous[package]["types"]:
            yield name, {key(field): field for field in previous[package]["types"][name]}, {
                key(field): field for field in new}


def fields(shared, previous, current, wanted):
    lines = []
    for package in shared:
        names = [f"{name}.{field}" for name, old, new in pairs(package, previous, current)
                 for field in new if wanted(old.get(field), new[field])]
        if names:
            lines.append(f"`{package}`: " + listed(names))
    return lines


def removed_types(shared, previous, current):
    lines = []
    for package in shared:
        names = sorted(set(previous[package]["types"]) - set(current[package]["types"]))
        if names:
            lines.append(f"`{package}`: " + listed(names))
    return lines


def changed(shared, previous, current):
    """One line for each kind of change, such as "`required` is no longer set"."""
    found = {}
    for package in shared:
        for name, old, new in pairs(package, previous, current):
            for field in new:
                if field not in old:
                    continue
                for key in sorted({*old[field], *new[field]} - IGNORED):
                    before, after = old[field].get(key), new[field].get(key)
                    if before != after:
                        change = (f"`{key}` is now {compact(after)}" if after is not None else f"`{key}` is unset")
                        change += "" if before in (None, True) else f" (was {compact(before)})"
                        found.setdefault(change, []).append(f"{package} {name}.{field}")
    return [f"{change}: " + listed(places) for change, places in sorted(found.items())]
