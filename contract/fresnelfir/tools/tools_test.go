package tools

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/internal/golden"
)

// fakeRun is a run that is as the test says.
type fakeRun struct {
	id     string
	done   chan struct{}
	status campaign.Status
	found  []campaign.Seen
	model  campaign.Exploration
}

func (r *fakeRun) ID() string                             { return r.id }
func (r *fakeRun) Done() <-chan struct{}                  { return r.done }
func (r *fakeRun) Changed() <-chan struct{}               { return r.done }
func (r *fakeRun) Status() campaign.Status                { return r.status }
func (r *fakeRun) Findings() []campaign.Seen              { return r.found }
func (r *fakeRun) Explored() (campaign.Exploration, bool) { return r.model, true }
func (r *fakeRun) Stop()                                  { r.end(campaign.Record{Stopped: "interrupted"}) }
func (r *fakeRun) end(rec campaign.Record) {
	select {
	case <-r.done:
	default:
		r.status.Record = &rec
		close(r.done)
	}
}

// fakeModel is a campaign of which only what the tools ask for is there.
type fakeModel struct{ campaign.Any }

func (fakeModel) Explored(any) campaign.Exploration {
	return campaign.Exploration{Planned: 20736, Alone: "none"}
}
func (fakeModel) LeastBudget() (iterations, seconds int64) { return 20736, 207 }
func (fakeModel) Trigger(context.Context, []byte) (string, int, error) {
	return "", 0, errors.New("not asked for")
}

// fakeDesk compiles every document to a model, and starts runs in turn.
type fakeDesk struct {
	begun []campaign.Draft
	runs  []*fakeRun
	fail  error // of the next start
}

func (u *fakeDesk) Read(string, int64) ([]byte, error) { return nil, errors.New("no files here") }

func (u *fakeDesk) Compile(_ context.Context, d campaign.Draft) ([]campaign.Any, diag.List, error) {
	if string(d.Text) == "bad" {
		return nil, diag.List{
			{Code: "a.one", Pos: diag.Pos{File: "x", Line: 2, Col: 3}, Path: "$.a", Message: "must be b", Hint: "did you mean b?"},
			{Code: "a.two", Level: diag.Warning, Message: "doubtful"},
		}, nil
	}
	return []campaign.Any{fakeModel{}}, nil, nil
}

func (u *fakeDesk) Start(_ context.Context, d campaign.Draft) (campaign.Background, error) {
	if u.fail != nil {
		return nil, u.fail
	}
	u.begun = append(u.begun, d)
	r := &fakeRun{id: fmt.Sprintf("run-%d", len(u.begun)), done: make(chan struct{}), model: campaign.Exploration{Alone: "none"}}
	u.runs = append(u.runs, r)
	return r, nil
}

// arguments are those of a call, as JSON.
type arguments map[string]any

func (a arguments) Text(name string) (string, bool) {
	s, ok := a[name].(string)
	return s, ok
}

func (a arguments) Integer(name string) (int64, bool) {
	f, ok := a[name].(float64)
	return int64(f), ok
}

// ask calls a tool, and returns its answer as JSON.
func ask(t *testing.T, box campaign.Toolbox, name, args string) (text string, isError bool) {
	t.Helper()
	var a arguments
	if err := json.Unmarshal([]byte(args), &a); err != nil {
		t.Fatal(err)
	}
	for _, x := range box.Tools {
		if x.Name != name {
			continue
		}
		v, err := x.Call(t.Context(), a)
		if err != nil {
			return err.Error() + " " + x.Mode(a), true
		}
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(b.String()), false
	}
	t.Fatalf("no tool %s", name)
	return "", false
}

const one = `{"campaign_id":"campaign-0001"}`

// The answers' JSON, byte for byte: known keys first, in the known order.
func TestAnswers(t *testing.T) {
	u := &fakeDesk{}
	s := New("fresnelfir", u)
	steps := []struct {
		tool, args string
		before     func()
		want       string
	}{
		{"fresnel_fir_status", `{}`, nil, `{"state":"idle","active_campaigns":0,"mode":"model_only"}`},
		{"fresnel_fir_compile", `{"ir_json":"bad"}`, nil, `{"result":"errors","errors":["a.one $.a: must be b (line 2, column 3); did you mean b?"],"mode":"model_only","diagnostics":[{"code":"a.one","level":"error","file":"x","line":2,"column":3,"path":"$.a","message":"must be b","hint":"did you mean b?"},{"code":"a.two","level":"warning","message":"doubtful"}]}`},
		{"fresnel_fir_compile", `{"source":"x"}`, nil, `{"result":"errors","errors":["mcp.missing: missing required parameter: give the model as model, or its JSON as ir_json"],"mode":"model_only","diagnostics":[{"code":"mcp.missing","level":"error","message":"missing required parameter: give the model as model, or its JSON as ir_json"}]}`},
		{"fresnel_fir_compile", `{"ir_json":"{}"}`, nil, `{"result":"pass","campaign_id":"campaign-0001","budget":{"min_iterations":20736,"min_timeout_secs":207},"mode":"model_only","mode_reason":"none"}`},
		{"fresnel_fir_fuzz_status", one, nil, `{"state":"pending","progress":{"iterations_done":0,"iterations_total":20736},"coverage":{"targets_hit":0,"targets_total":0,"percent":0,"targets_unreachable":0},"findings_count":0,"stop_reason":null,"mode":"model_only"}`},
		{"fresnel_fir_findings", one, nil, `{"findings":[],"next_seqno":0,"total_findings":0,"mode":"model_only"}`},
		{"fresnel_fir_coverage", one, nil, `{"targets":[],"summary":{"hit":0,"pending":0,"unreachable":0,"percent":0},"mode":"model_only"}`},
		{"fresnel_fir_fuzz_start", one, nil, `{"status":"started","campaign_id":"campaign-0001","budget":{"min_iterations":20736,"min_timeout_secs":207},"mode":"model_only","mode_reason":"none","run_id":"run-1"}`},
		{"fresnel_fir_findings", `{"campaign_id":"campaign-0001","since_seqno":1}`, func() {
			u.runs[0].found = []campaign.Seen{{Seq: 1, ID: "F-1"}, {Seq: 2, ID: "F-2", Kind: "crash", Title: "it <died>", Action: "act", Generation: 4, Cause: []string{"x", "shown by the module"}, Severity: campaign.SeverityCritical}}
		}, `{"findings":[{"id":"F-2","seqno":2,"finding_type":"crash","action":"act","details":"it <died> (shown by the module)","model_generation":4,"severity":"critical"}],"next_seqno":2,"total_findings":2,"mode":"model_only","run_id":"run-1"}`},
		{"fresnel_fir_findings", `{"campaign_id":"campaign-0001","since_seqno":2}`, nil, `{"findings":[],"next_seqno":2,"total_findings":2,"mode":"model_only","run_id":"run-1"}`},
		{"fresnel_fir_coverage", one, func() {
			u.runs[0].model.Targets = []campaign.Target{{Name: "a", Status: "hit", Hits: 3}, {Name: "b", Status: "pending"}, {Name: "c", Status: "unreachable", Why: "proof"}}
		}, `{"targets":[{"target":"a","status":"hit","hit_count":3},{"target":"b","status":"pending","hit_count":0},{"target":"c","status":"unreachable","hit_count":0,"reason":"proof"}],"summary":{"hit":1,"pending":1,"unreachable":1,"percent":50},"mode":"model_only"}`},
		{"fresnel_fir_analytics", one, func() {
			m := &u.runs[0].model
			m.Actions, m.Epochs, m.Fruitful, m.Curve = 1000, 4, 1, [][2]float64{{10, 10}, {1000, 60}}
		}, `{"campaign_id":"campaign-0001","summary":{"total_steps":1000,"total_findings":2,"peak_coverage":0.5,"elapsed_secs":0,"finding_rate_per_k":2,"coverage_velocity":0.5,"adaptation_effectiveness":0.25,"epochs_completed":4,"state":"Running"},"coverage_curve_points":2,"epoch_stats_count":4,"mode":"model_only"}`},
		{"fresnel_fir_abort", one, nil, `{"campaign_id":"campaign-0001","final_status":"Aborted","findings_count":2,"steps_executed":1000,"mode":"model_only"}`},
	}
	for _, x := range steps {
		if x.before != nil {
			x.before()
		}
		if got, _ := ask(t, s, x.tool, x.args); got != x.want {
			t.Errorf("%s %s:\n got %s\nwant %s", x.tool, x.args, got, x.want)
		}
	}
}

func TestStopReasons(t *testing.T) {
	for _, c := range []struct {
		rec         campaign.Record
		extra       string
		err         error
		state, stop string
	}{
		{campaign.Record{}, "0", nil, "complete", `"Complete"`},
		{campaign.Record{Stopped: "time"}, "0", nil, "complete", `"WallTimeExceeded"`},
		{campaign.Record{Stopped: "fail-fast"}, "0", nil, "complete", `"FindingLimitExceeded"`},
		{campaign.Record{Stopped: "interrupted"}, "0", nil, "complete", `"UserAborted"`},
		{campaign.Record{}, "1000000", nil, "complete", `"IterationLimitExceeded"`},
		{campaign.Record{Stopped: "environment"}, "0", errors.New("it broke"), "aborted", `null`},
	} {
		u := &fakeDesk{}
		s := New("fresnelfir", u)
		ask(t, s, "fresnel_fir_compile", `{"ir_json":"{}"}`)
		ask(t, s, "fresnel_fir_fuzz_start", `{"campaign_id":"campaign-0001","extra_iterations":`+c.extra+`}`)
		u.runs[0].status.Err = c.err
		u.runs[0].end(c.rec)
		got, _ := ask(t, s, "fresnel_fir_fuzz_status", one)
		if !strings.Contains(got, `"state":"`+c.state+`"`) || !strings.Contains(got, `"stop_reason":`+c.stop) {
			t.Errorf("%+v %v: %s", c.rec, c.err, got)
		}
		if d := u.begun[0]; d.Time.Seconds() != 300 || d.Findings != 1000 || c.extra == "1000000" && d.Options["budget"][0] != "1000000" {
			t.Errorf("limits: %+v", d)
		}
	}
}

// A start that fails leaves the campaign as it was.
func TestStartAgain(t *testing.T) {
	u := &fakeDesk{fail: errors.New("no disk")}
	s := New("fresnelfir", u)
	ask(t, s, "fresnel_fir_compile", `{"ir_json":"{}"}`)
	if text, isError := ask(t, s, "fresnel_fir_fuzz_start", one); !isError || text != "no disk model_only" {
		t.Errorf("start: %s", text)
	}
	u.fail = nil
	if text, isError := ask(t, s, "fresnel_fir_fuzz_start", one); isError {
		t.Errorf("second start: %s", text)
	}
}

// Finished campaigns make room, the oldest are forgotten, numbers go on.
func TestEviction(t *testing.T) {
	u := &fakeDesk{}
	s := New("fresnelfir", u)
	for i := 1; i <= 200; i++ {
		id := fmt.Sprintf(`{"campaign_id":"campaign-%04d"}`, i)
		if text, _ := ask(t, s, "fresnel_fir_compile", `{"ir_json":"{}"}`); !strings.Contains(text, id[len(`{"campaign_id":`):len(id)-1]) {
			t.Fatalf("campaign %d: %s", i, text)
		}
		ask(t, s, "fresnel_fir_fuzz_start", id)
		u.runs[len(u.runs)-1].end(campaign.Record{})
	}
	if _, isError := ask(t, s, "fresnel_fir_fuzz_status", one); !isError {
		t.Error("the oldest campaign is still known")
	}
	if _, isError := ask(t, s, "fresnel_fir_fuzz_status", `{"campaign_id":"campaign-0199"}`); isError {
		t.Error("a late campaign is forgotten")
	}
}

// The mode of a stored run is read from what its campaigns said.
func TestModeOfRun(t *testing.T) {
	mode := New("fresnelfir", &fakeDesk{}).Mode
	model := []campaign.CampaignRecord{{Contract: "fresnelfir"}}
	for want, rec := range map[string]campaign.Record{
		"":                 {Campaigns: []campaign.CampaignRecord{{Contract: "spectest"}}},
		"model_and_module": {Campaigns: model, Warnings: []string{"shop: something else"}},
		"model_only":       {Campaigns: model, Warnings: []string{Warning("shop", "the run uses no module")}},
	} {
		if got := mode(rec); got != want {
			t.Errorf("mode %q, want %q", got, want)
		}
	}
}

// What the tools say to calls that lack something, that come too early or too late, or that
// ask for more than there is.
func TestCallsOutOfPlace(t *testing.T) {
	u := &fakeDesk{}
	s := New("fresnelfir", u)
	module := base64.StdEncoding.EncodeToString([]byte("module"))
	const two = `"campaign_id":"campaign-0002"`
	var b strings.Builder
	for _, x := range []struct{ tool, args string }{
		{"fresnel_fir_fuzz_status", `{}`},
		{"fresnel_fir_fuzz_status", `{"campaign_id":"campaign-0001"}`},
		{"load_dut", `{"campaign_id":"campaign-0001","wasm_base64":"` + module + `"}`},
		{"fresnel_fir_compile", `{"model":"x = 1"}`},
		{"fresnel_fir_compile", `{"model":"bad"}`},
		{"fresnel_fir_compile", `{"ir_json":"` + strings.Repeat(" ", maxDocument) + `"}`},
		{"fresnel_fir_compile", `{"ir_json":"` + strings.Repeat(" ", maxDocument+1) + `"}`},
		{"load_dut", `{` + two + `}`},
		{"load_dut", `{` + two + `,"wasm_base64":"AA==","path":"x"}`},
		{"load_dut", `{` + two + `,"path":"x"}`},
		{"load_dut", `{` + two + `,"wasm_base64":"?"}`},
		{"load_dut", `{` + two + `,"wasm_base64":" ` + module + ` "}`},
		{"fresnel_fir_fuzz_status", `{` + two + `}`},
		{"load_dut", `{` + two + `,"wasm_base64":"` + module + `"}`},
		{"fresnel_fir_status", `{}`},
		{"fresnel_fir_fuzz_start", `{` + two + `,"extra_iterations":5}`},
		{"fresnel_fir_fuzz_start", `{` + two + `}`},
		{"load_dut", `{` + two + `,"wasm_base64":"` + module + `"}`},
		{"fresnel_fir_status", `{}`},
		{"fresnel_fir_abort", `{"campaign_id":"campaign-0001"}`},
		{"fresnel_fir_fuzz_start", `{"campaign_id":"campaign-0001"}`},
		{"fresnel_fir_abort", `{` + two + `}`},
		{"fresnel_fir_fuzz_start", `{` + two + `,"extra_iterations":-5}`},
		{"fresnel_fir_findings", `{` + two + `,"since_seqno":-1}`},
		{"fresnel_fir_analytics", `{` + two + `}`},
		{"fresnel_fir_abort", `{}`},
	} {
		got, isError := ask(t, s, x.tool, x.args)
		if len(x.args) > 200 {
			x.args = fmt.Sprintf("%d bytes", len(x.args))
		}
		fmt.Fprintf(&b, "%s %s\n  %t %s\n", x.tool, x.args, isError, got)
	}
	for i := range 70 {
		if got, _ := ask(t, s, "fresnel_fir_compile", `{"ir_json":"{}"}`); strings.Contains(got, `"errors"`) {
			fmt.Fprintf(&b, "after %d more: %s\n", i, got)
			break
		}
	}
	for _, d := range u.begun {
		fmt.Fprintf(&b, "started %s %q %d files %v\n", d.Name, d.Options, len(d.Files), d.Time)
	}
	golden.Check(t, "testdata/calls.txt", b.String())
}
