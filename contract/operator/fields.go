package operator

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/judge"
	"github.com/thresh-dev/thresh/engine/textop"
)

// format declares a campaign's document.
var format = sync.OnceValue(func() *doctree.Shape {
	text, texts := doctree.Text(), doctree.List(doctree.Text().Must())
	integer, word, truth := doctree.Integer, doctree.Word, doctree.Truth()
	oracle := &doctree.Shape{Name: "oracle", Doc: "a program that judges children", Fields: []doctree.Field{
		{Name: "command", Need: true, Type: texts.Must(),
			Doc: "command that exits with 0 if the system under test held and with 1 if not; `<child>` is the path of the child's text"},
		{Name: "timeout_s", Type: doctree.Number(0, 86400).MoreThan(0), Default: "10", Doc: "longest time for one call, in seconds"},
		{Name: "folder", Type: text, Doc: "folder to run it in; the document's by default"},
		{Name: "retries", Type: integer(0, 10), Default: "2", Doc: "retries when it gives no verdict"},
		{Name: "on_timeout", Type: word("error", "fail"), Default: `"error"`, Doc: "verdict on a child for which it takes too long: an error, or a finding"},
	}}
	choice := &doctree.Shape{Name: "select", Doc: "which operators to use, and where", Fields: []doctree.Field{
		{Name: "buckets", Type: texts, Doc: "buckets to use instead of the seeds' own; every seed is run in each"},
		{Name: "surface", Type: text, Doc: "surface to use instead of the seeds' own"},
		{Name: "risk_max", Type: word("LOW", "MEDIUM", "HIGH"), Doc: "highest risk of the operators to use"},
		{Name: "include", Type: texts, Doc: "globs of op_ids to use"},
		{Name: "exclude", Type: texts, Doc: "globs of op_ids to skip"},
	}}
	judges := judgeShape()
	price := doctree.Number(0, 1e9)
	budget := &doctree.Shape{Name: "budget", Doc: "what a run may spend on the system, including re-runs and shrinking", Fields: []doctree.Field{
		{Name: "calls", Type: integer(1, 1e12), Doc: "most calls"},
		{Name: "tokens", Type: integer(1, 1e15), Doc: "approximate limit of tokens, of prompts and replies: as the system reports them, or four characters each"},
		{Name: "cost", Type: price.MoreThan(0), Doc: "approximate limit of cost, by the two prices"},
		{Name: "input_price", Type: price, Doc: "price of a million input tokens"},
		{Name: "output_price", Type: price, Doc: "price of a million output tokens"},
	}}
	strength := integer(1, maxStrength)
	return &doctree.Shape{Name: "Operator campaign v1", Fields: []doctree.Field{
		{Name: "schema_version", Need: true, Type: text.Like(`^thresh\.operators\.v1$`), Doc: "thresh.operators.v1"},
		{Name: "seeds", Need: true, Type: texts.Must(), Doc: "seed files: .jsonl, .csv, or lines of text"},
		{Name: "name", Type: text, Doc: "name of the campaign in reports; the file's name by default"},
		{Name: "description", Type: text, Doc: "description for people; no effect"},
		{Name: "operators", Type: texts, Doc: "op_*.star and op_*.py files, or folders with such files"},
		{Name: "builtins", Type: truth.OrElse(word("all", "edition-3")), Default: "true",
			Doc: "use the built-in operators: `all` adds the later ones, which the surface CONVERSATION always uses; `edition-3`, as a search always does, adds those of the third edition, which can also be named in full"},
		{Name: "select", Type: doctree.Object(choice), Doc: "which operators to use, and where"},
		{Name: "children", Type: integer(1, maxChildren), Default: "10", Doc: "children of each seed"},
		{Name: "testcases", Type: texts.Must(), Doc: "make only these children, by their testcase_id; excludes children, rounds and duplicates"},
		{Name: "steps", Type: integer(1, maxSteps), Default: "1", Doc: "operators applied to each child in turn; for a search, the most (default `4`)"},
		{Name: "chain", Type: doctree.List(text.Must().OrElse(doctree.Object(linkShape()))).Must(), Doc: "operators applied to every child, in this order: op_ids, or mappings of chain; excludes steps, redraws, policy and weights"},
		{Name: "redraws", Type: integer(0, 100), Default: "3", Doc: "further operators to try in a step when one skips"},
		{Name: "rounds", Type: integer(1, maxRounds), Default: "4", Doc: "number of rounds; ucb1 and exp3 learn between them. A search learns after 16 children, or more beyond 256 rounds"},
		{Name: "strength", Type: strength.OrElse(doctree.List(strength).Exactly(2)), Default: "2", Doc: "strength of the operators, or [lowest, highest] to draw from for every child; a search learns what to draw (default `[1, 5]`)"},
		{Name: "seed_base", Type: doctree.AnyInteger(), Default: "1337", Doc: "seed of the random generators, of any size; --seed replaces it"},
		{Name: "rng_rule", Type: word(string(textop.RuleContract), string(textop.RuleWide)), Default: `"contract"`, Doc: "how random generators are derived from the seed"},
		{Name: "policy", Type: word(policies()...), Default: `"uniform"`, Doc: "how operators are chosen"},
		{Name: "weights", Type: doctree.Named(doctree.Named(doctree.Number(0, 1e12))),
			Doc: "weights by bucket (or *) and op_id, for the policy weighted; 1 by default"},
		{Name: "constraints", Type: doctree.Object(constraintsShape()), Doc: "limits of every child"},
		{Name: "duplicates", Type: word(string(RejectExact), string(RejectNear), string(KeepDuplicates)), Default: `"exact"`,
			Doc: "which duplicates among a seed's children are replaced"},
		{Name: "stats", Type: text.Must(), Doc: "statistics file for a learning policy to start from"},
		{Name: "verdicts", Type: text.Must(), Doc: "verdicts on children as lines of JSON, by testcase_id"},
		{Name: "oracle", Type: doctree.Object(oracle), Doc: "a program that judges children"},
		{Name: "system", Type: text.Must().OrElse(doctree.Named(doctree.Any())), Doc: "system under test, which gets every child as input: a system file, or its content"},
		{Name: "judges", Type: doctree.List(doctree.Object(judges).As(judgeRules())).Must(), Doc: "what every reply of the system must hold"},
		{Name: "budget", Type: doctree.Object(budget), Doc: "what a run may spend on the system"},
		{Name: "verbatim", Type: truth, Default: "false", Doc: "send the seeds as they are, without operators"},
		{Name: "attacker", Type: doctree.Object(attackerShape()), Doc: "a model that writes the children, each in response to earlier replies"},
	}, Doc: "a campaign that mutates prompts with operators. Relative paths start at the document's folder"}
})

// constraintsShape declares limits of a child.
var constraintsShape = sync.OnceValue(func() *doctree.Shape {
	return &doctree.Shape{Name: "constraints", Doc: "limits of every child; plug-ins receive all other keys", Open: true, Fields: []doctree.Field{
		{Name: "max_chars", Type: doctree.Integer(0, math.Inf(1)), Doc: "most characters of a child; longer ones are cut"},
		{Name: "trim_trailing", Type: doctree.Truth(), Doc: "remove white space at the end"},
		{Name: "keep_controls", Type: doctree.Truth(), Doc: "keep control characters"},
		{Name: "schema_mode", Type: doctree.Word("suffix", "blank").OrElse(doctree.Truth()), Doc: "how a cut child is kept well-formed"},
		{Name: "placeholder", Type: doctree.Text(), Doc: "text in place of what was removed"},
	}}
})

// linkShape declares an operator of a chain.
var linkShape = sync.OnceValue(func() *doctree.Shape {
	return &doctree.Shape{Name: "chain", Doc: "an operator of a chain, with its own strength", Fields: []doctree.Field{
		{Name: "op", Need: true, Type: doctree.Text().Must(), Doc: "op_id of the operator"},
		{Name: "strength", Type: doctree.Integer(1, maxStrength), Doc: "strength of this operator, instead of the child's"},
	}}
})

// judgeRules lists the required and optional keys of a judge by type, as JSON Schema keywords.
func judgeRules() string {
	var rules []string
	for _, word := range slices.Sorted(maps.Keys(judgeKeys)) {
		keys, none := judgeKeys[word], []string(nil)
		for _, key := range judgeShape().Keys("") {
			if key != "type" && key != "id" && key != keys.needs && !slices.Contains(keys.may, key) {
				none = append(none, `"`+key+`": false`)
			}
		}
		rules = append(rules, fmt.Sprintf(`{"if": {"properties": {"type": {"const": %q}}, "required": ["type"]}, "then": {"required": [%q], "properties": {%s}}}`, word, keys.needs, strings.Join(none, ", ")))
	}
	return `{"anyOf": [{"required": ["type"]}, {"required": ["assert"]}, {"required": ["evaluate"]}], "allOf": [` + strings.Join(rules, ", ") + `]}`
}

// judgeShape declares a judge of replies.
var judgeShape = sync.OnceValue(func() *doctree.Shape {
	text, texts, truth, count := doctree.Text().Must(), doctree.List(doctree.Text().Must()).Must(), doctree.Truth(), doctree.Integer(0, math.MaxInt32)
	price := doctree.Number(0, 1e9)
	return &doctree.Shape{Name: "judge", Doc: "what a reply must hold; types and keys are those of flakestorm's invariants", Fields: []doctree.Field{
		{Name: "type", Type: text.As(`{"enum": ["` + strings.Join(slices.Concat(judge.Demands(), wider), `", "`) + `"]}`), Doc: "`" + strings.Join(slices.Concat(judge.Demands(), wider), "`, `") + "`; not needed with assert or evaluate"},
		{Name: "id", Type: text, Doc: "name of the judge in findings; its type by default"},
		{Name: "value", Type: text, Doc: "for `contains` and `not_contains`: text to look for"},
		{Name: "values", Type: texts, Doc: "for `contains_any`: texts, at least one of which must be in the reply"},
		{Name: "pattern", Type: text, Doc: "for `regex`: regular expression that must match"},
		{Name: "patterns", Type: texts, Doc: "for `excludes_pattern`: texts or regular expressions that must not occur"},
		{Name: "case_sensitive", Type: truth, Default: "false", Doc: "for types with a value, values or patterns: match upper and lower case exactly"},
		{Name: "negate", Type: truth, Default: "false", Doc: "for types with a value, values, pattern or patterns, and for those that look at more than the text: require the opposite"},
		{Name: "event", Type: doctree.Any(), Doc: "for `trace`: the events that the rule is about, such as `{\"tool\": \"charge\"}`"},
		{Name: "at_most", Type: count, Doc: "for `trace`: most occurrences"},
		{Name: "at_least", Type: count, Doc: "for `trace`: fewest occurrences"},
		{Name: "exactly", Type: count, Doc: "for `trace`: exact number of occurrences"},
		{Name: "per", Type: text, Doc: "for `trace`: argument, or * for all of them; occurrences are counted for each of its values"},
		{Name: "before", Type: doctree.Any(), Doc: "for `trace`: each of these must have the event before it"},
		{Name: "after", Type: doctree.Any(), Doc: "for `trace`: each event must have one of these before it"},
		{Name: "never_after", Type: doctree.Any(), Doc: "for `trace`: the event must not come after any of these"},
		{Name: "within", Type: doctree.Any(), Doc: "for `trace`: longest time between the two, such as 5s, or the window of `at_most`"},
		{Name: "tool", Type: text, Doc: "for `tool_called`, `tool_not_called` and `tool_arguments`: name or glob of the tool"},
		{Name: "arguments", Type: doctree.Any(), Doc: "for `tool_arguments` and `trace`: arguments that the call must have"},
		{Name: "schema", Type: doctree.Any(), Doc: "for `json_schema`: the JSON Schema"},
		{Name: "assert", Type: doctree.Any(), Doc: "assertions as in Spec-Test, over `reply`, `prompt` and `events`"},
		{Name: "evaluate", Type: doctree.Any(), Doc: "spec-lang expression whose value must be true"},
		{Name: "target", Type: text, Doc: "for `evaluate`: the target; `reply` by default"},
		{Name: "expected", Type: text, Doc: "for `similarity`: text that the reply must resemble"},
		{Name: "threshold", Type: doctree.Number(0, 1), Default: "0.8", Doc: "for `similarity`: smallest similarity"},
		{Name: "baseline", Type: text, Doc: "for `behavior_unchanged`: text that the reply must resemble or, negated, must not"},
		{Name: "similarity_threshold", Type: doctree.Number(0, 1), Default: "0.75", Doc: "for `behavior_unchanged`: smallest similarity"},
		{Name: "max_ms", Type: price.MoreThan(0), Doc: "for `latency`: longest time of a call, in milliseconds"},
		{Name: "max", Type: price.MoreThan(0), Doc: "for `tokens` and `cost`: highest value of a call"},
		{Name: "input_price", Type: price, Doc: "for `cost`: price of a million input tokens"},
		{Name: "output_price", Type: price, Doc: "for `cost`: price of a million output tokens"},
		{Name: "criteria", Type: text, Doc: "for `llm_judge`: criteria for the judging model"},
		{Name: "system", Type: text, Doc: "for `llm_judge`: system file of the model"},
	}}
})

// Schema returns the JSON Schema of a campaign's document.
func Schema() []byte {
	return doctree.Schema("operators.v1", doctree.Object(format()).As(`{"dependentRequired": {"system": ["judges"], "judges": ["system"]}}`))
}

// Formats implements [campaign.Formatted].
func (*Contract) Formats() []campaign.Format {
	return []campaign.Format{{
		Name: "operator", Summary: "an operator campaign (JSON)", Schema: Schema,
		Keys: func() string { return doctree.Tables(doctree.Object(format())) },
	}}
}
