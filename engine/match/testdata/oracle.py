# Answers questions about patterns: one JSON list [pattern, flags, subjects] a
# line in, one JSON list of booleans, or the text of re's error, a line out.
import json, re, sys, warnings

warnings.simplefilter("ignore")
for line in sys.stdin:
    pattern, flags, subjects = json.loads(line)
    try:
        r = re.compile(pattern, sum(getattr(re, f) for f in flags))
    except (re.error, OverflowError, RecursionError, ValueError) as e:
        print(json.dumps(str(e)))
        continue
    print(json.dumps([r.search(s) is not None for s in subjects]))
