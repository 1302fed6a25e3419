# SPDX-License-Identifier: GPL-2.0-only
"""schemas.py SCHEMA ANSWER...: whether each answer is as the schema says. The judge is Python's jsonschema (python3-jsonschema of Debian)."""
import json
import sys

import jsonschema

with open(sys.argv[1], encoding="utf-8") as file:
    schema = json.load(file)
jsonschema.Draft202012Validator.check_schema(schema)
judge = jsonschema.Draft202012Validator(schema)
for path in sys.argv[2:]:
    with open(path, encoding="utf-8") as file:
        for error in list(judge.iter_errors(json.load(file)))[:3]:
            sys.exit("%s: %s: %s" % (path, "/".join(map(str, error.absolute_path)), error.message[:200]))
