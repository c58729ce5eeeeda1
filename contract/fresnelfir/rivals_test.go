package fresnelfir

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/examples/wasmemit"
)

// A model of boxes of which some can be taken.
const (
	callTake    = `{"type":"call","action":"take"}`
	upTo3       = `"weight":1,"guard":["lte",["field","input","k"],3]`
	guardedTake = `{"type":"alt","branches":[{"id":"may",` + upTo3 + `,"body":` + callTake + `}]}`
	boxModel    = `{"entities":{"Box":{"fields":{"n":{"type":"int","min":0,"max":9}}}},"refinements":{},"functions":{},
"protocols":{"boxes":{"root":{"type":"seq","children":[{"type":"call","action":"open"},{"type":"repeat","min":1,"max":4,"body":
  {"type":"alt","branches":[{"id":"one","weight":1,"guard":["lte",["field","input","k"],1],"body":` + callTake + `},BRANCHES]}}]}},
  "taking":{"root":{"type":"seq","children":[{"type":"repeat","min":0,"max":1,"body":{"type":"call","action":"open"}},` + guardedTake + `]}},
  "opening":{"root":{"type":"seq","children":[{"type":"call","action":"open"},` + guardedTake + `]}}},
"effects":{"open":{"creates":{"entity":"Box","assign":"box"},"sets":[{"target":["box","n"],"value":3}]},"take":{"sets":[]}},
"properties":{},"generators":{},
"exploration":{"weights":{"scope":"per_alt_branch_and_model_state","initial":"from_protocol","decay":"per_epoch"},"directives_allowed":[],"adaptation_signals":[],
  "strategy":{"initial":"pseudo_random_traversal","fallback":"targeted_on_violation"},"epoch_size":100,"coverage_floor_threshold":0.05,
  "concurrency":{"mode":"deterministic_interleaving","threads":1}},
"inputs":{"domains":{"k":{"type":"int","min":1,"max":6}},"constraints":[],"coverage":{"targets":[],"seed":7,"reproducible":true}},
"bindings":{"runtime":"wasm","entry":"box.wasm","actions":{
  "open":{"function":"open","args":[],"returns":{"type":"Box"},"mutates":true,"idempotent":false,"reads":[],"writes":["Box"]},
  "take":{"function":"take","args":["k"],"returns":{"type":"int"},"mutates":true,"idempotent":false,"reads":[],"writes":["Box"],"rejects":{"return":"<0"}}},
  "event_hooks":{"mode":"function_intercept","observe":[],"capture":[]}}}`
)

// An action that two branches begin with is forbidden where neither allows it: a module
// that does what the second one allows is right, whatever the first one says.
func TestAttemptsThatAnotherBranchAllows(t *testing.T) {
	refusing := func(above int32) []byte { // what is above
		m := wasmemit.New()
		m.Memory(1, 1)
		m.Func("open", nil, wasmemit.Params(wasmemit.I32)).I32(1)
		m.Func("take", wasmemit.Params(wasmemit.I32), wasmemit.Params(wasmemit.I32)).
			I32(0).Get(0).I32(above).Op(wasmemit.I32GtS).Op(wasmemit.I32Sub)
		return m.Bytes()
	}
	for name, c := range map[string]struct {
		branches string
		above    int32
		found    bool
	}{
		"another guard":              {`{"id":"three",` + upTo3 + `,"body":` + callTake + `}`, 3, false},
		"neither guard":              {`{"id":"three",` + upTo3 + `,"body":` + callTake + `}`, 4, true},
		"no guard":                   {`{"id":"any","weight":1,"body":` + callTake + `}`, 6, false},
		"an alternative":             {`{"id":"three",` + upTo3 + `,"body":{"type":"alt","branches":[{"id":"take","weight":1,"body":` + callTake + `},{"id":"open","weight":1,"body":{"type":"call","action":"open"}}]}}`, 3, false},
		"neither and an alternative": {`{"id":"three",` + upTo3 + `,"body":{"type":"alt","branches":[{"id":"take","weight":1,"body":` + callTake + `},{"id":"open","weight":1,"body":{"type":"call","action":"open"}}]}}`, 4, true},
		"another protocol":           {`{"id":"three",` + upTo3 + `,"body":{"type":"ref","protocol":"taking"}}`, 3, false},
		"another action first":       {`{"id":"three",` + upTo3 + `,"body":{"type":"ref","protocol":"opening"}}`, 3, true},
	} {
		text := strings.Replace(boxModel, "BRANCHES", c.branches, 1)
		if name == "no guard" { // nor one in the other protocols
			text = strings.ReplaceAll(text, upTo3, `"weight":1`)
		}
		camp := withModuleNamed(t, engine(t), "box.json", text, refusing(c.above))
		camp.budget = 400
		_, failing := explore(t, camp, "")
		got := slices.Sorted(maps.Keys(failing))
		if c.found != slices.Equal(got, []string{"the module takes take, which the model does not allow"}) || !c.found && len(got) > 0 {
			t.Errorf("%s: found %q", name, got)
		}
	}
}

// What a guard forbids by an input or an actor that no call tells the module, no module can refuse:
// it is not tried, and check says so.
func TestGuardsOfWhatTheModuleIsNotTold(t *testing.T) {
	taking := func(text string) []byte { // whatever it is called with
		m := wasmemit.New()
		m.Memory(1, 1)
		for _, name := range []string{"open", "take"} {
			params := wasmemit.Params(wasmemit.I32)
			m.Func(name, params[:1-strings.Count(text, `"`+name+`","args":[]`)], params).I32(1)
		}
		return m.Bytes()
	}
	text := strings.Replace(boxModel, "BRANCHES", `{"id":"three",`+upTo3+`,"body":`+callTake+`}`, 1)
	untold := strings.Replace(text, `"args":["k"]`, `"args":[]`, 1)
	actor := func(s string) string {
		s = strings.ReplaceAll(s, `["field","input","k"]`, `["field","actor","k"]`)
		return strings.Replace(s, `"entities":{`, `"entities":{"User":{"fields":{"k":{"type":"int","min":1,"max":6}}},`, 1)
	}
	in := func(s, action string) string {
		return strings.Replace(s, `{"function":"`+action+`","args":[]`, `{"function":"`+action+`","args":["k"]`, 1)
	}
	withJ := strings.Replace(untold, `"open","args":[]`, `"open","args":["j"]`, 1)
	byActor := actor(strings.Replace(withJ, `"domains":{"k":`, `"domains":{"j":`, 1))
	for name, c := range map[string]struct {
		text   string
		hidden string
	}{
		"the call tells":        {text, ""},
		"another call tells":    {in(untold, "open"), ""},
		"nothing tells":         {strings.Replace(withJ, `"domains":{`, `"domains":{"j":{"type":"int","min":1,"max":2},`, 1), "input.k"},
		"an actor":              {byActor, "actor.k"},
		"an actor by its field": {strings.Replace(byActor, `"open","args":["j"]`, `"open","args":["actor.k"]`, 1), ""},
		"an actor by an input":  {actor(in(untold, "open")), ""},
		"an actor that changes": {strings.Replace(byActor, `"take":{"sets":[]}`, `"take":{"sets":[{"target":["actor","k"],"value":5}]}`, 1), ""},
	} {
		doc, src, list := ir.Decode("box.json", []byte(c.text))
		said := ""
		for _, d := range append(list, ir.Check(doc, src)...) {
			if d.Code == "fresnelfir.hidden-guard" {
				said = d.Message
			}
		}
		if (said != "") != (c.hidden != "") || !strings.Contains(said, c.hidden) {
			t.Errorf("%s: check says %q", name, said)
		}
		camp := withModuleNamed(t, engine(t), "box.json", c.text, taking(c.text))
		camp.budget = 200
		_, failing := explore(t, camp, "")
		if _, found := failing["the module takes take, which the model does not allow"]; found != (c.hidden == "") {
			t.Errorf("%s: found %q", name, slices.Collect(maps.Keys(failing)))
		}
	}
}

// A module that may answer whatever it likes is named, whatever the model's properties say of the model.
func TestModulesOfWhichNothingIsCompared(t *testing.T) {
	m := wasmemit.New()
	m.Memory(1, 1)
	m.Func("open", nil, wasmemit.Params(wasmemit.I32)).I32(1)
	m.Func("take", wasmemit.Params(wasmemit.I32), wasmemit.Params(wasmemit.I32)).I32(7)
	m.Func("full", wasmemit.Params(wasmemit.I32), wasmemit.Params(wasmemit.I32)).I32(1)
	module := m.Bytes()
	const rejects = `,"rejects":{"return":"<0"}`
	mute := strings.Replace(strings.Replace(boxModel, "BRANCHES", `{"id":"any","weight":1,"body":`+callTake+`}`, 1), rejects, "", 1)
	property := func(body string) []string {
		return []string{`"properties":{`, `"properties":{"p":{"type":"invariant","predicate":["forall","b","Box",` + body + `]}`}
	}
	observer := []string{`"functions":{`, `"functions":{"full":{"classification":"observer","params":[{"name":"b","type":"Box"}],"binding":"full","returns":"bool"}`}
	derived := []string{`"functions":{`, `"functions":{"sure":{"classification":"derived","params":[{"name":"b","type":"Box"}],"body":true,"returns":"bool"},`}
	for name, c := range map[string]struct {
		edits []string
		warns bool
	}{
		"nothing":                 {nil, true},
		"a property of the model": {property(`["gte",["field","b","n"],0]`), true},
		"a property that asks":    {append(property(`["observer","full","b"]`), observer...), false},
		"an observer alone":       {observer, true},
		"an observer of a pair":   {append(slices.Clone(observer), derived...), false},
		"refusals":                {[]string{`"reads":[],"writes":["Box"]}},`, `"reads":[],"writes":["Box"]` + rejects + `}},`}, false},
		"answers":                 {[]string{`"reads":[],"writes":["Box"]}},`, `"reads":[],"writes":["Box"],"answer":7}},`}, false},
		"idempotence":             {[]string{`"idempotent":false,"reads":[],"writes":["Box"]}},`, `"idempotent":true,"reads":[],"writes":["Box"]}},`}, false},
		"what changes nothing":    {[]string{`"mutates":true,"idempotent":false,"reads":[],"writes":["Box"]}},`, `"mutates":false,"idempotent":false,"reads":["Box"],"writes":[]}},`}, false},
	} {
		text := mute
		for i := 0; i < len(c.edits); i += 2 {
			text = strings.Replace(text, c.edits[i], c.edits[i+1], 1)
		}
		f, err := withModuleNamed(t, engine(t), "box.json", text, module).Probe(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := strings.Contains(strings.Join(f.Warnings, "\n"), "nothing that the module answers is compared with the model"); got != c.warns {
			t.Errorf("%s: warnings %q", name, f.Warnings)
		}
	}
}
