"""Small Kubernetes trees: two packages in the form of upstream's files, as one release and the next have them."""

import json

REGISTER = """package v1

import "k8s.io/apimachinery/pkg/runtime/schema"

const GroupName = "{group}"

func addKnownTypes(scheme *runtime.Scheme) error {{
	scheme.AddKnownTypes(SchemeGroupVersion,
{kinds}	)
	return nil
}}
"""

META_GO = """package v1

// +protobuf.options.marshal=false
type TypeMeta struct {
	Kind string `json:"kind,omitempty" protobuf:"bytes,1,opt,name=kind"`
}

type ObjectMeta struct {
	Name string `json:"name,omitempty" protobuf:"bytes,1,opt,name=name"`
}

type ListMeta struct {
	ResourceVersion string `json:"resourceVersion,omitempty" protobuf:"bytes,1,opt,name=resourceVersion"`
}
"""

META_PROTO = """syntax = "proto2";

package k8s.io.apimachinery.pkg.apis.meta.v1;

message ListMeta {
  optional string resourceVersion = 1;
}

message ObjectMeta {
  optional string name = 1;
}

message TypeMeta {
  optional string kind = 1;
}
"""

# %(inline)s is the tag of embedded structs: `json:",inline"` until 1.36, `json:""` since.
THING_GO = """package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type Thing struct {
	metav1.TypeMeta   `json:"%(inline)s"`
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// +optional
	Spec ThingSpec `json:"spec,omitempty" protobuf:"bytes,2,opt,name=spec"`
}

type ThingList struct {
	metav1.TypeMeta `json:"%(inline)s"`
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`
	Items           []Thing `json:"items" protobuf:"bytes,2,rep,name=items"`
}

type ThingSpec struct {
	Colour `json:"%(inline)s" protobuf:"bytes,1,opt,name=colour"`
	// +listType=map
	// +listMapKey=name
	Parts []Part `json:"parts,omitempty" protobuf:"bytes,2,rep,name=parts" patchStrategy:"merge" patchMergeKey:"name"`
%(field)s}

type Colour struct {
	Red *int32 `json:"red,omitempty" protobuf:"varint,1,opt,name=red"`
}

type Part struct {
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
}
"""

THING_PROTO = """syntax = "proto2";

package k8s.io.api.things.v1;

message Colour {
  optional int32 red = 1;
}

message Part {
  optional string name = 1;
}

message Thing {
  optional .k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta metadata = 1;

  optional ThingSpec spec = 2;
}

message ThingList {
  optional .k8s.io.apimachinery.pkg.apis.meta.v1.ListMeta metadata = 1;

  repeated Thing items = 2;
}

message ThingSpec {
  optional Colour colour = 1;

  repeated Part parts = 2;
%(field)s}
"""

GADGET_GO = """
type Gadget struct {
	metav1.TypeMeta `json:",inline"`

	Spec GadgetSpec `json:"spec" protobuf:"bytes,1,opt,name=spec"`
}

type GadgetSpec struct {
	Parts map[string]Part `json:"parts" protobuf:"bytes,1,rep,name=parts"`
}
"""

GADGET_PROTO = """
message Gadget {
  optional GadgetSpec spec = 1;
}

message GadgetSpec {
  map<string, Part> parts = 1;
}
"""

# The next release has this field, and neither the kind Gadget nor the package gone/v1.
WEIGHT_GO = '	Weight int64 `json:"weight,omitzero" protobuf:"varint,3,opt,name=weight"`\n'
WEIGHT_PROTO = "\n  optional int64 weight = 3;\n"


def resources(*names):
    lines = []
    for resource, kind in names:
        lines.append({"name": resource, "singularName": kind.lower(), "namespaced": True, "kind": kind,
                      "verbs": ["list", "get"], "shortNames": [kind[:2].lower()]})
    lines.append({"name": f"{names[0][0]}/status", "singularName": "", "namespaced": True, "kind": names[0][1],
                  "verbs": ["update"]})
    return lines


def package(path, name, group, kinds, go, proto):
    registered = "".join(f"\t\t&{kind}{{}},\n" for kind in kinds)
    return {
        f"staging/src/{path}/register.go": REGISTER.format(group=group, kinds=registered),
        f"staging/src/{path}/types.go": go,
        f"staging/src/{path}/generated.proto": proto.replace("k8s.io.api.things.v1", name),
    }


def files(first):
    """{path: text} of the first release or of the next."""
    parts = {"inline": ",inline" if first else "", "field": "" if first else WEIGHT_GO}
    kinds = ["Thing", "ThingList"] + (["Gadget"] if first else [])
    served = [("things", "Thing")] + ([("gadgets", "Gadget")] if first else [])
    meta = "k8s.io/apimachinery/pkg/apis/meta/v1"
    tree = {
        **package(meta, "", "meta.k8s.io", [], META_GO, META_PROTO),
        **package("k8s.io/api/things/v1", "k8s.io.api.things.v1", "things.k8s.io", kinds,
                  THING_GO % parts + (GADGET_GO if first else ""),
                  THING_PROTO % {"field": "" if first else WEIGHT_PROTO} + (GADGET_PROTO if first else "")),
        "api/discovery/apis__things.k8s.io__v1.json": json.dumps(
            {"kind": "APIResourceList", "groupVersion": "things.k8s.io/v1", "resources": resources(*served)}),
        "api/openapi-spec/v3/apis__things.k8s.io__v1_openapi.json": json.dumps({
            "paths": {},
            "components": {"schemas": {"io.k8s.api.things.v1.Part": {
                "properties": {"name": {"type": "string"}}, "required": ["name"]}}}}),
    }
    if first:
        tree.update(package("k8s.io/api/gone/v1", "k8s.io.api.gone.v1", "gone.k8s.io", ["Thing", "ThingList"],
                            THING_GO % parts, THING_PROTO % {"field": ""}))
        tree["api/discovery/apis__gone.k8s.io__v1.json"] = json.dumps(
            {"kind": "APIResourceList", "groupVersion": "gone.k8s.io/v1", "resources": resources(("things", "Thing"))})
    return tree
