"""Gives kinds their resources, as a server of the release or of an earlier one has them."""

from .names import maturity

# Resources of an add-on, which are missing in the OpenAPI and the discovery of a plain cluster.
ADDON_RESOURCES = {
    ("metrics.k8s.io", "NodeMetrics"): {"resource": "nodes", "namespaced": False, "verbs": ["get", "list"]},
    ("metrics.k8s.io", "PodMetrics"): {"resource": "pods", "namespaced": True, "verbs": ["get", "list"]},
}
RETIRED_ADDONS = {("metrics.k8s.io", "v1alpha1")}

# The present groups of kinds whose former group is gone.
SUCCESSOR_GROUPS = {"extensions": ["apps", "networking.k8s.io"]}

# Short names of kinds that were removed before Kubernetes' repository had discovery documents.
RETIRED_SHORT_NAMES = {"PodSecurityPolicy": ["psp"]}

# Subresources that were removed with their group version, so no later version has them.
RETIRED_SUBRESOURCES = {
    ("apps", "v1beta1", "Deployment"): [{"name": "rollback", "kind": "DeploymentRollback", "verbs": ["create"]}],
    ("extensions", "v1beta1", "Deployment"): [{"name": "rollback", "kind": "DeploymentRollback", "verbs": ["create"]}],
}


RESOURCE_KEYS = ["resource", "singular", "namespaced", "verbs", "shortNames", "categories", "subresources"]


def add_resources(schemas, discovery, openapi):
    """Sets the resource of every kind that has one, or had one in an earlier release.

    Discovery comes first: OpenAPI's paths have no short names.
    """
    sources = (discovery, openapi.resources)
    for schema in schemas.values():
        kinds = schema["kinds"]
        registered = {kind["kind"] for kind in kinds}
        for kind in kinds:
            facts, retired = find_resource(sources, schema, kind, registered)
            if not facts:
                continue
            if kind["kind"] + "List" in registered:
                kind["list"] = kind["kind"] + "List"
            kind.update(facts)
            kind["retired"] = retired
        served = [kind for kind in kinds if "resource" in kind]
        gone = {kind["kind"] for kind in served if kind.get("retired")}
        for kind in kinds:
            # A list is retired with its items, and the other types of a group version with the last of its resources.
            if kind["kind"][:-4] in gone or (served and len(gone) == len(served)):
                kind["retired"] = True


def find_resource(sources, schema, kind, registered):
    """(facts, whether the resource is retired) or (None, False)."""
    group, version, name = schema["group"], schema["version"], kind["kind"]
    key = (group, version, name)
    for source in sources:
        if key in source:
            return source[key], False
    if (group, name) in ADDON_RESOURCES:
        return {**ADDON_RESOURCES[group, name], "singular": name.lower()}, (group, version) in RETIRED_ADDONS
    for candidate in [group] + SUCCESSOR_GROUPS.get(group, []):
        for source in sources:
            versions = [v for g, v, k in source if (g, k) == (candidate, name)]
            if versions:
                facts = dict(source[candidate, max(versions, key=maturity), name])
                facts["subresources"] = [own_scale(sub, registered) for sub in facts["subresources"]]
                facts["subresources"] += RETIRED_SUBRESOURCES.get(key, [])
                facts["subresources"].sort(key=lambda sub: sub["name"])
                return facts, True
    if "resource" not in kind:
        return None, False
    # No version has the resource any more: it is taken from an earlier release.
    facts = {key: kind[key] for key in RESOURCE_KEYS if key in kind}
    return {**facts, "shortNames": kind.get("shortNames") or RETIRED_SHORT_NAMES.get(name)}, True


def own_scale(sub, registered):
    """Before autoscaling/v1 took over, a group version's scale subresource was its own Scale."""
    if sub["name"] == "scale" and "Scale" in registered:
        return {"name": "scale", "kind": "Scale", "verbs": sub["verbs"]}
    return sub
