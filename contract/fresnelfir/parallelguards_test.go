package fresnelfir

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/port/sut"
	edges "github.com/thresh-dev/thresh/system"
	httpsys "github.com/thresh-dev/thresh/system/http"
)

// Of two branches with one action, in another order of the calls the other one allows it:
// a system that does one call after the other is right.
func TestParallelCallsThatAnotherBranchAllows(t *testing.T) {
	const model = `{"entities":{"Coin":{"fields":{"n":{"type":"int","min":0,"max":500},"odd":{"type":"bool","default":false}}}},"refinements":{},"functions":{},
"protocols":{"flips":{"root":{"type":"repeat","min":3,"max":8,"body":{"type":"alt","branches":[
  {"id":"even","weight":1,"guard":["not",["field","coin","odd"]],"body":{"type":"call","action":"flip"}},
  {"id":"odd","weight":1,"guard":["field","coin","odd"],"body":{"type":"call","action":"flip"}}]}}}},
"effects":{"make":{"creates":{"entity":"Coin","assign":"coin"},"sets":[{"target":["coin","n"],"value":0}]},
  "flip":{"sets":[{"target":["coin","n"],"value":["add",["field","coin","n"],1]},{"target":["coin","odd"],"value":["not",["field","coin","odd"]]}]}},
"properties":{},"generators":{"one":{"sequence":[{"action":"make","with":{}}]}},
"exploration":{"weights":{"scope":"per_alt_branch_and_model_state","initial":"from_protocol","decay":"per_epoch"},"directives_allowed":[],"adaptation_signals":[],
  "strategy":{"initial":"pseudo_random_traversal","fallback":"targeted_on_violation"},"epoch_size":100,"coverage_floor_threshold":0.05,
  "concurrency":{"mode":"parallel","threads":3}},
"inputs":{"domains":{},"constraints":[],"coverage":{"targets":[],"seed":7,"reproducible":true}},
"bindings":{"runtime":"system","entry":"coin.system.yaml","actions":{
  "make":{"function":"make","args":[],"returns":{"type":"Coin"},"mutates":true,"idempotent":false,"reads":[],"writes":["Coin"]},
  "flip":{"function":"flip","args":["coin_id"],"returns":{"type":"int"},"mutates":true,"idempotent":false,"reads":[],"writes":["Coin"],"answer":["add",["field","coin","n"],1]}},
  "event_hooks":{"mode":"function_intercept","observe":[],"capture":[]}}}`
	for name, c := range map[string]struct {
		sticks int // the count never gets above it
		want   campaign.Verdict
	}{
		"one call after the other": {1000, campaign.VerdictPass},
		"a count that sticks":      {4, campaign.VerdictFail},
	} {
		var mu sync.Mutex
		coins := map[int]int{}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var asked struct{ Coin int }
			mu.Lock()
			defer mu.Unlock()
			_ = json.NewDecoder(r.Body).Decode(&asked)
			v := 0
			switch r.URL.Path {
			case "/reset":
				clear(coins)
			case "/make":
				v = len(coins) + 1
				coins[v] = 0
			default:
				coins[asked.Coin] = min(coins[asked.Coin]+1, c.sticks)
				v = coins[asked.Coin]
			}
			_, _ = fmt.Fprintf(w, `{"v":%d}`, v)
		}))
		defer server.Close()
		yaml := "schema: thresh.system.v1\nname: coin\nkind: http\nurl: " + server.URL + `
operations:
  make: {method: POST, path: /make, json: {}, returns: $.v}
  flip: {method: POST, path: /flip, json: {coin: "{coin_id}"}, returns: $.v, rejects: [409]}
  reset: {method: POST, path: /reset, json: {}}
reset: {operation: reset}
`
		camp := parallelModel(t, "coin.json", model, yaml)
		if o, n := histories(t, camp, 60); o.Verdict != c.want {
			t.Errorf("%s: history %d: %v %s", name, n, o.Verdict, strings.TrimSpace(o.Title))
		}
	}
}

// Actors that call at the same time also make calls that the model forbids.
func TestParallelForbiddenCalls(t *testing.T) {
	for _, holds := range []bool{true, false} {
		var mu sync.Mutex
		locked := map[int]bool{}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var asked struct{ Door int }
			mu.Lock()
			defer mu.Unlock()
			_ = json.NewDecoder(r.Body).Decode(&asked)
			switch r.URL.Path {
			case "/reset":
				clear(locked)
			case "/make":
				locked[len(locked)+1] = false
				_, _ = fmt.Fprintf(w, `{"v":%d}`, len(locked))
				return
			case "/lock":
				if locked[asked.Door] && holds {
					w.WriteHeader(http.StatusConflict)
					return
				}
				locked[asked.Door] = true
			}
			_, _ = fmt.Fprint(w, `{"v":0}`)
		}))
		defer server.Close()
		c := parallelModel(t, "door.model.star", `system("door.system.yaml")
explore(mode = "parallel", threads = 2)
Door = entity(locked = bool)
def make():
    door = new(Door)
    call("make", returns = Door)
def lock():
    door = any(Door)
    require(not door.locked)
    door.locked = True
    call("lock", door, rejects = True)
`, "schema: thresh.system.v1\nname: door\nkind: http\nurl: "+server.URL+`
operations:
  make: {method: POST, path: /make, json: {}, returns: $.v}
  lock: {method: POST, path: /lock, json: {door: "{door}"}, rejects: [409]}
  reset: {method: POST, path: /reset, json: {}}
reset: {operation: reset}
`)
		if o, n := histories(t, c, 20); (o.Verdict == campaign.VerdictPass) != holds {
			t.Errorf("locks hold: %v: history %d: %v %s", holds, n, o.Verdict, o.Title)
		}
	}
}

// parallelModel compiles a model whose system is an HTTP service.
func parallelModel(t *testing.T, name, model, yaml string) *Campaign {
	t.Helper()
	list, diags := compileService(t, name, model, yaml)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	c, _ := campaign.As[*Campaign](list[0])
	return c
}

func compileService(t *testing.T, name, model, yaml string) ([]campaign.Any, diag.List) {
	t.Helper()
	open := edges.New(map[sut.Kind]edges.Kind{sut.HTTP: httpsys.Open}).Open
	return New(nil).Systems(open).Compile(t.Context(), campaign.Spec{Path: name, Data: []byte(model)}, campaign.Settings{
		Read:   func(string) ([]byte, error) { return []byte(yaml), nil },
		Digest: func(string) (string, error) { return "", nil },
	})
}

// A fault that cannot be made is an error at its own place in the document.
func TestFaultsThatCannotBeMade(t *testing.T) {
	const model = `system("door.system.yaml")
explore(mode = "parallel", threads = 2, faults = ["drop", "kil", "kill"])
Door = entity(locked = bool)
def make():
    door = new(Door)
    call("make", returns = Door)
`
	_, diags := compileService(t, "door.model.star", model, "schema: thresh.system.v1\nname: door\nkind: http\nurl: http://127.0.0.1:1\noperations: {make: {method: POST, path: /make, json: {}}}\nreset: none\n")
	var got []string
	for _, d := range diags {
		if d.Code == "fresnelfir.concurrency" {
			got = append(got, fmt.Sprintf("%d:%d %s", d.Pos.Line, d.Pos.Col, d.Message))
		}
	}
	if want := []string{`2:59 must be one of kill, drop, delay, clock:OPERATION, got "kil"`, "2:66 the system door has no command: Thresh can kill and restart only what it starts"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
