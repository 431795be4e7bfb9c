"""Keeps kinds that a release no longer has: clusters of earlier releases still serve them.

`former` of a kind names the last release that had it; a package that is gone as a whole keeps its own `release`.
Former kinds use the present form of the types that are still there, and bring the others along.
"""

from .names import split_reference
from .resources import RESOURCE_KEYS


def keep_former(previous, current):
    """Adds to `current` the packages, kinds and types of `previous` that are missing there."""
    for package, schema in previous.items():
        if package in current:
            keep_kinds(schema, current[package])
        else:
            current[package] = {**schema, "kinds": [{**kind, "retired": True} for kind in schema["kinds"]]}
    for package in list(current):
        for kind in current[package]["kinds"]:
            if kind.get("former") and "type" not in kind:
                keep_type(package, kind["kind"], previous, current)
        for fields in list(current[package]["types"].values()):
            keep_used(package, fields, previous, current)


def keep_kinds(old, new):
    present = {kind["kind"]: kind for kind in new["kinds"]}
    for kind in old["kinds"]:
        if kind["kind"] in present:
            # Add the resource as well: the release may have the type only. Discovery overrides it.
            present[kind["kind"]].update({key: kind[key] for key in RESOURCE_KEYS if key in kind})
        elif not kind.get("unversioned") and not kind.get("everyVersion"):
            # ListOptions and similar types are no resources of a cluster.
            new["kinds"].append({**kind, "retired": True, "former": kind.get("former", old["release"])})


def keep_type(package, name, previous, current):
    """Copies a type and all that it uses from `previous`, unless `current` has it."""
    old, new = previous[package], current[package]
    if name in new["types"]:
        return
    new["types"][name] = old["types"][name]
    if name in old["structTypes"]:
        new["structTypes"][name] = old["structTypes"][name]
    if name in old["typeMeta"]:
        new["typeMeta"] = sorted({*new["typeMeta"], name})
    keep_used(package, old["types"][name], previous, current)


def keep_used(package, fields, previous, current):
    for field in fields:
        used = split_reference(field.get("type", field.get("inline")), package)
        if used[0] in previous and used[1] in previous[used[0]]["types"]:
            keep_type(*used, previous, current)
