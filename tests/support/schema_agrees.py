"""Does the generated schema agree with `wakebal check`?  schema_agrees.py WAKEBAL SCHEMA FILE...

What check accepts the schema accepts. What check refuses for an unknown key (E150) or a value of the wrong type or outside its
choices is refused by the schema too, unless it is the meaning of a text. Exit 77 where python3-jsonschema is missing."""
import json
import re
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    sys.exit(77)

wakebal, schema_file, files = sys.argv[1], sys.argv[2], sys.argv[3:]
with open(schema_file, encoding="utf-8") as f:
    schema = json.load(f)
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)


def run(*args):
    return subprocess.run([wakebal, *args], capture_output=True, text=True, check=False)


bad = 0
agree = {True: 0, False: 0}
for name in files:
    tree = run("generate", "json", name)
    if tree.returncode:
        continue  # syntax: there is nothing that a schema could look at
    accepted = run("check", name)
    valid = validator.is_valid(json.loads(tree.stdout))
    if accepted.returncode == 0 and not valid:
        error = next(validator.iter_errors(json.loads(tree.stdout)))
        print(f"{name}: check accepts it, the schema does not: {error.message[:200]}")
        bad += 1
    errors = re.findall(r"error: (.*)", accepted.stderr)
    plain = errors and all(re.match(r"unknown key '[^']*' in '(machine|kernel|run|policy)'", e) for e in errors)
    if plain and valid and "sweep" not in accepted.stderr and "over" not in accepted.stderr:
        print(f"{name}: the schema accepts it, check says: {errors[0][:160]}")
        bad += 1
    if valid == (accepted.returncode == 0):
        agree[valid] += 1
print(f"{agree[True]} accepted by both, {agree[False]} refused by both")
sys.exit(1 if bad or agree[True] < 30 or agree[False] < 25 else 0)
