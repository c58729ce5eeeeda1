package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// keptRuns is how many ended runs the server keeps in memory; older ones are read from the store.
const keptRuns = 64

// runs holds the runs that this server began.
type runs struct {
	mu   sync.Mutex
	list []campaign.Background // oldest first
}

func (k *runs) add(r campaign.Background) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.list = append(k.list, r)
	for i := 0; i < len(k.list) && len(k.list) > keptRuns; {
		select {
		case <-k.list[i].Done():
			k.list = append(k.list[:i], k.list[i+1:]...)
		default:
			i++
		}
	}
}

func (k *runs) all() []campaign.Background {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]campaign.Background(nil), k.list...)
}

func (k *runs) find(id string) campaign.Background {
	for _, r := range k.all() {
		if r.ID() == id {
			return r
		}
	}
	return nil
}

// maxWait is how long a call may wait for a run, in seconds.
const maxWait = 24 * 3600

// runTools returns the tools for documents of every format.
func (s *Server) runTools() []campaign.Tool {
	doc := []campaign.Param{
		{Name: "path", Kind: "string", About: "a document, or a folder of documents, below the server's folder"},
		{Name: "text", Kind: "string", About: "or the text of one document"},
		{Name: "name", Kind: "string", About: "file name of the text in messages and finding ids"},
		{Name: "contract", Kind: "string", About: "refuse documents of other formats than this one"},
		{Name: "seed", Kind: "integer", About: "replace the seed that the document gives"},
		{Name: "strict", Kind: "boolean", About: "treat warnings about documents as errors"},
		{Name: "options", Kind: "object", About: "settings of one format, as the flags of thresh run without their dashes"},
	}
	id := campaign.Param{Name: "run_id", Kind: "string", About: "the run, as run_spec named it, a unique beginning of a stored run's id, or latest", Required: true}
	wait := "wait at most so many seconds for the run to end; progress is reported if the call has a progress token"
	return []campaign.Tool{
		{Name: "check_spec", Reads: true, About: "Find mistakes in documents of any format without running them.", Call: withProgress(s.check), Params: doc},
		{Name: "run_spec", About: "Run documents of any format in the background. With wait, the answer comes once the run has ended; a cancelled call ends the run.", Call: withProgress(s.runSpec),
			Params: append(doc[:len(doc):len(doc)],
				campaign.Param{Name: "cases", Kind: "integer", About: "run at most this many cases of each campaign"},
				campaign.Param{Name: "max_errors", Kind: "string", About: "end the run once more than N, or P%, of its cases have no result"},
				campaign.Param{Name: "time_secs", Kind: "integer", About: "end the run after this many seconds, confirming and shrinking included"},
				campaign.Param{Name: "wait", Kind: "boolean", About: "answer once the run has ended"})},
		{Name: "run_status", Reads: true, About: "Report a run's progress and result.", Call: withProgress(s.runStatus), Params: []campaign.Param{id, {Name: "wait_secs", Kind: "integer", About: wait}}},
		{Name: "run_findings", Reads: true, About: "List a run's findings, also while it runs.", Call: withProgress(s.runFindings),
			Params: []campaign.Param{id, {Name: "since_seqno", Kind: "integer", About: "only findings after this number: the next_seqno of the last answer"}}},
	}
}

// document returns the document that a call gives to check or run.
func (s *Server) document(c *call) (app.Draft, error) {
	var d app.Draft
	var text *string
	var options map[string]any
	for _, err := range []error{
		c.decodeParam("path", "a string", &d.Path), c.decodeParam("text", "a string", &text), c.decodeParam("name", "a string", &d.Name),
		c.decodeParam("contract", "a string", &d.Contract), c.decodeParam("seed", "an integer", &d.Seed), c.decodeParam("strict", "true or false", &d.Strict),
		c.decodeParam("options", "an object", &options),
	} {
		if err != nil {
			return d, err
		}
	}
	if (d.Path == "") == (text == nil) {
		return d, errors.New("give either path or text")
	}
	if text != nil {
		d.Text = []byte(*text)
	} else if d.Name != "" {
		return d, errors.New("name goes with text only")
	}
	d.Options = map[string][]string{}
	for _, name := range sortedKeys(options) {
		list, many := options[name].([]any)
		if !many {
			list = []any{options[name]}
		}
		for _, v := range list {
			switch v.(type) {
			case string, bool, float64:
			default:
				return d, fmt.Errorf("options.%s must be a string, a number, true or false, or a list of these", name)
			}
			b, err := json.Marshal(v)
			if err != nil {
				return d, fmt.Errorf("options.%s: %w", name, err)
			}
			word := string(b)
			if t, ok := v.(string); ok {
				word = t
			}
			d.Options[name] = append(d.Options[name], word)
		}
	}
	return d, nil
}

func (s *Server) check(ctx context.Context, c *call) (any, error) {
	d, err := s.document(c)
	if err != nil {
		return nil, err
	}
	found, err := s.cfg.Use.Check(ctx, d)
	if err != nil {
		return nil, err
	}
	if d.Strict {
		found.Diagnostics.Strict()
	}
	type planned struct {
		Contract string `json:"contract"`
		Name     string `json:"name"`
		Cases    int64  `json:"cases,omitempty"` // absent: cases are planned during the run
		InWords  string `json:"cases_in_words,omitempty"`
		Mode     string `json:"mode,omitempty"`
	}
	v := struct {
		Result      string      `json:"result"` // "pass" or "errors"
		Campaigns   []planned   `json:"campaigns"`
		Diagnostics []diag.JSON `json:"diagnostics"`
		Mode        string      `json:"mode,omitempty"` // "model_only" if one campaign has that mode
	}{"pass", []planned{}, found.Diagnostics.JSON(), ""}
	if found.Diagnostics.HasErrors() {
		v.Result = "errors"
	}
	for _, x := range found.Campaigns {
		p := planned{Contract: x.Contract, Name: x.Name, Cases: x.Cases, InWords: x.InWords, Mode: x.Mode}
		if x.Alone || v.Mode == "" {
			v.Mode = x.Mode
		}
		v.Campaigns = append(v.Campaigns, p)
	}
	return v, nil
}

func (s *Server) runSpec(ctx context.Context, c *call) (any, error) {
	d, err := s.document(c)
	if err != nil {
		return nil, err
	}
	var wait bool
	var seconds int64
	var limit string
	for _, err := range []error{
		c.count("cases", &d.Cases, 1<<53), c.count("time_secs", &seconds, 1<<31), c.decodeParam("wait", "true or false", &wait),
		c.decodeParam("max_errors", "a string", &limit),
	} {
		if err != nil {
			return nil, err
		}
	}
	if limit != "" {
		if d.MaxErrors, err = app.ParseErrorLimit(limit); err != nil {
			return nil, fmt.Errorf("max_errors: %w", err)
		}
	}
	d.Time = time.Duration(seconds) * time.Second
	r, err := s.begin(ctx, d)
	if err != nil {
		return nil, err
	}
	if wait {
		if err := c.follow(ctx, r); err != nil {
			r.Stop() // the client that asked for it is gone
			return nil, err
		}
	}
	return stateOf(r), nil
}

// runState describes a run.
type runState struct {
	RunID    string          `json:"run_id"`
	State    string          `json:"state"` // "running", "done", "interrupted" or "error"
	Phase    string          `json:"phase,omitempty"`
	Campaign string          `json:"campaign,omitempty"`
	Index    int             `json:"campaign_index,omitempty"` // from 1
	Of       int             `json:"campaigns,omitempty"`
	Cases    campaign.Counts `json:"cases"` // of the current campaign; of all once the run has ended
	Findings int             `json:"findings_count"`
	Elapsed  float64         `json:"elapsed_secs"`
	Verdict  string          `json:"verdict,omitempty"`
	Complete *bool           `json:"complete,omitempty"`
	Stopped  string          `json:"stopped,omitempty"`
	Digest   string          `json:"digest,omitempty"`
	Warnings []string        `json:"warnings,omitempty"`
	Mode     string          `json:"mode,omitempty"`
	Error    string          `json:"error,omitempty"`
}

func stateOf(r campaign.Background) runState {
	st := r.Status()
	v := runState{
		RunID: r.ID(), State: "running", Phase: st.Phase, Campaign: st.Campaign, Index: st.Index, Of: st.Of, Findings: len(r.Findings()),
		Elapsed: st.Elapsed.Seconds(),
		Cases:   campaign.Counts{Planned: st.Planned, Run: st.Done, Pass: max(st.Done-st.Failed-st.Skipped-st.Errors, 0), Fail: st.Failed, Skip: st.Skipped, Error: st.Errors},
	}
	if e, ok := r.Explored(); ok {
		v.Mode = e.Mode
	}
	if st.Record != nil {
		v.ended(st.Record)
	}
	if st.Err != nil {
		v.State, v.Error = "error", st.Err.Error()
	}
	return v
}

// goesOn reports whether a stored run is still executed, by another process.
func goesOn(rec *campaign.Record) bool { return rec.Stopped == "running" }

// ended fills in the result of a run. One that another process still executes has counts alone.
func (v *runState) ended(rec *campaign.Record) {
	v.State, v.Phase, v.Campaign, v.Index, v.Of = "done", "", "", 0, len(rec.Campaigns)
	switch rec.Stopped {
	case "interrupted":
		v.State = "interrupted"
	case "environment":
		v.State = "error"
	}
	if v.Warnings = rec.Warnings; goesOn(rec) {
		v.State = "running"
	} else {
		v.Verdict, v.Complete, v.Stopped, v.Digest = rec.Verdict, &rec.Complete, rec.Stopped, rec.Digest
	}
	v.Cases = campaign.Counts{}
	for _, x := range rec.Campaigns {
		v.Cases.Plus(x.Cases)
	}
}

// storedRun returns a run from the store.
func (s *Server) storedRun(ref string) (campaign.Record, error) {
	id, err := s.cfg.Store.ResolveRun(ref)
	if err != nil {
		return campaign.Record{}, err
	}
	return s.cfg.Store.Record(id)
}

// modeOf returns the mode of an ended run; "" if it explored no model.
func (s *Server) modeOf(rec campaign.Record) string {
	for _, box := range s.boxes {
		if box.Mode == nil {
			continue
		}
		if mode := box.Mode(rec); mode != "" {
			return mode
		}
	}
	return ""
}

// modeOfCall returns the mode of the run or finding that a call names. Answers contain it even if
// they are errors.
func (s *Server) modeOfCall(c campaign.ToolCall) string {
	if id, ok := c.Text("run_id"); ok {
		if r := s.runs.find(id); r != nil {
			e, _ := r.Explored()
			return e.Mode
		}
		if rec, err := s.storedRun(id); err == nil {
			return s.modeOf(rec)
		}
	}
	if id, ok := c.Text("finding"); ok {
		if rec, _, err := s.cfg.Store.Finding(id); err == nil {
			return s.modeOf(rec)
		}
	}
	return ""
}

func (s *Server) runStatus(ctx context.Context, c *call) (any, error) {
	id, ok := c.Text("run_id")
	if !ok {
		return nil, errors.New("run_id must be a string")
	}
	var wait int64
	if err := c.count("wait_secs", &wait, maxWait); err != nil {
		return nil, err
	}
	r := s.runs.find(id)
	if r == nil {
		rec, err := s.storedRun(id)
		if err == nil && goesOn(&rec) && wait > 0 {
			rec, err = s.await(ctx, rec.RunID, time.Duration(wait)*time.Second)
		}
		if err != nil {
			return nil, err
		}
		v := runState{RunID: rec.RunID, Findings: len(rec.Findings), Elapsed: rec.Environment.Seconds}
		v.ended(&rec)
		v.Mode = s.modeOf(rec)
		return v, nil
	}
	if wait > 0 {
		waiting, cancel := context.WithTimeout(ctx, time.Duration(wait)*time.Second)
		defer cancel()
		if err := c.follow(waiting, r); err != nil && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return stateOf(r), nil
}

// await looks at a run of another process until it has ended, or for as long as the client waits.
func (s *Server) await(ctx context.Context, id string, wait time.Duration) (campaign.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		rec, err := s.storedRun(id)
		if err != nil || !goesOn(&rec) {
			return rec, err
		}
		select {
		case <-ctx.Done():
			return rec, nil
		case <-tick.C:
		}
	}
}

// runFinding is a finding in the list of a run.
type runFinding struct {
	ID       string `json:"id"`
	Seq      int64  `json:"seqno"`
	Contract string `json:"contract"`
	Campaign string `json:"campaign"`
	Kind     string `json:"kind"`
	Title    string `json:"title"`
	Severity string `json:"severity"`
	Case     int64  `json:"first_case"`
	Action   string `json:"action,omitempty"`
	Flaky    *bool  `json:"flaky,omitempty"` // unknown while the run continues
}

func (s *Server) runFindings(_ context.Context, c *call) (any, error) {
	id, ok := c.Text("run_id")
	if !ok {
		return nil, errors.New("run_id must be a string")
	}
	var since int64
	if err := c.count("since_seqno", &since, 1<<53); err != nil {
		return nil, err
	}
	v := struct {
		RunID    string       `json:"run_id"`
		Findings []runFinding `json:"findings"`
		Next     int64        `json:"next_seqno"`
		Total    int          `json:"total_findings"`
		Ended    bool         `json:"ended"` // no further findings will follow
		Warnings []string     `json:"warnings,omitempty"`
		Mode     string       `json:"mode,omitempty"`
	}{Findings: []runFinding{}}
	all := []runFinding{}
	ended := &campaign.Record{}
	if r := s.runs.find(id); r != nil {
		v.RunID = r.ID()
		select {
		case <-r.Done(): // check for the end before reading the findings
			v.Ended = true
		default:
		}
		if rec := r.Status().Record; rec != nil {
			ended = rec
		}
		for _, m := range r.Findings() {
			all = append(all, runFinding{ID: m.ID, Seq: m.Seq, Contract: m.Contract, Campaign: m.Campaign, Kind: m.Kind, Title: m.Title, Severity: m.Severity.String(), Case: m.Case, Action: m.Action})
		}
		if e, ok := r.Explored(); ok {
			v.Mode = e.Mode
		}
	} else {
		rec, err := s.storedRun(id)
		if err != nil {
			return nil, err
		}
		v.RunID, v.Ended, ended = rec.RunID, !goesOn(&rec), &rec
		for i, f := range rec.Findings {
			all = append(all, runFinding{ID: f.ID, Seq: int64(i + 1), Contract: f.Contract, Campaign: f.Campaign, Kind: f.Kind, Title: f.Title, Severity: f.Severity.String(), Case: f.First, Flaky: &f.Flaky})
		}
		v.Mode = s.modeOf(rec)
	}
	var failed int64
	for _, x := range ended.Campaigns {
		failed += x.Cases.Fail
	}
	if v.Total = len(all); v.Ended && v.Total == 0 && failed > 0 {
		v.Warnings = []string{diag.Plural(failed, "failing case") + ", not grouped into findings yet: thresh run --resume " + v.RunID + " continues the run"}
	}
	for _, f := range all {
		v.Next = max(v.Next, f.Seq)
		if f.Seq > since {
			v.Findings = append(v.Findings, f)
		}
	}
	return v, nil
}
