package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/store"
)

// side is a server, its client, and what its use cases are asked.
type side struct {
	t       *testing.T
	store   *store.Store
	session *sdk.ClientSession
	asked   app.Draft
	checked app.Checked
	fault   error // of all use cases
	begun   *background
	times   int
	notes   chan *sdk.ProgressNotificationParams
	logs    chan any
}

func (s *side) Read(string, int64) ([]byte, error) { return []byte("content"), s.fault }
func (s *side) Compile(context.Context, campaign.Draft) ([]campaign.Any, diag.List, error) {
	return nil, nil, s.fault
}
func (s *side) Check(_ context.Context, d app.Draft) (app.Checked, error) {
	s.asked = d
	return s.checked, s.fault
}
func (s *side) Start(_ context.Context, d app.Draft) (campaign.Background, error) {
	s.asked = d
	return s.begun, s.fault
}
func (s *side) Replay(_ context.Context, finding string, job app.ReplayJob) (app.Replayed, error) {
	s.times = job.Times
	return app.Replayed{RunID: "r1", Finding: campaign.Finding{ID: finding, Title: "it breaks"}, Rerun: campaign.Rerun{Tried: job.Times, Same: job.Times - 1}}, s.fault
}

// background is a run that ends on request.
type background struct {
	mu      sync.Mutex
	id      string
	status  campaign.Status
	found   []campaign.Seen
	mode    string
	done    chan struct{}
	changed chan struct{}
	stop    sync.Once
}

func newBackground(id string) *background {
	return &background{id: id, done: make(chan struct{}), changed: make(chan struct{}), status: campaign.Status{Phase: "running", Campaign: "words", Index: 1, Of: 2, Planned: 4}}
}

func (b *background) ID() string            { return b.id }
func (b *background) Done() <-chan struct{} { return b.done }
func (b *background) Stop()                 { b.end(campaign.Record{RunID: b.id, Stopped: "interrupted"}) }
func (b *background) Explored() (campaign.Exploration, bool) {
	return campaign.Exploration{Mode: b.mode}, b.mode != ""
}
func (b *background) Changed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changed
}
func (b *background) Status() campaign.Status {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.status
}
func (b *background) Findings() []campaign.Seen {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.found
}

func (b *background) change(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
	close(b.changed)
	b.changed = make(chan struct{})
}

func (b *background) end(rec campaign.Record) {
	b.stop.Do(func() {
		b.change(func() { b.status.Phase, b.status.Record = "done", &rec })
		close(b.done)
	})
}

// format is a contract with a tool, a prompt and a document of its own.
type format struct{}

func (format) Name() string               { return "words" }
func (format) Summary() string            { return "words, one a line" }
func (format) Options() []campaign.Option { return nil }
func (format) Detect(campaign.Spec) bool  { return true }
func (format) Starter(string) []campaign.File {
	return []campaign.File{{Name: "words.txt", Data: []byte("noon\n")}, {Name: "words.bin", Data: []byte{0, 1}}}
}
func (format) Compile(context.Context, campaign.Spec, campaign.Settings) ([]campaign.Any, diag.List) {
	return nil, nil
}
func (format) Formats() []campaign.Format {
	return []campaign.Format{{Name: "words", Summary: "a list of words", Schema: func() []byte { return []byte(`{"type":"string"}`) },
		Example: func() campaign.File { return campaign.File{Name: "all.txt", Data: []byte("level\n")} }}}
}
func (format) Tools(d campaign.ToolDesk) campaign.Toolbox {
	return campaign.Toolbox{
		Instructions: "words_count counts words.",
		Tools: []campaign.Tool{{Name: "words_count", Lenient: true, Params: []campaign.Param{{Name: "n", Kind: "integer"}}, Call: func(ctx context.Context, c campaign.ToolCall) (any, error) {
			n, ok := c.Integer("n")
			text, err := d.Read("words.txt", 100)
			return map[string]any{"n": n, "given": ok, "bytes": len(text)}, err
		}}},
		Prompts: []campaign.Prompt{{Name: "find-words", Title: "Find words", Argument: "letter", Text: "Find words with %s."}},
		Mode:    func(rec campaign.Record) string { return strings.Join(rec.Hints, " ") },
	}
}

// open connects a client to a server with a stored run.
func open(t *testing.T) *side {
	s := &side{t: t, begun: newBackground("r-1"), notes: make(chan *sdk.ProgressNotificationParams, 100), logs: make(chan any, 100)}
	var err error
	if s.store, err = store.Open(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	server := New(Config{Use: s, Store: s.store, Version: "1", Contracts: []campaign.Contract{format{}}})
	here, there := sdk.NewInMemoryTransports()
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- server.Serve(ctx, there) }()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { s.notes <- r.Params },
		//nolint:staticcheck // deprecated since 2026-07-28, and what clients of the earlier protocol read
		LoggingMessageHandler: func(_ context.Context, r *sdk.LoggingMessageRequest) { s.logs <- r.Params.Data },
	})
	if s.session, err = client.Connect(t.Context(), here, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.session.Close()
		server.Close()
		stop()
		<-over
		s.store.Close()
	})
	return s
}

// finished stores a run with findings.
func (s *side) finished(rec campaign.Record) string {
	s.t.Helper()
	w, err := s.store.Begin(store.Manifest{Identities: []campaign.Identity{{Contract: "words", Name: "list", Digest: "d"}}})
	if err != nil {
		s.t.Fatal(err)
	}
	rec.RunID = w.RunID()
	if err := errors.Join(w.Finish(rec, "done", time.Second), w.Close()); err != nil {
		s.t.Fatal(err)
	}
	return rec.RunID
}

// call is the text of a tool's answer.
func (s *side) call(name string, args map[string]any) (text string, failed bool) {
	s.t.Helper()
	p := &sdk.CallToolParams{Name: name, Arguments: args}
	if args["progress"] != nil {
		delete(args, "progress")
		p.SetProgressToken("p")
	}
	r, err := s.session.CallTool(s.t.Context(), p)
	if err != nil {
		s.t.Fatal(err)
	}
	return r.Content[0].(*sdk.TextContent).Text, r.IsError
}

func first(text string, _ bool) string { return text }

// What a model asks for wrongly is answered with what is wrong and what it may have
// meant, in a form that it reads.
func TestCallsThatAreRefused(t *testing.T) {
	s := open(t)
	for _, c := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"run_spek", nil, `unknown tool: run_spek; did you mean run_spec?`},
		{"run_status", map[string]any{}, `missing required parameter: run_id`},
		{"run_status", map[string]any{"run_id": 7}, `run_id must be a string`},
		{"run_status", map[string]any{"run_id": "r-9"}, `r-9`},
		{"run_status", map[string]any{"run_id": "latest", "wait_sec": 1}, `run_status has no parameter \"wait_sec\"; did you mean wait_secs?`},
		{"run_status", map[string]any{"run_id": "latest", "wait_secs": -1}, `wait_secs must be from 0 to 86400, got -1`},
		{"run_status", map[string]any{"run_id": "latest", "wait_secs": "long"}, `wait_secs must be an integer, got \"long\"`},
		{"run_findings", map[string]any{"run_id": "latest", "since_seqno": 1.5}, `since_seqno must be an integer, got 1.5`},
		{"check_spec", map[string]any{}, `give either path or text`},
		{"check_spec", map[string]any{"path": "a", "text": "b"}, `give either path or text`},
		{"check_spec", map[string]any{"path": "a", "name": "b"}, `name goes with text only`},
		{"check_spec", map[string]any{"path": "a", "strict": "yes"}, `strict must be true or false, got \"yes\"`},
		{"check_spec", map[string]any{"text": "a", "options": map[string]any{"x": map[string]any{}}}, `options.x must be a string, a number, true or false, or a list of these`},
		{"run_spec", map[string]any{"text": "a", "max_errors": "many"}, `max_errors: `},
		{"run_spec", map[string]any{"text": "a", "cases": -5}, `cases must be from 0 to `},
		{"replay", map[string]any{"finding": "F-1", "times": 0}, `times must be at least 1`},
		{"replay", map[string]any{"finding": "F-1", "times": 1001}, `times must be from 0 to 1000, got 1001`},
		{"explain_finding", map[string]any{"finding": "F-1"}, `F-1`},
	} {
		text, failed := s.call(c.tool, c.args)
		if !failed || !strings.HasPrefix(text, `{"error":"`) || !strings.Contains(text, c.want) {
			t.Errorf("%s %v: %s", c.tool, c.args, text)
		}
	}
	long := strings.Repeat("é", 30_000)
	for text, want := range map[string]string{ // what was sent is not sent back whole, nor cut within a character
		first(s.call("run_"+long, nil)): `unknown tool: run_` + strings.Repeat("é", 2039) + `…`,
		first(s.call("run_status", map[string]any{"run_id": "latest", "wait_secs": long})): `wait_secs must be an integer, got \"` + strings.Repeat("é", 39) + `…`,
	} {
		if text != `{"error":"`+want+`"}` {
			t.Errorf("a long argument: %.200s", text)
		}
	}
	if text, failed := s.call("words_count", map[string]any{"n": "x", "m": 1}); failed || text != `{"bytes":7,"given":false,"n":0}` {
		t.Errorf("a lenient tool: %s", text)
	}
	s.fault = diag.List{{Code: "words.word", Pos: diag.Pos{File: "words.txt", Line: 2, Col: 1}, Message: "must be one word"}}
	if text, failed := s.call("check_spec", map[string]any{"text": "a b"}); !failed || !strings.Contains(text, `"diagnostics":[{`) || !strings.Contains(text, `"line":2`) {
		t.Errorf("a document that cannot be looked at: %s", text)
	}
}

// A document is checked and run with what the call says of it.
func TestDocumentsOfCalls(t *testing.T) {
	s := open(t)
	s.checked = app.Checked{
		Diagnostics: diag.List{{Code: "words.word", Level: diag.Warning, Message: "doubtful"}},
		Campaigns:   []app.Planned{{Contract: "words", Name: "list", Cases: 3, InWords: "at least 3 cases", Mode: "both"}, {Contract: "words", Name: "alone", Mode: "model_only", Alone: true}, {Contract: "words", Name: "last", Mode: "both"}},
	}
	args := map[string]any{"text": "noon", "name": "w.txt", "contract": "words", "seed": 7, "options": map[string]any{"many": []any{"a", 2}, "flag": true}}
	for strict, result := range map[bool]string{false: "pass", true: "errors"} {
		args["strict"] = strict
		text, failed := s.call("check_spec", args)
		if failed || !strings.Contains(text, `"result":"`+result+`"`) || !strings.Contains(text, `{"contract":"words","name":"list","cases":3,"cases_in_words":"at least 3 cases","mode":"both"}`) || !strings.HasSuffix(text, `"mode":"model_only"}`) {
			t.Errorf("strict %v: %s", strict, text)
		}
		if d := s.asked; string(d.Text) != "noon" || d.Name != "w.txt" || d.Contract != "words" || *d.Seed != 7 || d.Strict != strict || fmt.Sprint(d.Options) != "map[flag:[true] many:[a 2]]" {
			t.Errorf("asked for %+v", d)
		}
	}
	s.checked.Campaigns = slices.Delete(s.checked.Campaigns, 1, 2)
	if text, failed := s.call("check_spec", args); failed || !strings.HasSuffix(text, `"mode":"both"}`) {
		t.Errorf("none explores its model alone: %s", text)
	}
	text, failed := s.call("run_spec", map[string]any{"path": "words.txt", "cases": 9, "time_secs": 3, "max_errors": "5%"})
	if failed || !strings.HasPrefix(text, `{"run_id":"r-1","state":"running","phase":"running"`) {
		t.Errorf("a run: %s", text)
	}
	if d := s.asked; d.Path != "words.txt" || d.Cases != 9 || d.Time != 3*time.Second || d.MaxErrors == nil {
		t.Errorf("asked for %+v", d)
	}
}

// A client follows a run: it sees the progress, then findings as they come, and
// gets its result; the others learn that it has ended.
func TestFollowedRun(t *testing.T) {
	s := open(t)
	if _, err := s.session.ListTools(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	_ = s.session.SetLoggingLevel(t.Context(), &sdk.SetLoggingLevelParams{Level: "info"}) //nolint:staticcheck // what clients of today set
	s.begun.mode = "both"
	s.call("run_spec", map[string]any{"text": "noon"})
	s.begun.change(func() {
		s.begun.status.Done, s.begun.status.Failed, s.begun.status.Skipped, s.begun.status.Errors = 3, 1, 1, 1
		for i := range 3 {
			s.begun.found = append(s.begun.found, campaign.Seen{Seq: int64(i + 1), ID: fmt.Sprint("F-", i+1), Severity: campaign.SeverityHigh})
		}
	})
	text, _ := s.call("run_status", map[string]any{"run_id": "r-1"})
	var now runState
	if err := json.Unmarshal([]byte(text), &now); err != nil || now.State != "running" || now.Cases != (campaign.Counts{Planned: 4, Run: 3, Fail: 1, Skip: 1, Error: 1}) || now.Findings != 3 || now.Mode != "both" {
		t.Errorf("%v %s", err, text)
	}
	text, _ = s.call("run_findings", map[string]any{"run_id": "r-1", "since_seqno": 2})
	if !strings.Contains(text, `"findings":[{"id":"F-3","seqno":3,`) || !strings.Contains(text, `"next_seqno":3,"total_findings":3,"ended":false`) || strings.Contains(text, "flaky") {
		t.Errorf("findings after the second: %s", text)
	}
	answer := make(chan string)
	go func() {
		text, _ := s.call("run_status", map[string]any{"run_id": "r-1", "wait_secs": 60, "progress": true})
		answer <- text
	}()
	if note := <-s.notes; note.Progress != 0.75 || note.Total != 2 || note.Message != "running words: 3 of 4 cases, 1 failed" {
		t.Errorf("progress: %+v", note)
	}
	s.begun.change(func() {}) // no further: nothing is said
	s.begun.change(func() { s.begun.status.Index, s.begun.status.Phase = 2, "confirming" })
	if note := <-s.notes; note.Progress != 2 {
		t.Errorf("progress: %+v", note)
	}
	s.begun.end(campaign.Record{RunID: "r-1", Verdict: "fail", Complete: true, Campaigns: []campaign.CampaignRecord{{Cases: campaign.Counts{Run: 3, Fail: 1}}, {Cases: campaign.Counts{Run: 2, Pass: 2}}}})
	if err := json.Unmarshal([]byte(<-answer), &now); err != nil || now.State != "done" || now.Verdict != "fail" || now.Cases.Run != 5 || now.Cases.Pass != 2 || !*now.Complete {
		t.Errorf("%v %+v", err, now)
	}
	if said := fmt.Sprint(<-s.logs); !strings.Contains(said, "verdict:fail") {
		t.Errorf("said of the end: %s", said)
	}
}

// A run that has ended without findings, although cases failed, has more to say.
func TestFindingsThatAreNotGrouped(t *testing.T) {
	s := open(t)
	s.call("run_spec", map[string]any{"text": "noon"})
	s.begun.end(campaign.Record{RunID: "r-1", Verdict: "fail", Stopped: "interrupted", Campaigns: []campaign.CampaignRecord{{Cases: campaign.Counts{Run: 3, Fail: 1}}}})
	if text, _ := s.call("run_findings", map[string]any{"run_id": "r-1"}); !strings.Contains(text, `"ended":true,"warnings":["1 failing case, not grouped into findings yet: thresh run --resume r-1 continues the run"]`) {
		t.Error(text)
	}
}

// A run whose caller has gone is stopped; one that cannot begin is an error.
func TestRunsThatEndEarly(t *testing.T) {
	s := open(t)
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan error)
	p := &sdk.CallToolParams{Name: "run_spec", Arguments: map[string]any{"text": "noon", "wait": true}}
	p.SetProgressToken("p")
	go func() {
		_, err := s.session.CallTool(ctx, p)
		gone <- err
	}()
	<-s.notes // it waits
	leave()
	<-s.begun.Done()
	if err := <-gone; err == nil {
		t.Error("a cancelled call has an answer")
	}
	if text, _ := s.call("run_status", map[string]any{"run_id": "r-1"}); !strings.Contains(text, `"state":"interrupted"`) {
		t.Errorf("a stopped run: %s", text)
	}
	s.fault = diag.Environment("the disk is full")
	if text, failed := s.call("run_spec", map[string]any{"text": "noon"}); !failed || !strings.Contains(text, "the disk is full") {
		t.Errorf("a run that cannot begin: %s", text)
	}
}

// A run that another process executes goes on, and one that stopped early has ended.
func TestRunsOfOtherProcesses(t *testing.T) {
	s := open(t)
	s.finished(campaign.Record{Verdict: "pass", Stopped: "time"})
	if text, _ := s.call("run_findings", map[string]any{"run_id": "latest"}); !strings.Contains(text, `"ended":true`) {
		t.Errorf("findings of a run that its limit ended: %s", text)
	}
	w, err := s.store.Begin(store.Manifest{Identities: []campaign.Identity{{Contract: "words", Name: "list", Digest: "d"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range [][2]string{{`"state":"running"`, `"ended":false`}, {`"state":"interrupted"`, `"ended":true`}} {
		status, _ := s.call("run_status", map[string]any{"run_id": w.RunID()})
		found, _ := s.call("run_findings", map[string]any{"run_id": w.RunID()})
		if !strings.Contains(status, want[0]) || strings.Contains(status, "verdict") != (want[1] == `"ended":true`) || !strings.Contains(found, want[1]) {
			t.Errorf("a run of another process: %s, %s, want %v", status, found, want)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Runs that this server did not begin are read from the store, under all that
// names them.
func TestStoredRuns(t *testing.T) {
	s := open(t)
	f := campaign.Finding{ID: "F-0123456789", Contract: "words", Campaign: "list", Kind: "asymmetry", Title: "reads differently", Flaky: true}
	id := s.finished(campaign.Record{Hints: []string{"words-mode"}, Verdict: "fail", Complete: true, Findings: []campaign.Finding{f}, Campaigns: []campaign.CampaignRecord{{Contract: "words", Name: "list"}}})
	for _, name := range []string{id, id[:len(id)-1], "latest"} {
		text, failed := s.call("run_status", map[string]any{"run_id": name})
		if failed || !strings.HasPrefix(text, `{"run_id":"`+id+`","state":"done"`) || !strings.Contains(text, `"mode":"words-mode"`) {
			t.Errorf("%s: %s", name, text)
		}
	}
	if text, _ := s.call("run_findings", map[string]any{"run_id": "latest"}); !strings.Contains(text, `"flaky":true`) || !strings.Contains(text, `"ended":true,"mode":"words-mode"`) {
		t.Errorf("findings: %s", text)
	}
	if text, failed := s.call("explain_finding", map[string]any{"finding": f.ID}); failed || !strings.Contains(text, `"text":"`) || !strings.Contains(text, "reads differently") {
		t.Errorf("explained: %s", text)
	}
	if text, _ := s.call("replay", map[string]any{"finding": f.ID, "times": 3}); s.times != 3 || !strings.Contains(text, `"shows_again":true,"tried":3,"same":2`) {
		t.Errorf("replayed: %s", text)
	}
	for uri, want := range map[string]string{
		"thresh://runs": id, "thresh://runs/latest/report/json": `"reads differently"`, "thresh://runs/" + id + "/findings/" + f.ID: "reads differently",
		"thresh://schemas/words": `{"type":"string"}`, "thresh://examples/words": "level", "thresh://starters/words": `[{"name":"words.txt","text":"noon\n"},{"name":"words.bin","base64":"AAE="}]`,
		"thresh://runs/latest/report/pdf": "!", "thresh://runs/latest/findings/F-9": "!", "thresh://runs/latest/other/x": "!", "thresh://runs/latest": "!", "thresh://runs/%zz/report/json": "!",
	} {
		r, err := s.session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if (err != nil) != (want == "!") || err == nil && !strings.Contains(r.Contents[0].Text, want) {
			t.Errorf("%s: %v %+v", uri, err, r)
		}
	}
	p, err := s.session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "explain-finding", Arguments: map[string]string{"finding": f.ID}})
	if err != nil || !strings.Contains(p.Messages[0].Content.(*sdk.TextContent).Text, "reads differently") {
		t.Errorf("%v %+v", err, p)
	}
	if _, err = s.session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "find-words", Arguments: map[string]string{"word": "q"}}); err == nil || !strings.Contains(err.Error(), "needs the argument letter") {
		t.Errorf("a prompt without its argument: %v", err)
	}
	for finding, want := range map[string]string{"": "needs the argument finding", "F-9": "F-9"} {
		_, err = s.session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "explain-finding", Arguments: map[string]string{"finding": finding}})
		var e *jsonrpc.Error
		if !errors.As(err, &e) || e.Code != jsonrpc.CodeInvalidParams || !strings.Contains(e.Message, want) {
			t.Errorf("explaining the finding %q: %v", finding, err)
		}
	}
	if p, err = s.session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "find-words", Arguments: map[string]string{"letter": "q"}}); err != nil || p.Messages[0].Content.(*sdk.TextContent).Text != "Find words with q." {
		t.Errorf("%v %+v", err, p)
	}
	for argument, want := range map[string]string{"run": "latest", "format": "junit"} {
		ref := &sdk.CompleteReference{Type: "ref/resource", URI: reportTemplate}
		c, err := s.session.Complete(t.Context(), &sdk.CompleteParams{Ref: ref, Argument: sdk.CompleteParamsArgument{Name: argument, Value: want[:1]}})
		if err != nil || !slices.Contains(c.Completion.Values, want) || slices.Contains(c.Completion.Values, "html") {
			t.Errorf("%s: %v %+v", argument, err, c)
		}
	}
	about := &sdk.CompleteReference{Type: "ref/prompt", Name: "explain-finding"}
	if c, err := s.session.Complete(t.Context(), &sdk.CompleteParams{Ref: about, Argument: sdk.CompleteParamsArgument{Name: "finding", Value: f.ID[:3]}}); err != nil || !slices.Equal(c.Completion.Values, []string{f.ID}) {
		t.Errorf("a finding: %v %+v", err, c)
	}
}

// Ended runs beyond what is kept at hand leave the list, those that go on stay.
func TestKeptRuns(t *testing.T) {
	var k runs
	going := newBackground("going")
	k.add(going)
	for i := range keptRuns + 5 {
		b := newBackground(fmt.Sprint(i))
		b.Stop()
		k.add(b)
	}
	if len(k.all()) != keptRuns || k.find("going") != going || k.find("5") != nil || k.find(fmt.Sprint(keptRuns+4)) == nil {
		t.Errorf("%d kept", len(k.all()))
	}
}

// A session of a script that has sent all it wants ends once it has its answers.
func TestScriptsGetTheirAnswers(t *testing.T) {
	s := &side{t: t, begun: newBackground("r-1")}
	s.begun.end(campaign.Record{RunID: "r-1"})
	server := New(Config{Use: s, Contracts: []campaign.Contract{format{}}})
	in := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run_spec","arguments":{"text":"noon","wait":true}}}
{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}
`
	var out bytes.Buffer
	_ = server.Serve(t.Context(), Stdio(strings.NewReader(in), &out)) // the end of the input
	server.Close()
	if !strings.Contains(out.String(), `"id":2,`) || !strings.Contains(out.String(), `r-1`) {
		t.Errorf("answers:\n%s", out.String())
	}
}
