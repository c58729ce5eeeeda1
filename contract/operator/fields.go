package operator

import (
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
	unbounded := math.Inf(1)
	oracle := &doctree.Shape{Name: "oracle", Doc: "a program that judges children", Fields: []doctree.Field{
		{Name: "command", Need: true, Type: texts.Must(),
			Doc: "exits with 0 if the system under test held, with 1 if not; `<child>` is the path of the child's text"},
		{Name: "timeout_s", Type: doctree.Number(0, 86400).MoreThan(0), Default: "10", Doc: "seconds that a call may take"},
		{Name: "folder", Type: text, Doc: "in which it is run; the document's folder if it is not given"},
		{Name: "retries", Type: integer(0, 10), Default: "2", Doc: "how often it is asked again if it gives no verdict"},
		{Name: "on_timeout", Type: word("error", "fail"), Default: `"error"`, Doc: "what a child is on which it takes too long: an error, or a finding"},
	}}
	choice := &doctree.Shape{Name: "select", Doc: "which operators take part, and where", Fields: []doctree.Field{
		{Name: "buckets", Type: texts, Doc: "in place of those of the seeds; every seed is run in each"},
		{Name: "surface", Type: text, Doc: "in place of those of the seeds"},
		{Name: "risk_max", Type: word("LOW", "MEDIUM", "HIGH"), Doc: "operators of a higher risk take no part"},
		{Name: "include", Type: texts, Doc: "patterns of op_id"},
		{Name: "exclude", Type: texts, Doc: "patterns of op_id"},
	}}
	constraints := &doctree.Shape{Name: "constraints", Doc: "what children must keep to; plug-ins are given further keys", Open: true, Fields: []doctree.Field{
		{Name: "max_chars", Type: integer(0, unbounded), Doc: "longer children are cut"},
		{Name: "trim_trailing", Type: truth, Doc: "blanks at the end are taken away"},
		{Name: "keep_controls", Type: truth, Doc: "control characters stay"},
		{Name: "schema_mode", Type: word("suffix", "blank").OrElse(truth), Doc: "how children that are cut stay whole"},
		{Name: "placeholder", Type: text, Doc: "the text that stands for what was taken out"},
	}}
	judges := judgeShape()
	price := doctree.Number(0, 1e9)
	budget := &doctree.Shape{Name: "budget", Doc: "what a run may spend on the system, re-runs and shrinking included", Fields: []doctree.Field{
		{Name: "calls", Type: integer(1, 1e12), Doc: "the most calls"},
		{Name: "tokens", Type: integer(1, 1e15), Doc: "about the most tokens, of prompts and replies: as the system reports them, else four characters each"},
		{Name: "cost", Type: price.MoreThan(0), Doc: "about the most money, by the two prices"},
		{Name: "input_price", Type: price, Doc: "per million tokens of prompts"},
		{Name: "output_price", Type: price, Doc: "per million tokens of replies"},
	}}
	strength := integer(1, 100)
	return &doctree.Shape{Name: "Operator campaign v1", Fields: []doctree.Field{
		{Name: "schema_version", Need: true, Type: text.Like(`^thresh\.operators\.v1$`), Doc: "thresh.operators.v1"},
		{Name: "seeds", Need: true, Type: texts.Must(), Doc: "seed files: .jsonl, .csv, or lines of text"},
		{Name: "name", Type: text, Doc: "the campaign's name in reports; the file's name if it is not given"},
		{Name: "description", Type: text, Doc: "for people; no effect"},
		{Name: "operators", Type: texts, Doc: "op_*.star and op_*.py files, or folders with such files"},
		{Name: "builtins", Type: truth.OrElse(word("all", "edition-3")), Default: "true",
			Doc: "the built-in operators take part; those that were added later with `all`, in a search, and for the surface CONVERSATION alone; those of the third edition with `edition-3`, or if they are named in full"},
		{Name: "select", Type: doctree.Object(choice), Doc: "which operators take part, and where"},
		{Name: "children", Type: integer(1, maxChildren), Default: "10", Doc: "children of each seed"},
		{Name: "testcases", Type: texts.Must(), Doc: "these children alone, by their testcase_id; in place of children, rounds and duplicates"},
		{Name: "steps", Type: integer(1, maxSteps), Default: "1", Doc: "operators applied to a child, one after the other; of a search, the most (`4` if it is not given)"},
		{Name: "chain", Type: doctree.List(text.Must().OrElse(doctree.Object(linkShape()))).Must(), Doc: "op_ids, or mappings of chain: the operators applied to every child, in this order; in place of steps, redraws, policy and weights"},
		{Name: "redraws", Type: integer(0, 100), Default: "3", Doc: "further operators that a step may try if one skips"},
		{Name: "rounds", Type: integer(1, maxRounds), Default: "4", Doc: "rounds between which ucb1 and exp3 learn; a search learns after 16 children, or more if it has more than 256 rounds"},
		{Name: "strength", Type: strength.OrElse(doctree.List(strength).Exactly(2)), Default: "2", Doc: "or [least, most], drawn for every child; of a search, what it learns to draw from (`[1, 5]` if it is not given)"},
		{Name: "seed_base", Type: doctree.AnyInteger(), Default: "1337", Doc: "of any size; --seed replaces it"},
		{Name: "rng_rule", Type: word(string(textop.RuleContract), string(textop.RuleWide)), Default: `"contract"`, Doc: "how generators are derived"},
		{Name: "policy", Type: word(policies()...), Default: `"uniform"`, Doc: "how operators are chosen"},
		{Name: "weights", Type: doctree.Named(doctree.Named(doctree.Number(0, 1e12))),
			Doc: "factors by bucket (or *) and op_id, for the policy weighted; 1 if not given"},
		{Name: "constraints", Type: doctree.Object(constraints), Doc: "what children must keep to"},
		{Name: "duplicates", Type: word(string(RejectExact), string(RejectNear), string(KeepDuplicates)), Default: `"exact"`,
			Doc: "which children of a seed are rejected and replaced"},
		{Name: "stats", Type: text.Must(), Doc: "statistics file that a learning policy begins with"},
		{Name: "verdicts", Type: text.Must(), Doc: "verdicts on children as lines of JSON, by testcase_id"},
		{Name: "oracle", Type: doctree.Object(oracle), Doc: "a program that judges children"},
		{Name: "system", Type: text.Must().OrElse(doctree.Named(doctree.Any())), Doc: "a system file, or what would stand in it: the children are its input"},
		{Name: "judges", Type: doctree.List(doctree.Object(judges)).Must(), Doc: "what every reply of the system must keep to"},
		{Name: "budget", Type: doctree.Object(budget), Doc: "what a run may spend on the system"},
		{Name: "verbatim", Type: truth, Default: "false", Doc: "the seeds are sent as they are: no operator takes part"},
		{Name: "attacker", Type: doctree.Object(attackerShape()), Doc: "a model that writes the children, each by the replies to those before it"},
	}, Doc: "seeds, operators and how children are made of them. Relative paths begin at the document's folder"}
})

// linkShape declares an operator of a chain.
var linkShape = sync.OnceValue(func() *doctree.Shape {
	return &doctree.Shape{Name: "chain", Doc: "an operator of a chain, with its own strength", Fields: []doctree.Field{
		{Name: "op", Need: true, Type: doctree.Text().Must(), Doc: "its op_id"},
		{Name: "strength", Type: doctree.Integer(1, 100), Doc: "in place of the child's"},
	}}
})

// judgeShape declares a judge of replies.
var judgeShape = sync.OnceValue(func() *doctree.Shape {
	text, texts, truth, count := doctree.Text().Must(), doctree.List(doctree.Text().Must()).Must(), doctree.Truth(), doctree.Integer(0, math.MaxInt32)
	price := doctree.Number(0, 1e9)
	return &doctree.Shape{Name: "judge", Doc: "what a reply must keep to; types and their keys are those of a flakestorm invariant", Fields: []doctree.Field{
		{Name: "type", Type: text, Doc: "`" + strings.Join(slices.Concat(judge.Demands(), wider), "`, `") + "`; not needed with assert or evaluate"},
		{Name: "id", Type: text, Doc: "its name in findings; its type if it is not given"},
		{Name: "value", Type: text, Doc: "of `contains` and `not_contains`"},
		{Name: "values", Type: texts, Doc: "of `contains_any`"},
		{Name: "pattern", Type: text, Doc: "of `regex`: a regular expression"},
		{Name: "patterns", Type: texts, Doc: "of `excludes_pattern`: texts, or regular expressions"},
		{Name: "case_sensitive", Type: truth, Default: "false", Doc: "of types with a value, values or patterns: upper and lower case differ"},
		{Name: "negate", Type: truth, Default: "false", Doc: "of types with a value, values, pattern or patterns, and of those that look at more than the text: it must not hold"},
		{Name: "event", Type: doctree.Any(), Doc: "of `trace`: which events are meant, such as `{\"tool\": \"charge\"}`"},
		{Name: "at_most", Type: count, Doc: "of `trace`: how often they may occur"},
		{Name: "at_least", Type: count, Doc: "of `trace`: how often they must occur"},
		{Name: "exactly", Type: count, Doc: "of `trace`: how often they occur"},
		{Name: "per", Type: text, Doc: "of `trace`: counts are for each value of this argument"},
		{Name: "before", Type: doctree.Any(), Doc: "of `trace`: they must come before this one"},
		{Name: "after", Type: doctree.Any(), Doc: "of `trace`: they must come after this one"},
		{Name: "never_after", Type: doctree.Any(), Doc: "of `trace`: they must not come after this one"},
		{Name: "within", Type: doctree.Any(), Doc: "of `trace`: a time such as 5s"},
		{Name: "tool", Type: text, Doc: "of `tool_called`, `tool_not_called` and `tool_arguments`: a name, or a pattern"},
		{Name: "arguments", Type: doctree.Any(), Doc: "of `tool_arguments` and `trace`: what the arguments of a call must be"},
		{Name: "schema", Type: doctree.Any(), Doc: "of `json_schema`: a JSON Schema"},
		{Name: "assert", Type: doctree.Any(), Doc: "a tree of assertions as in Spec-Test, over `reply`, `prompt` and `events`"},
		{Name: "evaluate", Type: doctree.Any(), Doc: "an expression of spec-lang that must give a true value"},
		{Name: "target", Type: text, Doc: "of `evaluate`: `reply` if it is not given"},
		{Name: "expected", Type: text, Doc: "of `similarity`: the text that replies are like"},
		{Name: "threshold", Type: doctree.Number(0, 1), Default: "0.8", Doc: "of `similarity`: how alike they must be"},
		{Name: "baseline", Type: text, Doc: "of `behavior_unchanged`: the text that replies are like, or, negated, must not be like"},
		{Name: "similarity_threshold", Type: doctree.Number(0, 1), Default: "0.75", Doc: "of `behavior_unchanged`: how alike they must be"},
		{Name: "max_ms", Type: price.MoreThan(0), Doc: "of `latency`: the longest time of a call, in milliseconds"},
		{Name: "max", Type: price.MoreThan(0), Doc: "of `tokens` and `cost`: the most of a call"},
		{Name: "input_price", Type: price, Doc: "of `cost`: per million tokens of prompts"},
		{Name: "output_price", Type: price, Doc: "of `cost`: per million tokens of replies"},
		{Name: "criteria", Type: text, Doc: "of `llm_judge`: what the model is asked"},
		{Name: "system", Type: text, Doc: "of `llm_judge`: the system file of the model"},
	}}
})

// Schema returns the JSON Schema of a campaign's document.
func Schema() []byte { return doctree.Schema("operators.v1", doctree.Object(format())) }

// Formats implements [campaign.Formatted].
func (*Contract) Formats() []campaign.Format {
	return []campaign.Format{{
		Name: "operator", Summary: "an operator campaign (JSON)", Schema: Schema,
		Keys: func() string { return doctree.Tables(doctree.Object(format())) },
	}}
}
