"""Facts about a server: OpenAPI v3 documents and discovery, as a Kubernetes checkout has them.

A resource has these facts: resource, singular, namespaced, verbs, shortNames, categories, subresources.
"""

import json
import re


class OpenApi:
    """All documents of a folder such as api/openapi-spec/v3. Releases before 1.23 have none: it is empty then."""

    ACTIONS = {"post": "create", "put": "update", "watchlist": "watch"}

    def __init__(self, folder):
        self.definitions = {}
        paths = {}
        for file in sorted(folder.glob("*.json")):
            document = json.loads(file.read_text(encoding="utf-8"))
            self.definitions.update(document.get("components", {}).get("schemas", {}))
            paths.update(document["paths"])
        self.resources = self.read_paths(paths)     # (group, version, kind) -> facts

    @staticmethod
    def definition_name(path, name):
        host, rest = path.split("/", 1)
        return ".".join(reversed(host.split("."))) + "." + rest.replace("/", ".") + "." + name

    def definition(self, path, name):
        return self.definitions.get(self.definition_name(path, name), {})

    def read_paths(self, paths):
        """Resource facts that the paths tell: all but short names and categories."""
        found = {}
        for path, item in paths.items():
            match = re.match(r"^/(?:api|apis/([^/]+))/(v\d\w*)/(?:watch/)?(namespaces/\{namespace\}/)?"
                             r"([a-z]+)(?:/\{name\})?(?:/([a-z]+))?(?:/\{path\})?$", path)
            if not match:
                continue
            group, version, namespaced, resource, sub = match.groups()
            entry = found.setdefault((group or "", version, resource),
                                     {"namespaced": False, "verbs": set(), "subs": {}, "kind": None})
            entry["namespaced"] |= bool(namespaced)
            for operation in item.values():
                if not isinstance(operation, dict) or "x-kubernetes-action" not in operation:
                    continue
                action = operation["x-kubernetes-action"]
                action = self.ACTIONS.get(action, action)
                kind = operation["x-kubernetes-group-version-kind"]
                if sub:
                    entry["subs"].setdefault(sub, (kind, set()))[1].add(action)
                else:
                    entry["verbs"].add(action)
                    entry["kind"] = kind["kind"]
        resources = {}
        for (group, version, resource), entry in found.items():
            if not entry["kind"]:
                continue
            subs = [subresource(name, kind, verbs, group, version)
                    for name, (kind, verbs) in sorted(entry["subs"].items())]
            resources[group, version, entry["kind"]] = {
                "resource": resource, "singular": entry["kind"].lower(), "namespaced": entry["namespaced"],
                "verbs": sorted(entry["verbs"]), "shortNames": [], "categories": [], "subresources": subs}
        return resources


def subresource(name, kind, verbs, group, version):
    """Group and version are given where they are not those of the resource."""
    result = {"name": name}
    if (kind["group"], kind["version"]) not in (("", ""), (group, version)):
        result.update(group=kind["group"], version=kind["version"])
    return {**result, "kind": kind["kind"], "verbs": sorted(verbs)}


def read_discovery(folder):
    """{(group, version, kind): facts} of a folder such as api/discovery, which releases since 1.28 have."""
    result = {}
    for file in sorted(folder.glob("api*.json")):
        document = json.loads(file.read_text(encoding="utf-8"))
        if document.get("kind") != "APIResourceList":
            continue
        group, _, version = document["groupVersion"].rpartition("/")
        facts, subs = {}, []
        for entry in document["resources"]:
            resource, _, sub = entry["name"].partition("/")
            if sub:
                kind = {"group": entry.get("group", ""), "version": entry.get("version", ""), "kind": entry["kind"]}
                subs.append((resource, subresource(sub, kind, entry["verbs"], group, version)))
                continue
            facts[resource] = result[group, version, entry["kind"]] = {
                "resource": resource, "singular": entry["singularName"], "namespaced": entry["namespaced"],
                "verbs": sorted(entry["verbs"]), "shortNames": entry.get("shortNames", []),
                "categories": entry.get("categories", []), "subresources": []}
        for resource, sub in sorted(subs, key=lambda entry: entry[1]["name"]):
            facts[resource]["subresources"].append(sub)
    return result
