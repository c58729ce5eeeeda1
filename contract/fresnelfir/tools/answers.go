package tools

import (
	"context"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// Modes of an exploration, as the format's tools print them. An answer with model_only says nothing
// about a module.
const (
	modelOnly = "model_only"
	withModel = "model_and_module"
)

// Mode returns the mode of an exploration: of the model alone, or of the model with a module or a
// system.
func Mode(alone bool) string {
	if alone {
		return modelOnly
	}
	return withModel
}

// Warning returns the warning of a run that explores a model alone. why is the reason.
func Warning(campaign, why string) string {
	return campaign + ": mode: " + modelOnly + ": the model alone is explored: " + why
}

// modeOfRun returns the mode of a stored run; "": it explored no model. If any model was explored
// alone, the whole run is model_only.
func modeOfRun(contract string) func(campaign.Record) string {
	return func(rec campaign.Record) string {
		for _, w := range rec.Warnings {
			if strings.Contains(w, ": mode: "+modelOnly+": ") {
				return modelOnly
			}
		}
		for _, c := range rec.Campaigns {
			if c.Contract == contract {
				return withModel
			}
		}
		return ""
	}
}

// Answers of the eight tools. Everything after Mode is an addition.
type (
	budget struct {
		Iterations int64 `json:"min_iterations"`
		Seconds    int64 `json:"min_timeout_secs"`
	}
	accepted struct {
		Result     string      `json:"result"`
		CampaignID string      `json:"campaign_id"`
		Budget     budget      `json:"budget"`
		Mode       string      `json:"mode"`
		Note       string      `json:"mode_reason,omitempty"`
		Warnings   []diag.JSON `json:"warnings,omitempty"`
	}
	refusal struct {
		Result      string      `json:"result"`
		Errors      []string    `json:"errors"`
		Mode        string      `json:"mode"`
		Diagnostics []diag.JSON `json:"diagnostics,omitempty"`
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
		Percent     float64 `json:"percent"` // of the reachable targets
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

// refused returns the answer for a document that cannot be run. Each error begins with its code and
// its place.
func refused(list diag.List) refusal {
	r := refusal{Result: "errors", Errors: []string{}, Mode: modelOnly, Diagnostics: list.JSON()}
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
func (k *campaigns) status(context.Context, campaign.ToolCall) (any, error) {
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
			if x.alone == "" {
				v.Mode = withModel
			}
		}
	}
	return v, nil
}

// seen is a campaign as it was at one moment.
type seen struct {
	*exploring
	phase    phase
	explored campaign.Exploration
	met      []campaign.Seen
	status   campaign.Status
}

// view makes a tool that tells something about one campaign.
func (k *campaigns) view(say func(seen, campaign.ToolCall) any) func(context.Context, campaign.ToolCall) (any, error) {
	return func(_ context.Context, c campaign.ToolCall) (any, error) {
		k.mu.Lock()
		defer k.mu.Unlock()
		x, err := k.find(c)
		if err != nil {
			return nil, err
		}
		v := seen{exploring: x, phase: x.phase()} // read before its findings, so that a complete campaign has all of them
		v.explored = campaign.Exploration{Planned: x.cases, Alone: x.alone, Targets: x.targets}
		if x.run != nil {
			v.explored, _ = x.run.Explored()
			v.met, v.status = x.run.Findings(), x.run.Status()
		}
		return say(v, c), nil
	}
}

func (v *seen) mode() string { return Mode(v.explored.Alone != "") }

func (v *seen) runID() string {
	if v.run == nil {
		return ""
	}
	return v.run.ID()
}

// percent returns the percentage of the reachable targets that were hit.
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

func fuzzStatus(v seen, _ campaign.ToolCall) any {
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

func findings(v seen, c campaign.ToolCall) any {
	list := findingList{Findings: []finding{}, Total: len(v.met), Mode: v.mode(), RunID: v.runID()}
	since, ok := c.Integer("since_seqno")
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

// details returns one line about a finding: what it is, and who is at fault.
func details(m campaign.Seen) string {
	if n := len(m.Cause); n > 1 {
		return m.Title + " (" + m.Cause[n-1] + ")"
	}
	return m.Title
}

func coverage(v seen, _ campaign.ToolCall) any {
	list := coverList{Targets: []coverTarget{}, Mode: v.mode()}
	for _, t := range v.explored.Targets {
		list.Targets = append(list.Targets, coverTarget{t.Name, t.Status, t.Hits, t.Why})
	}
	c, s := v.covered(), &list.Summary
	s.Hit, s.Unreachable, s.Percent = c.Hit, c.Unreachable, c.Percent
	s.Pending = c.Total - c.Hit - c.Unreachable
	return list
}

func analytics(v seen, _ campaign.ToolCall) any {
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
