package fresnelfir

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/examples/wasmemit"
)

// dial is a model of dials, from 0 to 3 and of two colours, which actions turn; sets
// are those of the action that is added, properties all that must hold.
func dial(sets, properties string) string {
	return document(map[string]string{
		"entities": `{"Dial": {"fields": {"n": {"type": "int", "min": 0, "max": 3}, "is": {"type": "enum", "values": ["red", "green"]}, "was": {"type": "enum", "values": ["red", "green", "off"]}}}}`,
		"functions": `{"of": {"classification": "derived", "params": [{"name": "x", "type": "Dial"}], "body": ["field", "x", "n"], "returns": "int"},
  "shown": {"classification": "observer", "params": [{"name": "x", "type": "Dial"}], "binding": "shown", "models": "of", "returns": "int"}}`,
		"properties": "{" + properties + "}",
		"protocols": `{"use": {"root": {"type": "seq", "children": [{"type": "call", "action": "make"}, {"type": "repeat", "min": 0, "max": 9, "body": {"type": "alt", "branches": [
  {"id": "turn", "weight": 2, "body": {"type": "call", "action": "turn"}}, {"id": "more", "weight": 1, "body": {"type": "call", "action": "more"}}]}}]}}}`,
		"effects": `{"make": {"creates": {"entity": "Dial", "assign": "dial"}, "sets": [{"target": ["dial", "n"], "value": 0}, {"target": ["dial", "is"], "value": "red"}, {"target": ["dial", "was"], "value": "off"}]},
  "turn": {"sets": [{"target": ["dial", "n"], "value": ["add", ["field", "dial", "n"], 1]}]}, "more": {"sets": [` + sets + `]}}`,
		"bindings": strings.ReplaceAll(`{"make": `+binding("make", "", "Dial", writes)+`, "turn": `+binding("turn", `"dial_id"`, "void", writes)+`, "more": `+binding("more", `"dial_id", "dial_n"`, "void", writes)+`}`, "Lamp", "Dial"),
	})
}

// What an effect gives a field beyond what the field is declared to hold is a warning,
// if it is written down, and a finding that names field, bound and step. The traversal
// goes on: nothing else is hidden by it.
func TestExcessesAreFindingsAndHideNothing(t *testing.T) {
	turned := "turn sets Dial.n above its max of 3"
	for name, c := range map[string]struct {
		sets, properties string
		warning          string // its message
		want             map[string]string
	}{
		"a sum": {"", "", "", map[string]string{turned: "make turn turn turn turn"}},
		"a literal above": {`{"target": ["dial", "n"], "value": 9}`, "", "is outside the bounds of Dial.n, got 9",
			map[string]string{turned: "make turn turn turn turn", "more sets Dial.n above its max of 3": "make more"}},
		"nearer again": {`{"target": ["dial", "n"], "value": ["sub", ["field", "dial", "n"], 1]}`, "", "",
			map[string]string{turned: "make turn turn turn turn", "more sets Dial.n below its min of 0": "make more"}},
		"a literal below": {`{"target": ["dial", "n"], "value": -1}`, "", "is outside the bounds of Dial.n, got -1",
			map[string]string{turned: "make turn turn turn turn", "more sets Dial.n below its min of 0": "make more"}},
		"a word": {`{"target": ["dial", "is"], "value": "blue"}`, "", `is not one of red or green, got "blue"`,
			map[string]string{turned: "make turn turn turn turn", "more sets Dial.is to none of red, green": "make more"}},
		"a word of another field": {`{"target": ["dial", "is"], "value": ["field", "dial", "was"]}`, "", "",
			map[string]string{turned: "make turn turn turn turn", "more sets Dial.is to none of red, green": "make more"}},
		"properties of what comes later": {`{"target": ["dial", "n"], "value": 5}`,
			`"low": {"type": "invariant", "predicate": ["forall", "x", "Dial", ["lt", ["field", "x", "n"], 6]]},
  "cold": {"type": "temporal", "rule": ["after", "more", ["never", "more"]]}`, "is outside the bounds of Dial.n, got 5",
			map[string]string{turned: "make more turn", "more sets Dial.n above its max of 3": "make more",
				"low does not hold after turn": "make more turn", "cold does not hold after more": "make more more"}},
		"a property that the same step breaks": {`{"target": ["dial", "n"], "value": 9}`,
			`"low": {"type": "invariant", "predicate": ["forall", "x", "Dial", ["lt", ["field", "x", "n"], 4]]}`, "is outside the bounds of Dial.n, got 9",
			map[string]string{turned: "make more turn", "low does not hold after turn": "make turn turn turn turn",
				"more sets Dial.n above its max of 3": "make more", "low does not hold after more": "make more"}},
	} {
		list, diags := New(nil).Compile(context.Background(), campaign.Spec{Path: "m.json", Data: []byte(dial(c.sets, c.properties))}, campaign.Settings{})
		got := ""
		for _, d := range diags {
			got += d.Message
		}
		if got != c.warning || diags.HasErrors() {
			t.Errorf("%s: check says %v, want %q", name, diags, c.warning)
			continue
		}
		camp, _ := campaign.As[*Campaign](list[0])
		camp.budget = 600
		_, failing := explore(t, camp, "")
		if got, want := slices.Sorted(maps.Keys(failing)), slices.Sorted(maps.Keys(c.want)); !slices.Equal(got, want) {
			t.Errorf("%s: found %q, want %q", name, got, want)
			continue
		}
		for title, want := range c.want {
			if steps, _ := smallest(t, camp, failing[title], title); !slices.Equal(steps, strings.Fields(want)) {
				t.Errorf("%s: %s: made small: %v, want %s", name, title, steps, want)
			}
		}
	}
}

// An excess is found though the module shows another fault in the same step each time.
func TestExcessesThatModulesShow(t *testing.T) {
	m := wasmemit.New()
	m.Memory(1, 1)
	count := m.Global(wasmemit.I32, true, 0)
	one, two := wasmemit.Params(wasmemit.I32), wasmemit.Params(wasmemit.I32, wasmemit.I32)
	m.Func("make", nil, one).GlobalGet(count).I32(1).Op(wasmemit.I32Add).GlobalSet(count).GlobalGet(count)
	at(at(m.Func("turn", one, nil))).Memory(wasmemit.I32Load, 0).I32(1).Op(wasmemit.I32Add).Memory(wasmemit.I32Store, 0)
	m.Func("more", two, nil) // and the model says 9
	at(m.Func("shown", one, one)).Memory(wasmemit.I32Load, 0)
	c := withModuleNamed(t, engine(t), "m.json", dial(`{"target": ["dial", "n"], "value": 9}`, ""), m.Bytes())
	c.budget = 600
	_, failing := explore(t, c, "")
	want := []string{"more sets Dial.n above its max of 3", "shown differs from the model after more", "turn sets Dial.n above its max of 3"}
	if got := slices.Sorted(maps.Keys(failing)); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	o, err := open(t, c).Execute(t.Context(), nil, failing[want[0]])
	if steps := string(o.Attached("steps")); err != nil || !strings.Contains(steps, want[0]+"; "+want[1]) {
		t.Errorf("%v, the step says %s", err, steps)
	}
}

// A module's fault behind an excess is found, and a capsule is about the one failure
// that it was made of.
func TestExcessesBesideModules(t *testing.T) {
	m := wasmemit.New()
	one, two := wasmemit.Params(wasmemit.I32), wasmemit.Params(wasmemit.I32, wasmemit.I32)
	m.Memory(1, 1)
	count := m.Global(wasmemit.I32, true, 0)
	m.Func("make", nil, one).GlobalGet(count).I32(1).Op(wasmemit.I32Add).GlobalSet(count).GlobalGet(count)
	at(at(m.Func("turn", one, nil))).Memory(wasmemit.I32Load, 0).I32(1).Op(wasmemit.I32Add).Memory(wasmemit.I32Store, 0)
	m.Func("more", two, nil)
	at(m.Func("shown", one, one)).Memory(wasmemit.I32Load, 0).I32(7).Op(wasmemit.I32And) // it counts to 7 and no further
	text := dial("", "")
	c := withModuleNamed(t, engine(t), "m.json", text, m.Bytes())
	c.budget = 600
	_, failing := explore(t, c, "")
	want := []string{"shown differs from the model after turn", "turn sets Dial.n above its max of 3"}
	if got := slices.Sorted(maps.Keys(failing)); !slices.Equal(got, want) {
		t.Fatalf("found %q, want %q", got, want)
	}
	for _, title := range want {
		files, err := c.Promote(t.Context(), campaign.Finding{ID: "F-1", Kind: kindProperty, Title: title}, [][]byte{failing[title].Payload}, "/nowhere")
		if err != nil {
			t.Fatal(err)
		}
		again := capsuleCampaign(t, engine(t).Open, files[0].Data, nil)
		if _, found := explore(t, again, ""); len(found) != 1 || found[title].Payload == nil {
			t.Errorf("the capsule of %q shows %v", title, found)
		}
		bounded := strings.Replace(string(files[0].Data), `"max": 3`, `"max": 300`, 1)
		if _, found := explore(t, capsuleCampaign(t, engine(t).Open, []byte(bounded), nil), ""); len(found) != strings.Count(title, "shown") {
			t.Errorf("the capsule of %q, with other bounds, shows %v", title, found)
		}
	}
}
