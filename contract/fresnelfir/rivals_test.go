package fresnelfir

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/examples/wasmemit"
)

// An action that two branches begin with is forbidden where neither allows it: a module
// that does what the second one allows is right, whatever the first one says.
func TestAttemptsThatAnotherBranchAllows(t *testing.T) {
	const (
		call    = `{"type":"call","action":"take"}`
		upTo3   = `"weight":1,"guard":["lte",["field","input","k"],3]`
		guarded = `{"type":"alt","branches":[{"id":"may",` + upTo3 + `,"body":` + call + `}]}`
		model   = `{"entities":{"Box":{"fields":{"n":{"type":"int","min":0,"max":9}}}},"refinements":{},"functions":{},
"protocols":{"boxes":{"root":{"type":"seq","children":[{"type":"call","action":"open"},{"type":"repeat","min":1,"max":4,"body":
  {"type":"alt","branches":[{"id":"one","weight":1,"guard":["lte",["field","input","k"],1],"body":` + call + `},BRANCHES]}}]}},
  "taking":{"root":{"type":"seq","children":[{"type":"repeat","min":0,"max":1,"body":{"type":"call","action":"open"}},` + guarded + `]}},
  "opening":{"root":{"type":"seq","children":[{"type":"call","action":"open"},` + guarded + `]}}},
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
		"another guard":              {`{"id":"three",` + upTo3 + `,"body":` + call + `}`, 3, false},
		"neither guard":              {`{"id":"three",` + upTo3 + `,"body":` + call + `}`, 4, true},
		"no guard":                   {`{"id":"any","weight":1,"body":` + call + `}`, 6, false},
		"an alternative":             {`{"id":"three",` + upTo3 + `,"body":{"type":"alt","branches":[{"id":"take","weight":1,"body":` + call + `},{"id":"open","weight":1,"body":{"type":"call","action":"open"}}]}}`, 3, false},
		"neither and an alternative": {`{"id":"three",` + upTo3 + `,"body":{"type":"alt","branches":[{"id":"take","weight":1,"body":` + call + `},{"id":"open","weight":1,"body":{"type":"call","action":"open"}}]}}`, 4, true},
		"another protocol":           {`{"id":"three",` + upTo3 + `,"body":{"type":"ref","protocol":"taking"}}`, 3, false},
		"another action first":       {`{"id":"three",` + upTo3 + `,"body":{"type":"ref","protocol":"opening"}}`, 3, true},
	} {
		text := strings.Replace(model, "BRANCHES", c.branches, 1)
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
