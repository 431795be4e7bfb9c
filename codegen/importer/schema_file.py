"""Reads and writes the files in codegen/schema."""

import json

KIND_KEYS = ["kind", "type", "list", "resource", "singular", "namespaced", "verbs", "shortNames", "categories",
             "subresources", "bare", "unversioned", "everyVersion", "retired", "former"]


def file_name(package):
    return package.replace("/", ".") + ".json"


def compact(value):
    return json.dumps(value, ensure_ascii=False)


def block(opening, lines, closing):
    return opening + "\n" + ",\n".join(lines) + "\n" + closing


def to_text(schema):
    """One line for each field and kind, so that a difference between releases reads well."""
    parts = [" " + ", ".join(f'"{key}": {compact(schema[key])}' for key in ("package", "group", "version", "release"))]
    types = []
    for name, fields in sorted(schema["types"].items()):
        lines = ["   " + compact(field) for field in fields]
        types.append(f"  {compact(name)}: " + (block("[", lines, "  ]") if lines else "[]"))
    parts.append(block(' "types": {', types, " }"))
    if schema["structTypes"]:
        lines = [f"  {compact(name)}: {compact(kind)}" for name, kind in sorted(schema["structTypes"].items())]
        parts.append(block(' "structTypes": {', lines, " }"))
    if schema["typeMeta"]:
        parts.append(f' "typeMeta": {compact(schema["typeMeta"])}')
    if schema["kinds"]:
        lines = ["  " + compact({key: kind[key] for key in KIND_KEYS if kind.get(key)}) for kind in schema["kinds"]]
        parts.append(block(' "kinds": [', lines, " ]"))
    text = block("{", parts, "}\n")
    json.loads(text)    # this package is written by hand
    return text


def read_folder(folder):
    """{package: schema} of the files in a folder."""
    result = {}
    for file in sorted(folder.glob("*.json")):
        schema = json.loads(file.read_text(encoding="utf-8"))
        for key, empty in (("structTypes", {}), ("typeMeta", []), ("kinds", [])):
            schema.setdefault(key, empty)
        result[schema["package"]] = schema
    return result


def write_folder(folder, schemas):
    """Makes the folder hold these packages and nothing else."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {file_name(package): to_text(schema) for package, schema in schemas.items()}
    for stale in folder.glob("*.json"):
        if stale.name not in files:
            stale.unlink()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
