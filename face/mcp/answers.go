package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/diag"
)

const modelOnly = "model_only"

// modeOf says whether a module is explored with the model.
func modeOf(alone string) string {
	if alone != "" {
		return modelOnly
	}
	return "model_and_module"
}

// modeOfCall is the mode of the campaign, run or finding that a call names, which
// its answer says also if it is an error. A tool of models whose campaign there is
// not has no module.
func (s *Server) modeOfCall(t *tool, c *call) string {
	if id, ok := c.text("run_id"); ok {
		return s.modeOfRun(id)
	}
	if id, ok := c.text("finding"); ok {
		if rec, _, err := s.cfg.Store.Finding(id); err == nil {
			return modeOfRecord(rec)
		}
		return ""
	}
	if !slices.ContainsFunc(s.modelTools(), func(x tool) bool { return x.name == t.name }) {
		return ""
	}
	k := &s.campaigns
	k.mu.Lock()
	defer k.mu.Unlock()
	if x, err := k.find(c); err == nil {
		return modeOf(x.model.Alone)
	}
	return modelOnly
}

// modeOfRun is the mode of a run; "" if it explores no model.
func (s *Server) modeOfRun(id string) string {
	if r := s.runs.find(id); r != nil {
		if e, ok := r.Explored(); ok {
			return modeOf(e.Alone)
		}
		return ""
	}
	rec, err := s.storedRun(id)
	if err != nil {
		return ""
	}
	return modeOfRecord(rec)
}

// modelTools are the eight tools of the format, and load_dut.
func (s *Server) modelTools() []tool {
	id := param{"campaign_id", "string", "the campaign, as fresnel_fir_compile named it", true}
	return []tool{
		{name: "fresnel_fir_compile", open: true, about: "Check a FresnelFir model and make a campaign of it. All that is wrong with it is returned at once, with its fix where one is known.", call: s.compile,
			params: []param{{"ir_json", "string", "the document, as JSON text", false}, {"model", "string", "or the model in the language of NAME.model.star: see thresh://examples/fresnelfir", false}}},
		{name: "fresnel_fir_status", open: true, reads: true, about: "Say whether campaigns are waiting or running.", call: s.status},
		{name: "fresnel_fir_fuzz_start", open: true, about: "Begin to run a campaign in the background.", call: s.start,
			params: []param{id, {"extra_iterations", "integer", "traversals beyond those that the campaign makes by itself", false}}},
		{name: "fresnel_fir_fuzz_status", open: true, reads: true, about: "Say how far a campaign is.", call: s.view(fuzzStatus), params: []param{id}},
		{name: "fresnel_fir_findings", open: true, reads: true, about: "List a campaign's findings, also while it runs.", call: s.view(findings),
			params: []param{id, {"since_seqno", "integer", "only findings after this number: the next_seqno of the last answer", false}}},
		{name: "fresnel_fir_coverage", open: true, reads: true, about: "List what a campaign is to cover: hit, pending or proven unreachable.", call: s.view(coverage), params: []param{id}},
		{name: "fresnel_fir_abort", open: true, about: "End a campaign, whatever its phase. What it found is kept.", call: s.abort, params: []param{id}},
		{name: "fresnel_fir_analytics", open: true, reads: true, about: "Give figures of a campaign: rates, epochs, the coverage curve.", call: s.view(analytics), params: []param{id}},
		{name: "load_dut", about: "Load the WebAssembly module that a campaign explores, in place of bindings.entry, and check that its exports fit the bindings.", call: s.load,
			params: []param{id, {"wasm_base64", "string", "the module, in base64", false}, {"path", "string", "or a file that holds it, below the server's folder", false}}},
	}
}

// Answers of the eight tools. What follows Mode in each is an addition.
type (
	budget struct {
		Iterations int64 `json:"min_iterations"`
		Seconds    int64 `json:"min_timeout_secs"`
	}
	accepted struct {
		Result     string       `json:"result"`
		CampaignID string       `json:"campaign_id"`
		Budget     budget       `json:"budget"`
		Mode       string       `json:"mode"`
		Note       string       `json:"mode_reason,omitempty"`
		Warnings   []diagnostic `json:"warnings,omitempty"`
	}
	refusal struct {
		Result      string       `json:"result"`
		Errors      []string     `json:"errors"`
		Mode        string       `json:"mode"`
		Diagnostics []diagnostic `json:"diagnostics,omitempty"`
	}
	started struct {
		Status     string `json:"status"`
		CampaignID string `json:"campaign_id"`
		Budget     budget `json:"budget"`
		Mode       string `json:"mode"`
		Note       string `json:"mode_reason,omitempty"`
		RunID      string `json:"run_id"`
	}
	progress struct {
		Done  int64 `json:"iterations_done"`
		Total int64 `json:"iterations_total"`
	}
	covered struct {
		Hit         int     `json:"targets_hit"`
		Total       int     `json:"targets_total"`
		Percent     float64 `json:"percent"` // of the targets that can be reached
		Unreachable int     `json:"targets_unreachable"`
	}
	fuzzState struct {
		State    string   `json:"state"`
		Progress progress `json:"progress"`
		Coverage covered  `json:"coverage"`
		Findings int      `json:"findings_count"`
		Stop     *string  `json:"stop_reason"`
		Mode     string   `json:"mode"`
		RunID    string   `json:"run_id,omitempty"`
		Phase    string   `json:"phase,omitempty"`
		Error    string   `json:"error,omitempty"`
	}
	finding struct {
		ID         string `json:"id"`
		Seq        int64  `json:"seqno"`
		Type       string `json:"finding_type"`
		Action     string `json:"action"`
		Details    string `json:"details"`
		Generation int    `json:"model_generation"`
		Severity   string `json:"severity"`
	}
	findingList struct {
		Findings []finding `json:"findings"`
		Next     int64     `json:"next_seqno"`
		Total    int       `json:"total_findings"`
		Mode     string    `json:"mode"`
		RunID    string    `json:"run_id,omitempty"`
	}
	coverTarget struct {
		Target string `json:"target"`
		Status string `json:"status"`
		Hits   int64  `json:"hit_count"`
		Why    string `json:"reason,omitempty"`
	}
	coverList struct {
		Targets []coverTarget `json:"targets"`
		Summary struct {
			Hit         int     `json:"hit"`
			Pending     int     `json:"pending"`
			Unreachable int     `json:"unreachable"`
			Percent     float64 `json:"percent"`
		} `json:"summary"`
		Mode string `json:"mode"`
	}
	abortion struct {
		CampaignID  string `json:"campaign_id"`
		FinalStatus string `json:"final_status"`
		Findings    int    `json:"findings_count"`
		Steps       int64  `json:"steps_executed"`
		Mode        string `json:"mode"`
	}
	figures struct {
		Steps         int64   `json:"total_steps"`
		Findings      int     `json:"total_findings"`
		Peak          float64 `json:"peak_coverage"` // 0 to 1
		Elapsed       float64 `json:"elapsed_secs"`
		Rate          float64 `json:"finding_rate_per_k"`
		Velocity      float64 `json:"coverage_velocity"`
		Effectiveness float64 `json:"adaptation_effectiveness"`
		Epochs        int     `json:"epochs_completed"`
		State         phase   `json:"state"`
	}
	analysis struct {
		CampaignID string  `json:"campaign_id"`
		Summary    figures `json:"summary"`
		Points     int     `json:"coverage_curve_points"`
		Epochs     int     `json:"epoch_stats_count"`
		Mode       string  `json:"mode"`
	}
)

func (x *exploring) budget() budget { return budget{x.model.Iterations, x.model.Seconds} }

// refused is the answer for a document that cannot be run: each error begins
// with its code and its place.
func refused(list diag.List) refusal {
	r := refusal{Result: "errors", Errors: []string{}, Mode: modelOnly, Diagnostics: diagnostics(list)}
	for _, d := range list {
		if d.Level != diag.Error {
			continue
		}
		text := strings.TrimSpace(d.Code+" "+d.Path) + ": " + d.Message
		if d.Pos.Line > 0 {
			text += fmt.Sprintf(" (line %d, column %d)", d.Pos.Line, d.Pos.Col)
		}
		if d.Hint != "" {
			text += "; " + d.Hint
		}
		r.Errors = append(r.Errors, text)
	}
	return r
}

// status is the tool fresnel_fir_status.
func (s *Server) status(context.Context, *call) (any, error) {
	k := &s.campaigns
	k.mu.Lock()
	defer k.mu.Unlock()
	v := struct {
		State  string `json:"state"`
		Active int    `json:"active_campaigns"`
		Mode   string `json:"mode"`
	}{"idle", k.active(), modelOnly}
	for _, x := range k.list {
		if !x.finished() {
			v.State = "active"
			if x.model.Alone == "" {
				v.Mode = modeOf("")
			}
		}
	}
	return v, nil
}

// seen is a campaign as it is at one moment.
type seen struct {
	*exploring
	phase    phase
	explored app.Exploration
	met      []app.Seen
	status   app.Status
}

// view makes a tool of what is to be said of one campaign.
func (s *Server) view(say func(seen, *call) any) func(context.Context, *call) (any, error) {
	return func(_ context.Context, c *call) (any, error) {
		k := &s.campaigns
		k.mu.Lock()
		defer k.mu.Unlock()
		x, err := k.find(c)
		if err != nil {
			return nil, err
		}
		v := seen{exploring: x, phase: x.phase()} // before what it found, which is all there is once it is complete
		v.explored = app.Exploration{Planned: x.cases, Alone: x.model.Alone, Targets: x.model.Targets}
		if x.run != nil {
			v.explored, _ = x.run.Explored()
			v.met, v.status = x.run.Findings(), x.run.Status()
		}
		return say(v, c), nil
	}
}

func (v *seen) mode() string { return modeOf(v.explored.Alone) }

func (v *seen) runID() string {
	if v.run == nil {
		return ""
	}
	return v.run.ID()
}

// percent is the share of the targets that were hit, of those that can be.
func percent(hit, total, unreachable int) float64 {
	if total <= unreachable {
		return 100 // there is nothing left to cover
	}
	return 100 * float64(hit) / float64(total-unreachable)
}

func (v *seen) covered() (c covered) {
	for _, t := range v.explored.Targets {
		c.Total++
		switch t.Status {
		case "hit":
			c.Hit++
		case "unreachable":
			c.Unreachable++
		}
	}
	if c.Total > 0 {
		c.Percent = percent(c.Hit, c.Total, c.Unreachable)
	}
	return c
}

func fuzzStatus(v seen, _ *call) any {
	states := map[phase]string{compiled: "pending", dutLoaded: "pending", running: "running", complete: "complete", aborted: "aborted"}
	f := fuzzState{
		State: states[v.phase], Progress: progress{v.explored.Traversals, v.explored.Planned}, Coverage: v.covered(),
		Findings: len(v.met), Mode: v.mode(), RunID: v.runID(), Phase: v.status.Phase,
	}
	if v.status.Err != nil {
		f.Error = v.status.Err.Error()
	}
	stop := ""
	switch r := v.status.Record; {
	case v.aborted:
		stop = "UserAborted"
	case r == nil:
	case r.Stopped == "time":
		stop = "WallTimeExceeded"
	case r.Stopped == "fail-fast":
		stop = "FindingLimitExceeded"
	case r.Stopped == "interrupted":
		stop = "UserAborted"
	case r.Stopped == "" && v.clipped:
		stop = "IterationLimitExceeded"
	case r.Stopped == "":
		stop = "Complete"
	}
	if stop != "" {
		f.Stop = &stop
	}
	return f
}

func findings(v seen, c *call) any {
	list := findingList{Findings: []finding{}, Total: len(v.met), Mode: v.mode(), RunID: v.runID()}
	since, ok := c.integer("since_seqno")
	if !ok {
		since = 0
	}
	for _, m := range v.met {
		list.Next = max(list.Next, m.Seq)
		if m.Seq > since {
			list.Findings = append(list.Findings, finding{m.ID, m.Seq, m.Kind, m.Action, details(m), m.Generation, m.Severity.String()})
		}
	}
	return list
}

// details is what is said of a finding in one line: what it is, and who is at
// fault.
func details(m app.Seen) string {
	if n := len(m.Cause); n > 1 {
		return m.Title + " (" + m.Cause[n-1] + ")"
	}
	return m.Title
}

func coverage(v seen, _ *call) any {
	list := coverList{Targets: []coverTarget{}, Mode: v.mode()}
	for _, t := range v.explored.Targets {
		list.Targets = append(list.Targets, coverTarget{t.Name, t.Status, t.Hits, t.Why})
	}
	c, s := v.covered(), &list.Summary
	s.Hit, s.Unreachable, s.Percent = c.Hit, c.Unreachable, c.Percent
	s.Pending = c.Total - c.Hit - c.Unreachable
	return list
}

func analytics(v seen, _ *call) any {
	e := v.explored
	f := figures{
		Steps: e.Actions, Findings: len(v.met), Peak: v.covered().Percent / 100, Elapsed: v.status.Elapsed.Seconds(), Epochs: e.Epochs, State: v.phase,
	}
	if e.Actions > 0 {
		f.Rate = float64(len(v.met)) / float64(e.Actions) * 1000
		if n := len(e.Curve); n > 1 {
			f.Velocity = (e.Curve[n-1][1] - e.Curve[0][1]) / 100 / float64(e.Actions) * 1000
		}
	}
	if e.Epochs > 0 {
		f.Effectiveness = float64(e.Fruitful) / float64(e.Epochs)
	}
	return analysis{CampaignID: v.id, Summary: f, Points: len(e.Curve), Epochs: e.Epochs, Mode: v.mode()}
}
