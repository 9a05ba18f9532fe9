"""Checks lines of --json against socktui.schema.json, and the schema against json.md, both in this folder.

Usage: check-json.py [FILE...], or with the lines on stdin. Prints what is wrong, one line each, and which types of lines
and objects it saw; the status is 1 if anything is wrong. Needs python3-jsonschema.
"""
import fileinput
import json
import os
import sys

import jsonschema


def properties(schema):
    for name, definition in schema["definitions"].items():
        assert definition["additionalProperties"] is False, name
        yield from definition["properties"]
        for value in definition["properties"].values():
            yield from value.get("items", {}).get("properties", ())


folder = os.path.dirname(os.path.abspath(__file__))
schema = json.load(open(os.path.join(folder, "socktui.schema.json")))
page = open(os.path.join(folder, "json.md")).read()
problems = ["not in the page: " + name for name in sorted(set(properties(schema))) if "`" + name + "`" not in page]
kinds = {entry["$ref"]: index for index, entry in enumerate(schema["oneOf"])}
places = {schema["definitions"][ref.rsplit("/", 1)[1]]["properties"]["type"]["const"]: i for ref, i in kinds.items()}
validator = jsonschema.Draft7Validator(schema)
seen = set()
for text in fileinput.input():
    line = json.loads(text)
    seen.add(line.get("type"))
    seen.update(name for name, value in line.items() if isinstance(value, dict))
    for error in validator.iter_errors(line):
        for cause in error.context or [error]:
            if not error.context or cause.schema_path[0] == places.get(line.get("type")):
                where = "/".join(str(part) for part in cause.path)
                problems.append("%s %s: %s" % (line.get("type"), where, cause.message[:300]))
for problem in sorted(set(problems)):
    print("problem:", problem)
print("seen:", " ".join(sorted(str(name) for name in seen)))
sys.exit(1 if problems else 0)
