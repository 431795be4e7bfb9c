"""Imports the facts about the Kubernetes API that the code generator works from.

Reads a checkout of Kubernetes (Go sources, protobuf definitions, OpenAPI v3, discovery) and writes one compact JSON
file per API package into codegen/schema. Takes over facts (names, numbers, types, flags), and no prose.
codegen/README.md describes the command and the format of its output.
"""
