// extract.js FOLDER-OF-PACKAGES OUT: makes CustomResourceDefinitions from the schemas in npm's kubernetes-models
// packages, which were made from the projects' own definitions. Restores parts of the structural schemas that the
// packages lack, as far as they can be derived.
"use strict";
const fs = require("fs");
const path = require("path");
const [from, out] = process.argv.slice(2);

function* files(folder) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) yield* files(file);
    else if (entry.name.endsWith(".js")) yield file;
  }
}

function schemaIn(file) {
  const text = fs.readFileSync(file, "utf8");
  const start = text.indexOf("\nconst schema = {");
  if (start < 0) return null;
  const begin = start + "\nconst schema = ".length;
  const end = text.indexOf("\n};", begin);
  return end < 0 ? null : JSON.parse(text.substring(begin, end + 2));
}

const any = () => ({ "x-kubernetes-preserve-unknown-fields": true });
const isEither = (list) =>
  Array.isArray(list) && list.some((s) => s.type === "integer" || s.type === "number") &&
  list.some((s) => s.type === "string");

function restore(node) {
  if (node.$ref) return any();
  const either = isEither(node.anyOf) || isEither(node.oneOf) || node.format === "int-or-string";
  const { nullable, oneOf, anyOf, allOf, not, ...rest } = node;
  if (either) {
    delete rest.type;
    delete rest.format;
    return { ...rest, anyOf: [{ type: "integer" }, { type: "string" }], "x-kubernetes-int-or-string": true };
  }
  if (rest.items) rest.items = restore(rest.items);
  if (rest.properties) {
    rest.properties = Object.fromEntries(
      Object.entries(rest.properties).map(([name, property]) => [name, restore(property)]));
  }
  if (typeof rest.additionalProperties === "object") {
    rest.additionalProperties = restore(rest.additionalProperties);
    if (rest.properties) delete rest.additionalProperties;
  } else if (rest.properties) {
    delete rest.additionalProperties;
  }
  if (rest.type === "array" && !rest.items) return any();
  if (!rest.type) {
    if (!rest.properties && !rest.additionalProperties) return any();
    rest.type = "object";
  }
  if (typeof rest.type !== "string") return any();
  return rest;
}

const plural = (kind) => {
  const lower = kind.toLowerCase();
  if (lower.endsWith("y") && !/[aeiou]y$/.test(lower)) return lower.slice(0, -1) + "ies";
  return lower.endsWith("s") ? lower + "es" : lower + "s";
};

const definitions = new Map();
for (const file of files(from)) {
  const schema = schemaIn(file);
  const apiVersion = schema?.properties?.apiVersion?.enum?.[0];
  const kind = schema?.properties?.kind?.enum?.[0];
  if (!apiVersion || !kind || kind.endsWith("List")) continue;
  const [group, version] = apiVersion.split("/");
  if (!version) continue;
  const restored = restore(schema);
  restored.properties.apiVersion = { type: "string" };
  restored.properties.kind = { type: "string" };
  restored.properties.metadata = { type: "object" };
  restored.required = (restored.required || []).filter((n) => n !== "apiVersion" && n !== "kind");
  if (restored.required.length === 0) delete restored.required;
  const name = `${plural(kind)}.${group}`;
  if (!definitions.has(name)) definitions.set(name, { group, kind, versions: new Map() });
  definitions.get(name).versions.set(version, restored);
}
for (const [name, { group, kind, versions }] of definitions) {
  const names = [...versions.keys()].sort();
  const crd = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name },
    spec: {
      group,
      scope: /^Cluster|Class$/.test(kind) ? "Cluster" : "Namespaced",
      names: { kind, plural: plural(kind), singular: kind.toLowerCase(), listKind: kind + "List" },
      versions: names.map((version, i) => ({
        name: version,
        served: true,
        storage: i === 0,
        schema: { openAPIV3Schema: versions.get(version) },
        subresources: versions.get(version).properties.status ? { status: {} } : undefined,
      })),
    },
  };
  fs.writeFileSync(path.join(out, name + ".json"), JSON.stringify(crd, null, 1) + "\n");
}
console.log(`${definitions.size} definitions`);
