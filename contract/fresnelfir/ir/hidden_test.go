package ir_test

import "testing"

// What a system is not told is found wherever a guard asks it: in the guard itself, in a refinement,
// in a function, or in what an observer is compared with.
func TestGuardsOnWhatRefinementsAndFunctionsHide(t *testing.T) {
	const user, doc = `[{"name": "u", "type": "User"}], "returns": "bool"`, `[{"name": "d", "type": "Doc"}], "returns": "bool"`
	for guard, want := range map[string]string{
		`["field", "actor", "ok"]`:                   "actor.ok",
		`["is", "actor", "Ok"]`:                      "actor.ok",
		`["is", "doc", "Its", {"by": "actor"}]`:      "actor.ok",
		`["not", ["derived", "may", "actor"]]`:       "actor.ok",
		`["observer", "seen", "actor"]`:              "actor.ok",
		`["derived", "within", "actor"]`:             "actor.ok",
		`["eq", ["field", "input", "n"], 1]`:         "input.n",
		`["field", "doc", "ok"]`:                     "",
		`["derived", "open", "doc"]`:                 "",
		`["exists", "u", "User", ["is", "u", "Ok"]]`: "",
	} {
		m, list := load(small(map[string]string{
			"entities":    `{"User": {"fields": {"ok": {"type": "bool"}}}, "Doc": {"fields": {"ok": {"type": "bool"}}}}`,
			"refinements": `{"Ok": {"base": "User", "predicate": ["field", "self", "ok"]}, "Its": {"base": "Doc", "params": [{"name": "by", "type": "User"}], "predicate": ["or", ["field", "self", "ok"], ["is", "by", "Ok"]]}}`,
			"functions": `{"may": {"classification": "derived", "params": ` + user + `, "body": ["field", "u", "ok"]},
  "within": {"classification": "derived", "params": ` + user + `, "body": ["derived", "may", "u"]}, "open": {"classification": "derived", "params": ` + doc + `, "body": ["field", "d", "ok"]},
  "seen": {"classification": "observer", "params": ` + user + `, "binding": "seen", "models": "may"}}`,
			"protocols": `{"p": {"root": {"type": "alt", "branches": [{"id": "a", "weight": 1, "guard": ` + guard + `, "body": {"type": "call", "action": "make"}}]}}}`,
			"effects":   `{"make": {"creates": {"entity": "Doc", "assign": "doc"}}}`,
			"inputs":    `{"domains": {"n": {"type": "int", "min": 1, "max": 2}}, "constraints": [], "coverage": {"targets": [], "seed": 1, "reproducible": true}}`,
			"bindings": `{"runtime": "wasm", "entry": "m.wasm", "actions": {"make": {"function": "make", "args": [], "returns": {"type": "Doc"}, "mutates": true, "idempotent": false, "reads": [], "writes": [], "rejects": {"trap": true}}},
  "event_hooks": {"mode": "function_intercept", "observe": [], "capture": []}}`,
		}))
		if m == nil {
			t.Fatal(guard, list)
		}
		if got := m.Hidden()(m.Protocols[0].Root.Branches[0].Guard); got != want {
			t.Errorf("%s: %q, want %q", guard, got, want)
		}
	}
}
