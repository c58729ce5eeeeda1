package fresnelfir

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
)

// riddle is a model in which every wrong step, far likelier than any other, takes
// all back.
type riddle struct {
	entities, refinements, functions, properties, domains string
	branches                                              string // beside "wrong"
	wrong                                                 string // what it sets
	effects                                               map[string]string
	threads                                               int
}

func (r riddle) text() string {
	r.effects["wrong"] = `{"sets": [` + r.wrong + `]}`
	var effects, actions []string
	for _, name := range slices.Sorted(maps.Keys(r.effects)) {
		effects = append(effects, fmt.Sprintf("%q: %s", name, r.effects[name]))
		actions = append(actions, fmt.Sprintf("%q: %s", name, binding(name, "", "void", `"mutates": true, "idempotent": false, "reads": [], "writes": []`)))
	}
	return document(map[string]string{
		"entities": `{"Person": {"fields": {"id": {"type": "string"}}}, ` + r.entities + `}`, "refinements": "{" + r.refinements + "}", "functions": "{" + r.functions + "}",
		"protocols": `{"p": {"root": {"type": "seq", "children": [{"type": "call", "action": "make"}, {"type": "repeat", "min": 0, "max": 60, "body": {"type": "alt", "branches": [` +
			`{"id": "wrong", "weight": 60, "body": {"type": "call", "action": "wrong"}}, ` + r.branches + `]}}]}}}`,
		"effects": "{" + strings.Join(effects, ", ") + "}", "bindings": "{" + strings.Join(actions, ", ") + "}", "properties": "{" + r.properties + "}",
		"inputs": `{"domains": {` + r.domains + `}, "constraints": [], "coverage": {"targets": [], "seed": 1, "reproducible": true}}`,
		"exploration": fmt.Sprintf(`{"weights": {"scope": "per_alt_branch_and_model_state", "initial": "from_protocol", "decay": "per_epoch"}, "actor": "Person",
  "directives_allowed": [{"type": "force"}], "adaptation_signals": [{"signal": "guard_failure"}], "strategy": {"initial": "pseudo_random_traversal", "fallback": "targeted_on_violation"},
  "epoch_size": 100, "coverage_floor_threshold": 0.05, "concurrency": {"mode": "deterministic_interleaving", "threads": %d}}`, max(r.threads, 1)),
	})
}

func sets(target, value string) string {
	entity, field, _ := strings.Cut(target, ".")
	return fmt.Sprintf(`{"target": [%q, %q], "value": %s}`, entity, field, value)
}

func makes(entity string, values ...string) string {
	return `{"creates": {"entity": "` + entity + `", "assign": "made"}, "sets": [` + strings.Join(values, ", ") + `]}`
}

func one(value string) string { return `{"sets": [` + value + `]}` }

func step(id, guard string) string {
	return fmt.Sprintf(`{"id": %q, "weight": 1, "guard": %s, "body": {"type": "call", "action": %q}}`, id, guard, id)
}

// plus is a field of what was made, and 1.
func plus(field string) string { return `["add", ["field", "made", "` + field + `"], 1]` }

// What walks hardly come to is searched for in the model: by how far numbers are
// apart, inside of refinements and functions, over several instances, with inputs
// that are worked out, by two actors, and breaches of properties though every
// branch was taken.
func TestRiddles(t *testing.T) {
	counter := `"Lock": {"fields": {"a": {"type": "int", "min": 0, "max": 90}, "b": {"type": "int", "min": 0, "max": 90}}}`
	zero := sets("made.a", "0") + ", " + sets("made.b", "0")
	counting := map[string]string{"make": makes("Lock", zero), "a": one(sets("made.a", plus("a"))), "b": one(sets("made.b", plus("b"))), "open": "{}"}
	ways := step("a", `["lt", ["field", "made", "a"], 90]`) + ", " + step("b", `["lt", ["field", "made", "b"], 90]`)
	var stations, names []string
	trip := map[string]string{"make": makes("Trip", sets("made.at", `"s0"`)), "wrong": ""}
	for i := range 14 {
		names = append(names, fmt.Sprintf(`"s%d"`, i))
		if i > 0 {
			name := fmt.Sprint("to", i)
			stations = append(stations, step(name, fmt.Sprintf(`["eq", ["field", "made", "at"], "s%d"]`, i-1)))
			trip[name] = one(sets("made.at", names[i]))
		}
	}
	for name, x := range map[string]struct {
		riddle
		branch, title string // what is to be taken, or to be found
	}{
		"numbers in a refinement": {riddle{entities: counter, refinements: `"Set": {"base": "Lock", "predicate": ["and", ["eq", ["field", "self", "a"], 9], ["eq", ["field", "self", "b"], 5]]}`,
			branches: ways + ", " + step("open", `["is", "made", "Set"]`), wrong: zero, effects: maps.Clone(counting)}, "open", ""},
		"numbers in a function": {riddle{entities: counter, functions: `"set": {"classification": "derived", "params": [{"name": "x", "type": "Lock"}], "returns": "bool",
    "body": ["not", ["or", ["lt", ["field", "x", "a"], 9], ["lt", ["field", "x", "b"], 5]]]}`,
			branches: ways + ", " + step("open", `["derived", "set", "made"]`), wrong: zero, effects: maps.Clone(counting)}, "open", ""},
		"numbers of any instance": {riddle{entities: counter, branches: ways + ", " + step("open", `["exists", "x", "Lock", ["gt", ["field", "x", "a"], 11]]`), wrong: zero, effects: maps.Clone(counting)}, "open", ""},
		"an invariant": {riddle{entities: counter, branches: ways, wrong: zero, effects: maps.Clone(counting),
			properties: `"low": {"type": "invariant", "predicate": ["forall", "x", "Lock", ["lt", ["field", "x", "b"], 12]]}`}, "", "low does not hold after b"},
		"a rule": {riddle{entities: counter, branches: ways + ", " + step("open", `["gt", ["field", "made", "a"], 0]`), wrong: zero, effects: maps.Clone(counting),
			properties: `"low": {"type": "temporal", "rule": ["before", "open", ["lt", ["field", "made", "a"], 12]]}`}, "", "low does not hold before open"},
		"fourteen stations": {riddle{entities: `"Trip": {"fields": {"at": {"type": "enum", "values": [` + strings.Join(names, ", ") + `]}}}`,
			branches: strings.Join(stations, ", "), wrong: sets("made.at", `"s0"`), effects: trip}, "to13", ""},
		"a number that fits": {riddle{entities: `"Lock": {"fields": {"a": {"type": "int", "min": 0, "max": 99999999}}}`, domains: `"n": {"type": "int", "min": 1, "max": 1000000}`,
			branches: step("a", `["lt", ["field", "made", "a"], 2600]`) + ", " + step("open", `["and", ["gt", ["field", "made", "a"], 2600], ["eq", ["field", "input", "n"], ["field", "made", "a"]]]`),
			wrong:    sets("made.a", "0"), effects: map[string]string{"make": makes("Lock", sets("made.a", "0")), "a": one(sets("made.a", `["add", ["field", "made", "a"], 903]`)), "open": "{}"}}, "open", ""},
		"two actors": {riddle{threads: 2, entities: `"Lock": {"fields": {"a": {"type": "int", "min": 0, "max": 90}, "by": {"type": "ref", "entity": "Person"}}}`,
			branches: step("a", `["exists", "x", "Lock", ["neq", ["field", "x", "by"], ["field", "actor", "id"]]]`) + ", " + step("open", `["exists", "x", "Lock", ["gt", ["field", "x", "a"], 8]]`),
			wrong:    sets("Lock.a", "0"), effects: map[string]string{"make": makes("Lock", sets("made.a", "0"), sets("made.by", `["field", "actor", "id"]`)), "open": "{}",
				"a": one(sets("Lock.a", `["add", ["field", "Lock", "a"], 1]`) + ", " + sets("Lock.by", `["field", "actor", "id"]`))}}, "open", ""},
	} {
		t.Run(name, func(t *testing.T) {
			look := func(edits ...string) (bool, *state) {
				c := compileText(t, strings.NewReplacer(edits...).Replace(x.text()))
				c.budget = 3000
				s, failing := explore(t, c, "")
				_, found := failing[x.title]
				if x.title == "" && len(failing) > 0 {
					t.Errorf("failed: %v", failing)
				}
				return found || takenBy(c, s)[x.branch] > 0, s
			}
			found, s := look()
			if !found {
				t.Errorf("not found in %d moves", s.moves+s.idled)
			}
			if found, s := look(`{"signal": "guard_failure"}`, ""); found {
				t.Errorf("found without a search, in %d actions", s.actions)
			}
		})
	}
}

// A distance is 0 where the condition holds, and nowhere else.
func TestDistances(t *testing.T) {
	seen := map[bool]int{}
	for _, name := range []string{"article", "bank", "cache", "queue"} {
		c := compileText(t, readExample(t, name+".json"))
		type condition struct {
			code model.Code
			far  model.Distance
			want bool
		}
		var list []condition
		for at := range c.plan.nodes {
			for i, b := range c.plan.nodes[at].branches {
				if !b.open && !c.plan.asksInputs(b.guard.Expr) {
					list = append(list, condition{b.guard.Code, c.plan.aims()[at][i].far, true}, condition{b.guard.Code, c.plan.program.Distance(b.guard.Expr, false), false})
				}
			}
		}
		for i, x := range c.plan.doc.Properties {
			if x.Predicate != nil {
				list = append(list, condition{c.plan.program.Condition(x.Predicate).Code, c.plan.breaking[i], false})
			}
		}
		x := open(t, c)
		for i := range int64(40) {
			if err := c.prepare(x.t, nil, campaign.Case{Index: i}); err != nil {
				t.Fatal(err)
			}
			for x.t.start(); x.t.failed == nil && x.t.canStep(); x.t.walk(x.t.src.Len() + 1) {
				for _, k := range list {
					v, ok := x.t.m.Modelled(k.code)
					if far := k.far(x.t.m); ok && (far == 0) != (v == model.True == k.want) {
						t.Fatalf("%s: %v from being %v, and it is %v", name, far, k.want, v)
					}
					seen[v == model.True == k.want]++
				}
			}
		}
	}
	if seen[true] < 1000 || seen[false] < 1000 {
		t.Errorf("too little was looked at: %v", seen)
	}
}
