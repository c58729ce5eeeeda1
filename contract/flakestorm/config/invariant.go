package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/judge"
	"github.com/thresh-dev/thresh/engine/match"
)

// InvariantTypes are the types of checks: first the format's, then Thresh's own.
var InvariantTypes = []string{
	"contains", "latency", "valid_json", "regex", "similarity", "excludes_pii", "refusal_check", "contains_any",
	"output_not_empty", "completes", "excludes_pattern", "behavior_unchanged", "not_contains", "refusal",
	"tool_called", "tool_not_called", "tool_arguments", "json_schema", "tokens", "cost", "llm_judge", "trace",
}

// Severities and Conditions are the values of severity and when in contract invariants.
var (
	Severities = []string{"critical", "high", "medium", "low"}
	Conditions = []string{"always", "tool_faults_active", "llm_faults_active", "any_chaos_active", "no_chaos"}
)

// Invariant is one check, of an ordinary run or of a contract.
type Invariant struct {
	At          doctree.Pos
	Node        *doctree.Node // as written
	Path        string
	ID          string
	Type        string
	Description string
	Severity    string
	When        string
	Negate      bool
	Value       string
	Values      []string
	Patterns    []string
	Excluded    []*match.Pattern // for each of Patterns, by index; nil: only looked for literally
	Pattern     string
	Regex       *match.Pattern
	MaxMS       float64
	Expected    string
	Threshold   float64 // of similarity
	Baseline    string  // "auto", or a text
	Alike       float64 // similarity_threshold
	Probes      []string
	Tool        string // a name or a glob
	Arguments   jsontree.Node
	Schema      string // as JSON
	SchemaFile  string
	Percentile  float64 // 0: each call is checked by itself
	Max         float64 // of tokens or cost
	InputPrice  float64 // per million tokens
	OutputPrice float64
	Criteria    string
	Trace       *judge.Rule    // for type trace
	Exact       bool           // case_sensitive: true
	Turn        int            // the turn of a conversation, from 1, whose reply is checked; 0: the last
	Prompted    bool           // belongs to a golden prompt and is checked wherever that is asked
	Filter      *match.Pattern // prompt_filter: only replies to matching prompts are checked; nil: all
	MinRate     float64        // min_pass_rate: for the runs of a cell; 0: all must hold
	MaxRuns     int            // the largest number of runs of a cell with a rate
}

// The format's checks use Python's re.search with DOTALL.
var patternOptions = match.Options{DotAll: true}

func (d *decoder) invariant(n *doctree.Node, path string, contract bool) Invariant {
	s := d.section(n, path, format().invariant)
	v := Invariant{At: n.Pos, Node: n, Path: path, Severity: "medium", When: "always"}
	if contract {
		v.ID = s.id(s.required("id"))
	} else {
		v.ID = s.id(s.text("id"))
	}
	v.Type = s.required("type")
	if v.Type != "" && !slices.Contains(InvariantTypes, v.Type) {
		d.unknown(s.n.Get("type"), "unknown-word", s.at("type"), v.Type, InvariantTypes)
	}
	v.Description = s.text("description")
	v.Severity = d.rated(s, "severity", v.Severity, Severities, contract)
	v.When = d.rated(s, "when", v.When, Conditions, contract || strings.Contains(path, "].expect[")) // a prompt's expectations are rows of the matrix
	v.Negate = s.flag("negate", false)
	v.Value, v.Pattern, v.Expected, v.Baseline = s.text("value"), s.text("pattern"), s.text("expected"), s.text("baseline")
	v.Values, v.Patterns = s.texts("values"), s.texts("patterns")
	v.MaxMS = s.number("max_ms", 0)
	v.Threshold = orElse(s.number("threshold", 0.8), 0.8)
	v.Alike = orElse(s.number("similarity_threshold", 0.75), 0.75)
	v.Exact = s.flag("case_sensitive", false)
	if text := s.text("prompt_filter"); text != "" {
		v.Filter = d.pattern(s.n.Get("prompt_filter"), s.at("prompt_filter"), text, match.Options{DotAll: true, IgnoreCase: true})
	}
	if s.get("dangerous_prompts") != nil && !s.flag("dangerous_prompts", true) {
		d.warn(s.n.Get("dangerous_prompts").Pos, "no-effect", s.at("dangerous_prompts"), "", "has no effect: replies are checked whatever the prompt is")
	}
	if n := s.get("probes"); n != nil && !contract {
		d.warn(n.Pos, "no-effect", s.at("probes"), "put the invariant under contract.invariants", "only contract invariants have probes")
	} else if n != nil {
		v.Probes = s.texts("probes")
		if n.Kind == doctree.Seq && len(n.Items()) == 0 {
			d.warn(n.Pos, "empty", s.at("probes"), "", "no probe is given; the golden prompts are asked")
		}
	}
	v.MinRate, v.MaxRuns = d.rate(s), s.count("max_runs", 0)
	d.measured(s, &v)
	if s.n != nil {
		d.checkRequired(s, &v)
	}
	return v
}

// rated reads a word for which existing tools accept any text.
func (d *decoder) rated(s *section, key, def string, words []string, contract bool) string {
	n := s.opt(key)
	v, ok := d.str(n, s.at(key))
	if !ok {
		return def
	}
	if !contract && key == "when" {
		if v != def {
			d.warn(n.Pos, "no-effect", s.at(key), "put the invariant under contract.invariants", "only contract invariants and expectations of prompts have conditions")
		}
		return def
	}
	if !slices.Contains(words, v) {
		what := "it counts as always"
		if key == "severity" && contract {
			what = "it has weight 1"
		} else if key == "severity" {
			what = "it counts as " + def
		}
		d.doubt(n.Pos, "unknown-word", s.at(key), diag.DidYouMean(v, words), "must be one of %s, got %q; %s", strings.Join(words, ", "), v, what)
		if key == "when" || !contract {
			return def
		}
	}
	return v
}

func orElse(v, def float64) float64 {
	if v == 0 {
		return def
	}
	return v
}

// measured reads the keys of Thresh's own types.
func (d *decoder) measured(s *section, v *Invariant) {
	v.Tool = s.text("tool")
	d.noteTool(s, v.Tool)
	if n := s.opt("arguments"); n != nil {
		if n.Kind != doctree.Map {
			d.fail(n.Pos, "type", s.at("arguments"), "must be a mapping, got %s", describeValue(n))
		}
		v.Arguments = n.JSON()
		d.wanted(n, s.at("arguments"))
	}
	if n := s.opt("schema"); n != nil {
		switch n.Kind {
		case doctree.Map:
			tree := n.JSON()
			v.Schema = jsontree.Compact.Format(&tree)
		case doctree.String:
			v.SchemaFile = n.Text
		default:
			d.fail(n.Pos, "type", s.at("schema"), "must be a schema or the name of a file, got %s", describeValue(n))
		}
	}
	v.Percentile = s.number("percentile", 0)
	v.Max = s.number("max", 0)
	v.InputPrice = s.number("input_price", 0)
	v.OutputPrice = s.number("output_price", 0)
	v.Criteria = s.text("criteria")
	v.Trace = d.trace(s, v)
}

// checkRequired checks that the keys that a type needs are given.
func (d *decoder) checkRequired(s *section, v *Invariant) {
	need := func(given bool, key string) {
		if n := s.n.Get(key); !given && (n != nil || !s.field(key).Need) { // else it is reported already
			at := s.pos()
			if n != nil {
				at = n.Pos
				_, number := looseNumber(n)
				if n.Kind != doctree.Null && n.Kind != doctree.Seq && !(n.Kind == doctree.String && n.Text == "") && !(number && (key == "max_ms" || key == "max")) {
					return // this mistake was already reported
				}
			}
			d.fail(at, "missing-key", s.at(key), "must be given and not empty for type %s", v.Type)
		}
	}
	switch v.Type {
	case "contains", "not_contains":
		need(v.Value != "", "value")
	case "contains_any":
		need(len(v.Values) > 0, "values")
	case "excludes_pattern":
		need(len(v.Patterns) > 0, "patterns")
		d.excluded(s, v)
	case "latency":
		need(v.MaxMS > 0, "max_ms")
	case "similarity":
		need(v.Expected != "", "expected")
	case "regex":
		need(v.Pattern != "", "pattern")
		d.compile(s, v)
	case "tool_called", "tool_not_called":
		need(v.Tool != "", "tool")
	case "tool_arguments":
		need(v.Tool != "", "tool")
		need(v.Arguments.Kind == jsontree.Object, "arguments")
	case "json_schema":
		need(v.Schema != "" || v.SchemaFile != "", "schema")
	case "tokens", "cost":
		need(v.Max > 0, "max")
		if v.Type == "cost" {
			need(v.InputPrice+v.OutputPrice > 0, "input_price")
		}
	case "trace":
		n := s.opt("event")
		need(n != nil && (n.Kind != doctree.String || n.Text != ""), "event")
	case "llm_judge":
		need(v.Criteria != "", "criteria")
	}
	d.constant(s, v)
	if v.Negate && slices.Contains(notNegated, v.Type) {
		d.warn(s.n.Get("negate").Pos, "no-effect", s.at("negate"), "", "type %s cannot be negated", v.Type)
		v.Negate = false
	}
}

// notNegated lists the types that existing tools do not negate either.
var notNegated = []string{"latency", "valid_json", "output_not_empty", "completes", "excludes_pii", "refusal_check", "similarity"}

// constant warns of checks whose verdict does not depend on the reply.
func (d *decoder) constant(s *section, v *Invariant) {
	key, why := "", ""
	switch {
	case v.Type == "regex" && v.Regex != nil && v.Regex.Vacuous():
		key, why = "pattern", "matches any reply, also an empty one"
	case v.Type == "contains_any" && slices.Contains(v.Values, ""):
		key, why = "values", "any reply contains the empty text"
	case v.Type == "excludes_pattern" && slices.Contains(v.Patterns, ""):
		key, why = "patterns", "any reply contains the empty text"
	case v.Type == "trace" && v.Trace != nil && v.Trace.Idle():
		key, why = "at_least", "any number of events is at least 0"
	}
	if n := s.n.Get(key); key != "" && n != nil {
		d.warn(n.Pos, "vacuous", s.at(key), "", "%s: no reply changes the verdict", why)
	}
}

func (d *decoder) compile(s *section, v *Invariant) {
	if v.Pattern == "" {
		return
	}
	o := patternOptions
	if s.n.Get("case_sensitive") != nil {
		o.IgnoreCase = !v.Exact
	}
	v.Regex = d.pattern(s.n.Get("pattern"), s.at("pattern"), v.Pattern, o)
}

func (d *decoder) pattern(n *doctree.Node, path, text string, o match.Options) *match.Pattern {
	p, err := match.Compile(text, o)
	if err != nil {
		d.fail(n.Pos, "pattern", path, "not a regular expression: %v", err)
		return nil
	}
	return p
}

// excluded compiles the patterns of excludes_pattern. Each one is looked for literally and, if it
// is a regular expression, also as such: the format's guide calls them regular expressions, but
// existing tools never treated them so.
func (d *decoder) excluded(s *section, v *Invariant) {
	v.Excluded = make([]*match.Pattern, len(v.Patterns))
	n := s.n.Get("patterns")
	for i, text := range v.Patterns {
		if !strings.ContainsAny(text, `\.+*?()[]{}|^$`) || i >= len(n.Items()) {
			continue
		}
		o := patternOptions
		o.IgnoreCase = s.n.Get("case_sensitive") != nil && !v.Exact
		why := ""
		p, err := match.Compile(text, o)
		switch {
		case err != nil:
			why = "it is not a regular expression: " + err.Error()
		case p.Vacuous():
			why = "as a regular expression it would match any text"
		case !strings.ContainsAny(text, `\-^|`) && anyLetter(p):
			why = "as a regular expression a single letter would match it"
		default:
			v.Excluded[i] = p
			continue
		}
		d.warn(n.Items()[i].Pos, "literal-pattern", fmt.Sprintf("%s[%d]", s.at("patterns"), i), "", "%q is searched for literally: %s", text, why)
	}
}

// anyLetter reports whether a pattern matches a single letter or digit, as "[INST]" and "C++" do.
// Such patterns are words with brackets and signs, not expressions.
func anyLetter(p *match.Pattern) bool {
	for r := '0'; r <= 'z'; r++ {
		if hit, err := p.Search(string(r)); hit || err != nil {
			return true
		}
	}
	return false
}

// wanted checks the patterns that a tool's arguments must match.
func (d *decoder) wanted(n *doctree.Node, path string) {
	for i := range n.Members() {
		m := &n.Members()[i]
		at := path + "." + m.Key.Text
		p := m.Value.Get("matches")
		if p == nil || p.Kind != doctree.String || len(m.Value.Members()) != 1 {
			d.wanted(&m.Value, at)
			continue
		}
		if _, err := match.Compile(p.Text, patternOptions); err != nil {
			d.fail(p.Pos, "pattern", at+".matches", "not a regular expression: %v", err)
		}
	}
}

func (d *decoder) contract(n *doctree.Node, path string) *Contract {
	s := d.section(n, path, format().contract)
	c := &Contract{At: n.Pos, Path: path}
	c.Name = s.required("name")
	c.Description = s.text("description")
	seen := make(map[string]int)
	s.items("invariants", false, func(n *doctree.Node, path string) {
		v := d.invariant(n, path, true)
		if line, twice := seen[v.ID]; twice && v.ID != "" {
			d.warn(n.Pos, "duplicate-id", path+".id", "", "the id %q is given twice, first on line %d; both are checked", v.ID, line)
		} else {
			seen[v.ID] = n.Pos.Line
		}
		c.Invariants = append(c.Invariants, v)
	})
	names := make(map[string]int)
	s.items("chaos_matrix", false, func(n *doctree.Node, path string) {
		x := d.scenario(n, path)
		if line, twice := names[x.Name]; twice && x.Name != "" {
			d.warn(n.Pos, "duplicate-id", path+".name", "", "the scenario %q is given twice, first on line %d; both are run", x.Name, line)
		} else {
			names[x.Name] = n.Pos.Line
		}
		c.Matrix = append(c.Matrix, x)
	})
	c.Runs = s.count("runs_per_cell", 1)
	c.MinRate, c.MaxRuns = d.rate(s), s.count("max_runs", DefaultMaxRuns)
	return c
}

// Limit returns the latency limit of an invariant.
func (v *Invariant) Limit() time.Duration {
	return time.Duration(v.MaxMS * float64(time.Millisecond))
}

// Mentions returns the calls and faults that the invariant names.
func (v *Invariant) Mentions() []judge.Mention {
	switch {
	case v.Trace != nil:
		return v.Trace.Mentions(v.Negate)
	case v.Tool != "" && v.Tool != "*":
		return []judge.Mention{{Kind: judge.Tool, Name: v.Tool}}
	}
	return nil
}
