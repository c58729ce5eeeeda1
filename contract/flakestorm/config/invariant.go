package config

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/match"
	"github.com/thresh-dev/thresh/engine/yamltree"
)

// InvariantTypes are the types of checks: those of the format, then Thresh's
// own.
var InvariantTypes = []string{
	"contains", "latency", "valid_json", "regex", "similarity", "excludes_pii", "refusal_check", "contains_any",
	"output_not_empty", "completes", "excludes_pattern", "behavior_unchanged",
	"tool_called", "tool_not_called", "tool_arguments", "json_schema", "tokens", "cost", "llm_judge",
}

// Severities and conditions of contract invariants.
var (
	Severities = []string{"critical", "high", "medium", "low"}
	Conditions = []string{"always", "tool_faults_active", "llm_faults_active", "any_chaos_active", "no_chaos"}
)

// Invariant is one check, of a plain run or of a contract.
type Invariant struct {
	At          yamltree.Pos
	Node        *yamltree.Node // as it is written
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
	Pattern     string
	Regex       *match.Pattern
	MaxMS       float64
	Expected    string
	Threshold   float64 // similarity
	Baseline    string  // "auto", or a text
	Alike       float64 // similarity_threshold
	Probes      []string
	Tool        string // name or glob
	Arguments   jsontree.Node
	Schema      string // JSON
	SchemaFile  string
	Percentile  float64 // 0: every single call
	Max         float64 // tokens, or cost
	InputPrice  float64 // per million tokens
	OutputPrice float64
	Criteria    string
}

// Python's re.search with DOTALL, as the format's checks are made.
var patternOptions = match.Options{DotAll: true}

func (d *decoder) invariant(n *yamltree.Node, path string, contract bool) Invariant {
	s := d.section(n, path)
	v := Invariant{At: n.Pos, Node: n, Path: path, Severity: "medium", When: "always"}
	if contract {
		v.ID = s.required("id")
	} else {
		v.ID = s.text("id")
	}
	v.Type = s.required("type")
	if v.Type != "" && !slices.Contains(InvariantTypes, v.Type) {
		// Words that documents were told of, and that never were types.
		if hint := map[string]string{"not_contains": "write contains with negate: true", "refusal": "write refusal_check"}[v.Type]; hint != "" {
			d.report(diag.Error, s.n.Get("type").Pos, "unknown-invariant", s.at("type"), hint, "must be one of %s, got %q", strings.Join(InvariantTypes, ", "), v.Type)
		} else {
			d.unknown(s.n.Get("type"), "unknown-invariant", s.at("type"), v.Type, InvariantTypes)
		}
	}
	v.Description = s.text("description")
	v.Severity = d.rated(s, "severity", v.Severity, Severities, contract)
	v.When = d.rated(s, "when", v.When, Conditions, contract)
	v.Negate = s.flag("negate", false)
	v.Value, v.Pattern, v.Expected, v.Baseline = s.text("value"), s.text("pattern"), s.text("expected"), s.text("baseline")
	v.Values, v.Patterns = s.texts("values"), s.texts("patterns")
	v.MaxMS = s.number("max_ms", 0, 0, math.MaxInt32)
	v.Threshold = orElse(s.number("threshold", 0.8, 0, 1), 0.8)
	v.Alike = orElse(s.number("similarity_threshold", 0.75, 0, 1), 0.75)
	if s.get("dangerous_prompts") != nil && !s.flag("dangerous_prompts", true) {
		d.warn(s.n.Get("dangerous_prompts").Pos, "no-effect", s.at("dangerous_prompts"), "", "has no effect: replies are checked whatever the prompt is")
	}
	if n := s.get("probes"); n != nil && !contract {
		d.warn(n.Pos, "no-effect", s.at("probes"), "put the invariant under contract.invariants", "probes are asked for contract invariants alone")
	} else if n != nil {
		v.Probes = s.texts("probes")
		if n.Kind == yamltree.Seq && len(n.Items) == 0 {
			d.warn(n.Pos, "empty", s.at("probes"), "", "no probe is given; the golden prompts are asked")
		}
	}
	d.measured(s, &v)
	s.end()
	if s.n != nil {
		d.needs(s, &v)
	}
	return v
}

// rated is a word that existing tools take as any text.
func (d *decoder) rated(s *section, key, def string, words []string, contract bool) string {
	v := s.text(key)
	n := s.n.Get(key)
	if v == "" {
		return def
	}
	if !contract {
		switch {
		case !slices.Contains(words, v):
			return def // free text, as in existing tools
		case key == "when" && v != def:
			d.warn(n.Pos, "no-effect", s.at(key), "put the invariant under contract.invariants", "conditions are looked at in contract invariants alone")
			return def
		}
		return v
	}
	if !slices.Contains(words, v) {
		what := "it counts as always"
		if key == "severity" {
			what = "it has weight 1"
		}
		d.doubt(n.Pos, "unknown-word", s.at(key), diag.DidYouMean(v, words), "must be one of %s, got %q; %s", strings.Join(words, ", "), v, what)
		if key == "when" {
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
	if n := s.opt("arguments"); n != nil {
		if n.Kind != yamltree.Map {
			d.fail(n.Pos, "type", s.at("arguments"), "must be a mapping, got %s", shown(n))
		}
		v.Arguments = n.JSON()
		d.wanted(n, s.at("arguments"))
	}
	if n := s.opt("schema"); n != nil {
		switch n.Kind {
		case yamltree.Map:
			tree := n.JSON()
			v.Schema = jsontree.Compact.Format(&tree)
		case yamltree.String:
			v.SchemaFile = n.Text
		default:
			d.fail(n.Pos, "type", s.at("schema"), "must be a schema or the name of a file, got %s", shown(n))
		}
	}
	v.Percentile = s.number("percentile", 0, 0, 100)
	v.Max = s.number("max", 0, 0, math.MaxFloat64)
	v.InputPrice = s.number("input_price", 0, 0, math.MaxFloat64)
	v.OutputPrice = s.number("output_price", 0, 0, math.MaxFloat64)
	v.Criteria = s.text("criteria")
}

// needs checks what a type cannot do without.
func (d *decoder) needs(s *section, v *Invariant) {
	need := func(given bool, key string) {
		if n := s.n.Get(key); !given {
			at := s.pos()
			if n != nil {
				at = n.Pos
				if n.Kind != yamltree.Null && n.Kind != yamltree.Seq && !(n.Kind == yamltree.String && n.Text == "") && key != "max_ms" && key != "max" {
					return // its own fault was told
				}
			}
			d.fail(at, "missing-key", s.at(key), "must be given and not empty for type %s", v.Type)
		}
	}
	switch v.Type {
	case "contains":
		need(v.Value != "", "value")
	case "contains_any":
		need(len(v.Values) > 0, "values")
	case "excludes_pattern":
		need(len(v.Patterns) > 0, "patterns")
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
	case "llm_judge":
		need(v.Criteria != "", "criteria")
	}
	if v.Negate && slices.Contains(notNegated, v.Type) {
		d.warn(s.n.Get("negate").Pos, "no-effect", s.at("negate"), "", "type %s is not negated", v.Type)
		v.Negate = false
	}
}

// notNegated are the types that existing tools do not negate either.
var notNegated = []string{"latency", "valid_json", "output_not_empty", "completes", "excludes_pii", "refusal_check", "similarity"}

func (d *decoder) compile(s *section, v *Invariant) {
	if v.Pattern == "" {
		return
	}
	p, err := match.Compile(v.Pattern, patternOptions)
	if err != nil {
		d.fail(s.n.Get("pattern").Pos, "pattern", s.at("pattern"), "not a regular expression: %v", err)
		return
	}
	v.Regex = p
}

// wanted checks the patterns that arguments of a tool are to match.
func (d *decoder) wanted(n *yamltree.Node, path string) {
	for i := range n.Members {
		m := &n.Members[i]
		at := path + "." + m.Key.Text
		p := m.Value.Get("matches")
		if p == nil || p.Kind != yamltree.String || len(m.Value.Members) != 1 {
			d.wanted(&m.Value, at)
			continue
		}
		if _, err := match.Compile(p.Text, patternOptions); err != nil {
			d.fail(p.Pos, "pattern", at+".matches", "not a regular expression: %v", err)
		}
	}
}

func (d *decoder) contract(n *yamltree.Node, path string) *Contract {
	s := d.section(n, path)
	c := &Contract{At: n.Pos, Path: path}
	c.Name = s.required("name")
	c.Description = s.text("description")
	seen := make(map[string]int)
	s.items("invariants", false, func(n *yamltree.Node, path string) {
		v := d.invariant(n, path, true)
		if line, twice := seen[v.ID]; twice && v.ID != "" {
			d.warn(n.Pos, "duplicate-id", path+".id", "", "the id %q is given twice, first on line %d; both are checked", v.ID, line)
		} else {
			seen[v.ID] = n.Pos.Line
		}
		c.Invariants = append(c.Invariants, v)
	})
	names := make(map[string]int)
	s.items("chaos_matrix", false, func(n *yamltree.Node, path string) {
		x := d.scenario(n, path)
		if line, twice := names[x.Name]; twice && x.Name != "" {
			d.warn(n.Pos, "duplicate-id", path+".name", "", "the scenario %q is given twice, first on line %d; both are run", x.Name, line)
		} else {
			names[x.Name] = n.Pos.Line
		}
		c.Matrix = append(c.Matrix, x)
	})
	c.Runs = s.count("runs_per_cell", 1, 1, 1000)
	s.end()
	return c
}

// latency limit of an invariant.
func (v *Invariant) Limit() time.Duration {
	return time.Duration(v.MaxMS * float64(time.Millisecond))
}
