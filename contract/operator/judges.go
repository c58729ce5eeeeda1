package operator

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/judge"
	"github.com/thresh-dev/thresh/engine/match"
	"github.com/thresh-dev/thresh/port/sut"
)

// judgeKeys are the required and optional keys of each type of judge, besides type and id; types
// not listed have no further keys.
var judgeKeys = map[string]struct {
	needs string
	may   []string
}{
	"contains":           {"value", []string{"case_sensitive", "negate"}},
	"not_contains":       {"value", []string{"case_sensitive", "negate"}},
	"contains_any":       {"values", []string{"case_sensitive", "negate"}},
	"regex":              {"pattern", []string{"negate"}},
	"excludes_pattern":   {"patterns", []string{"case_sensitive", "negate"}},
	"trace":              {"event", []string{"at_most", "at_least", "exactly", "per", "before", "after", "never_after", "within", "arguments", "negate"}},
	"tool_called":        {"tool", []string{"negate"}},
	"tool_not_called":    {"tool", []string{"negate"}},
	"tool_arguments":     {"tool", []string{"arguments", "negate"}},
	"json_schema":        {"schema", []string{"negate"}},
	"llm_judge":          {"criteria", []string{"system", "negate"}},
	"similarity":         {"expected", []string{"threshold"}},
	"behavior_unchanged": {"baseline", []string{"similarity_threshold", "negate"}},
	"latency":            {"max_ms", nil},
	"tokens":             {"max", []string{"negate"}},
	"cost":               {"max", []string{"input_price", "output_price", "negate"}},
	"assert":             {"assert", nil},
	"evaluate":           {"evaluate", []string{"target"}},
}

// wider are the types that need more than the text of a reply; see [Check].
var wider = []string{
	"llm_judge", "trace", "tool_called", "tool_not_called", "tool_arguments", "json_schema", "similarity", "behavior_unchanged", "latency", "tokens",
	"cost", "completes", "assert", "evaluate",
}

// measured are the types that apply to every call, not to the conversation.
var measured = []string{"latency", "tokens", "cost"}

// Check is a judge that needs more than the text of a reply.
type Check interface {
	// Judge judges a record. model is the model to ask for judges of type llm_judge.
	Judge(ctx context.Context, model sut.System, r *judge.Record) (judge.Verdict, string)
	// Mentions returns the calls that the judge names.
	Mentions() []judge.Mention
}

// Checks reads a judge of a document.
type Checks func(file string, text []byte, doc *doctree.Document, n *doctree.Node, path string) (Check, diag.List)

// target reads the system that receives the children, and the judges of its replies.
func (d *decoder) target(s *doctree.Section) {
	if n := s.Node("system"); n != nil && n.Kind == doctree.Map {
		tree := n.JSON()
		d.spec.Inline = []byte(jsontree.Compact.Format(&tree))
	} else {
		d.spec.System = s.Text("system")
	}
	ids := map[string]bool{}
	s.Each("judges", func(n *doctree.Node, path string) {
		if n.Kind != doctree.Map {
			return // already reported
		}
		x := d.Section(n, path, judgeShape())
		j := Judge{ID: x.Text("id"), Demand: judge.Demand{
			Type: x.Text("type"), Value: x.Text("value"), Values: x.Texts("values"), Patterns: x.Texts("patterns"), Pattern: x.Text("pattern"),
			Exact: x.True("case_sensitive"), Negate: x.True("negate"),
		}}
		for _, key := range []string{"assert", "evaluate"} { // the key names the type, as in other files of judges
			if j.Type == "" && x.Given(key) {
				j.Type = key
			}
		}
		if j.Type == "" {
			if !x.Given("type") {
				x.Missing("type", "")
			}
			return
		}
		switch known := judge.Demands(); {
		case slices.Contains(wider, j.Type):
			j.node, j.path, j.Model = n, path, x.Text("system")
			if j.Type == "llm_judge" && !x.Given("system") {
				x.Missing("system", "the system file of the model that judges")
			}
			if j.Type == "behavior_unchanged" && x.Text("baseline") == "auto" {
				d.Fail(x.PosOf("baseline"), "unknown-word", x.At("baseline"), "must be the text that replies resemble: a campaign has no run without faults to take it from")
			}
		case !slices.Contains(known, j.Type):
			known = append(known, wider...)
			hint := diag.DidYouMean(j.Type, known)
			d.Report(diag.Error, x.PosOf("type"), "unknown-word", x.At("type"), hint, "must be one of %s, got %q", strings.Join(known, ", "), j.Type)
			return
		}
		j.ID = cmp.Or(j.ID, j.Type)
		if ids[j.ID] {
			d.Fail(n.Pos, "duplicate-id", path, "another judge has the id %q: ids must be unique", j.ID)
		}
		ids[j.ID] = true
		d.judge(x, &j)
		d.spec.Judges = append(d.spec.Judges, j)
	})
}

// judge checks the keys of a judge against its type, and compiles its patterns.
func (d *decoder) judge(x *doctree.Section, j *Judge) {
	keys := judgeKeys[j.Type]
	if keys.needs != "" && !x.Given(keys.needs) {
		x.Missing(keys.needs, "")
	}
	for _, key := range judgeShape().Keys("") {
		if key == "type" || key == "id" {
			continue
		}
		if n := x.Node(key); n != nil && key != keys.needs && !slices.Contains(keys.may, key) {
			d.Fail(n.Pos, "unknown-key", x.At(key), "is not a key of type %s; it belongs to %s", j.Type, doctree.Either(types(key)))
		}
	}
	if n := x.Node("pattern"); n != nil && j.Pattern != "" {
		var err error
		if j.Regex, err = match.Compile(j.Pattern, match.Options{DotAll: true}); err != nil {
			d.Fail(n.Pos, "pattern", x.At("pattern"), "is not a regular expression: %v", err)
		} else if j.Regex.Vacuous() {
			d.Fail(n.Pos, "pattern", x.At("pattern"), "matches any text, so the judge always says the same")
		}
	}
	j.Excluded = make([]*match.Pattern, len(j.Patterns))
	list := x.Node("patterns")
	for i, text := range j.Patterns {
		if !strings.ContainsAny(text, `\.+*?()[]{}|^$`) || list == nil || i >= len(list.Items()) {
			continue
		}
		p, err := match.Compile(text, match.Options{DotAll: true, IgnoreCase: !j.Exact})
		at, place := list.Items()[i].Pos, doctree.ItemPath(x.At("patterns"), i)
		if err != nil {
			d.Warn(at, "pattern", place, "", "%q is searched for literally: it is not a regular expression: %v", text, err)
			continue
		}
		if p.Vacuous() {
			d.Warn(at, "pattern", place, "", "%q is searched for literally: as a regular expression it would match any text", text)
			continue
		}
		j.Excluded[i] = p
	}
}

// types are the types of judges that accept a key.
func types(key string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(judgeKeys)), func(t string) bool {
		return judgeKeys[t].needs != key && !slices.Contains(judgeKeys[t].may, key)
	})
}
