package fresnelfir

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/walk"
)

// vault is a door that opens after eight right steps in a row, each with the
// right code, of which a wrong step, far likelier, takes all back; and with
// branches that nothing opens.
func vault(edits ...string) string {
	text := `{"entities": {"Door": {"fields": {"stage": {"type": "int", "min": 0, "max": 1000}, "open": {"type": "bool", "default": false},
   "color": {"type": "enum", "values": ["red", "green", "blue"]}}}},
 "refinements": {}, "functions": {}, "generators": {},
 "protocols": {"use": {"root": {"type": "seq", "children": [{"type": "call", "action": "make"}, {"type": "repeat", "min": 0, "max": 60, "body": {"type": "alt", "branches": [
   {"id": "right", "weight": 1, "guard": ["and", ["lt", ["field", "door", "stage"], 8], ["eq", ["field", "input", "code"], 31], ["eq", ["field", "input", "hand"], "left"]], "body": {"type": "call", "action": "press"}},
   {"id": "wrong", "weight": 200, "body": {"type": "call", "action": "fumble"}},
   {"id": "enter", "weight": 1, "guard": ["eq", ["field", "door", "stage"], 8], "body": {"type": "call", "action": "enter"}},
   {"id": "beyond", "weight": 1, "guard": ["eq", ["field", "door", "stage"], 9], "body": {"type": "call", "action": "leave"}},
   {"id": "painted", "weight": 1, "guard": ["or", ["eq", ["field", "door", "color"], "blue"], ["eq", ["field", "door", "color"], "green"]], "body": {"type": "call", "action": "leave"}},
   {"id": "torn", "weight": 1, "guard": ["and", ["eq", ["field", "input", "hand"], "left"], ["eq", ["field", "input", "mood"], "bad"]], "body": {"type": "call", "action": "leave"}}]}}]}}},
 "effects": {"make": {"creates": {"entity": "Door", "assign": "door"}, "sets": [{"target": ["door", "stage"], "value": 0}, {"target": ["door", "color"], "value": "red"}]},
   "press": {"sets": [{"target": ["door", "stage"], "value": ["add", ["field", "door", "stage"], 1]}]},
   "fumble": {"sets": [{"target": ["door", "stage"], "value": 0}]},
   "enter": {"sets": [{"target": ["door", "open"], "value": true}]}, "leave": {}},
 "properties": {"open_is_last": {"type": "temporal", "rule": ["after", "enter", ["field", "door", "open"]]}},
 "exploration": {"weights": {"scope": "per_alt_branch_and_model_state", "initial": "from_protocol", "decay": "per_epoch"},
   "directives_allowed": [{"type": "force"}], "adaptation_signals": [{"signal": "coverage_plateau"}],
   "strategy": {"initial": "pseudo_random_traversal", "fallback": "targeted_on_violation"},
   "epoch_size": 100, "coverage_floor_threshold": 0.05, "concurrency": {"mode": "deterministic_interleaving", "threads": 1}},
 "inputs": {"domains": {"code": {"type": "int", "min": 0, "max": 40}, "hand": {"type": "enum", "values": ["left", "right"]}, "mood": {"type": "enum", "values": ["good", "bad"]}},
   "constraints": [{"name": "left is good", "rule": ["implies", ["eq", "hand", "left"], ["eq", "mood", "good"]]}],
   "coverage": {"targets": [], "seed": 1, "reproducible": true}},
 "bindings": {"runtime": "wasm", "entry": "vault.wasm", "event_hooks": {"mode": "function_intercept", "observe": [], "capture": []}, "actions": {`
	for i, a := range []string{"make", "press", "fumble", "enter", "leave"} {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf(`%q: {"function": %q, "args": [], "returns": null, "mutates": true, "idempotent": false, "reads": [], "writes": []}`, a, a)
	}
	text += "}}}"
	for i := 0; i < len(edits); i += 2 {
		text = strings.Replace(text, edits[i], edits[i+1], 1)
	}
	return text
}

// What chance does not come to is searched for in the model, what nothing can
// reach is proven to be so, and of what the search gave up on that is said.
func TestSearch(t *testing.T) {
	look := func(text string) map[string]campaign.Target {
		c := compileText(t, text)
		c.budget = 2000
		s, failing := explore(t, c, "")
		if len(failing) > 0 {
			t.Error(failing)
		}
		all := map[string]campaign.Target{}
		for _, x := range c.Explored(s).Targets {
			all[x.Name[strings.LastIndex(x.Name, "#")+1:]] = x
		}
		return all
	}
	got := look(vault())
	for name, want := range map[string][2]string{
		"enter":   {"hit", ""},
		"beyond":  {"pending", "the search gave up after "},
		"painted": {"unreachable", "no values that the fields can get make its guard hold"},
		"torn":    {"unreachable", "its guard is excluded by left is good"},
	} {
		if x := got[name]; x.Status != want[0] || !strings.HasPrefix(x.Why, want[1]) {
			t.Errorf("%s is %s: %s", name, x.Status, x.Why)
		}
	}
	for what, text := range map[string]string{
		"branches may not be forced": vault(`[{"type": "force"}]`, `[]`), "nobody listens": vault(`[{"signal": "coverage_plateau"}]`, `[]`),
	} {
		if x := look(text)["enter"]; x.Status != "pending" || x.Why != "" {
			t.Errorf("where %s, enter is %s: %s", what, x.Status, x.Why)
		}
	}
}

// A branch is called unreachable only if it is: guards that the proof cannot
// look into may hold.
func TestProofs(t *testing.T) {
	for guard, want := range map[string]string{
		`["eq", ["field", "door", "color"], "blue"]`:                                                                          "no values that the fields can get",
		`["not", ["eq", ["field", "door", "color"], "red"]]`:                                                                  "no values that the fields can get",
		`["implies", ["eq", ["field", "door", "color"], "red"], ["eq", ["field", "door", "color"], "blue"]]`:                  "no values that the fields can get",
		`["eq", ["field", "door", "color"], "red"]`:                                                                           "",
		`["eq", ["field", "door", "stage"], 77]`:                                                                              "",
		`["and", ["eq", ["field", "input", "code"], 3], ["gt", ["field", "input", "code"], 4]]`:                               "no inputs make its guard hold",
		`["and", ["gte", ["field", "input", "code"], 3], ["lt", ["field", "input", "code"], 4]]`:                              "",
		`["and", ["eq", ["field", "input", "hand"], "left"], ["neq", ["field", "input", "mood"], "good"]]`:                    "its guard is excluded by left is good",
		`["exists", "d", "Door", ["eq", ["field", "d", "color"], "blue"]]`:                                                    "",
		`["and", ["exists", "d", "Door", ["field", "d", "open"]], ["eq", ["field", "door", "color"], "green"]]`:               "no values that the fields can get",
		`["or", ["eq", ["field", "door", "color"], "green"], ["lt", ["field", "door", "stage"], 1]]`:                          "",
		`["and", ["field", "door", "open"], ["not", ["field", "door", "open"]]]`:                                              "no values that the fields can get",
		`["and", ["field", "door", "open"], ["eq", ["field", "door", "color"], "red"]]`:                                       "",
		`["and", ["eq", ["field", "door", "stage"], 1], ["eq", ["field", "door", "stage"], 2]]`:                               "",
		`["and", ["eq", ["field", "input", "hand"], "left"], ["eq", ["field", "door", "color"], ["field", "door", "color"]]]`: "",
	} {
		c := compileText(t, vault(`["eq", ["field", "door", "stage"], 9]`, guard))
		for at := range c.plan.nodes {
			for _, b := range c.plan.nodes[at].branches {
				if b.id != "beyond" {
					continue
				}
				if (b.unreachable == "") != (want == "") || !strings.HasPrefix(b.unreachable, want) {
					t.Errorf("%s: %q, want %q", guard, b.unreachable, want)
				}
				body := c.plan.grammar.Nodes[at].Children[3]
				if c.plan.grammar.Nodes[body].Kind == walk.Call && (c.plan.nodes[body].unreachable == "") != (want == "") {
					t.Errorf("%s: its call is %q", guard, c.plan.nodes[body].unreachable)
				}
			}
		}
	}
}

// What the search found in the model alone is what the module is led to by it.
func TestWaysLeadTheModule(t *testing.T) {
	g := engine(t)
	for _, sys := range exampleSystems() {
		c := system(t, g, sys, "", 1)
		s := c.Start(campaign.Facts{})
		goals := c.goals(s)
		found := c.lookFor(s, goals, 4000)
		if again := c.lookFor(s, c.goals(s), 4000); !reflect.DeepEqual(again.paths, found.paths) || again.moves != found.moves {
			t.Errorf("%s: searched twice, the ways are not the same", sys.Name)
		}
		s.paths = found.paths
		met := map[event]bool{}
		x := open(t, c)
		for i := range found.paths {
			if err := c.prepare(x.t, s, campaign.Case{Index: int64(i)}); err != nil {
				t.Fatal(err)
			}
			x.t.run()
			if x.t.failed != nil {
				t.Errorf("%s: %s", sys.Name, x.t.failed.title)
			}
			for _, e := range x.t.seen.events {
				met[e] = true
			}
		}
		t.Logf("%s: %d ways in %d moves to %q", sys.Name, len(found.paths), found.moves, goals.found)
		for e := range goals.have {
			if e.kind <= eventBranch && !met[e] {
				t.Errorf("%s: the way to %s does not lead there", sys.Name, goals.name(e))
			}
		}
		if len(found.paths) == 0 {
			t.Errorf("%s: no way was found in %d moves", sys.Name, found.moves)
		}
	}
}
