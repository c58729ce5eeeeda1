package flakestorm

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/contract/flakestorm/record"
	"github.com/thresh-dev/thresh/contract/flakestorm/verify"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/fault"
)

// session is a session to be replayed.
type session struct {
	config.Session
	recorded []fault.Recorded
	checks   []config.Invariant
}

func (s *session) label() string {
	if s.Name != "" && s.Name != s.ID {
		return s.ID + " (" + s.Name + ")"
	}
	return s.ID
}

// history returns what was said before the input, for agents that accept a history.
func (s *session) history(p *agentcall.Plan) []agentcall.Message {
	if !p.TakesHistory() {
		return nil // reported at compile time
	}
	var list []agentcall.Message
	for _, m := range s.Context {
		list = append(list, agentcall.Message{Role: m.Role, Text: m.Content})
	}
	return list
}

// sessions reads the sessions of the document, of the files that it names, and of the paths that
// the user gave.
func (b *builder) sessions() {
	if !slices.Contains(b.c.phases, PhaseReplay) {
		return
	}
	paths := b.set.Options[OptReplay]
	only := b.set.Get(OptOnly, "") == "true"
	if only && len(paths) == 0 {
		b.fail(diag.Diagnostic{Code: "flakestorm.option"}, "--%s needs --%s: there would be no session to replay", OptOnly, OptReplay)
		return
	}
	if !only {
		b.configured()
	}
	for _, path := range paths {
		b.replayPath(path)
	}
	if b.c.chosen && len(b.c.sessions) == 0 && len(b.c.phases) == 1 && !b.list.HasErrors() {
		b.vacuous("name sessions under replays.sessions, or a file or folder of replay files", "there is no session to replay")
	}
}

// configured reads the sessions that the document contains or names.
func (b *builder) configured() {
	for i := range b.cfg.Replays.Sessions {
		s := b.cfg.Replays.Sessions[i]
		if s.File == "" {
			b.session(s, b.spec.Path, filepath.Dir(b.spec.Path))
			continue
		}
		name := b.resolve(s.File)
		b.sessionFile(name, diag.Diagnostic{Pos: s.At.In(b.spec.Path), Path: fmt.Sprintf("replays.sessions[%d].file", i)})
	}
	for i, s := range b.cfg.Replays.Sources {
		if s.Type == "langsmith" && !s.AutoImport {
			continue // only imported by a command
		}
		b.fail(diag.Diagnostic{
			Code: "flakestorm.live-source", Level: diag.Warning, Pos: s.At.In(b.spec.Path), Path: fmt.Sprintf("replays.sources[%d]", i),
			Hint: "thresh flakestorm replay run --from-langsmith fetches it into files; then name these under replays.sessions",
		}, "a run does not read a live source, since its cases must be the same each time")
	}
}

// replayPath reads a file, or the replay files of a folder: YAML, then JSON, each sorted by name.
func (b *builder) replayPath(path string) {
	at := diag.Diagnostic{Code: "flakestorm.session"}
	names, err := b.set.List(path)
	if err != nil { // not a folder
		b.sessionFile(path, at)
		return
	}
	found := false
	for _, ext := range []string{".yaml", ".yml", ".json", ".jsonl"} {
		for _, n := range names {
			if filepath.Ext(n) == ext {
				found = true
				b.sessionFile(filepath.Join(path, n), at)
			}
		}
	}
	if !found {
		b.fail(at, "the folder %s holds no replay file (.yaml, .yml, .json or .jsonl)", path)
	}
}

func (b *builder) sessionFile(path string, at diag.Diagnostic) {
	data, err := b.readAt(path)
	if err != nil {
		at.Code = "flakestorm.session"
		b.fail(at, "reading the session: %v", err)
		return
	}
	list, diags := record.Read(path, data, config.Options{Getenv: b.k.getenv, Check: b.set.Check})
	b.list = append(b.list, diags...)
	if diags.HasErrors() {
		return
	}
	for _, s := range list {
		b.session(s, path, filepath.Dir(path))
	}
}

// session adds a session with the checks of its contract.
func (b *builder) session(s config.Session, file, dir string) {
	out := session{Session: s}
	at := diag.Diagnostic{Code: "flakestorm.session", Pos: s.At.In(file), Level: diag.Warning}
	for i := range s.Tools {
		out.recorded = append(out.recorded, recordedOf(&s.Tools[i]))
	}
	if out.Model = cmp.Or(s.Model, b.cfg.Replays.Model); out.Model == config.ModelRecorded {
		for i := range s.Models {
			r := recordedOf(&s.Models[i])
			r.Model, r.Asked = true, s.Models[i].Asked
			out.recorded = append(out.recorded, r)
		}
		at := diag.Diagnostic{Code: "flakestorm.session", Pos: at.Pos}
		switch {
		case len(s.Models) == 0:
			at.Hint = "thresh flakestorm replay record keeps the model's replies; model: live asks the real model"
			b.fail(at, "%s: model: recorded needs model_responses, and the session has none", s.ID)
		case !b.c.reach.own:
			at.Hint = "have Thresh start the agent by agent.command; model: live asks the real model"
			b.fail(at, "%s: recorded replies cannot replace the model, as Thresh cannot see the agent's calls to it", s.ID)
		}
	}
	if len(out.recorded) > 0 && !b.c.reach.own {
		at.Hint = "have Thresh start the agent by agent.command, or name a Python agent's tools"
		b.fail(at, "%s: recorded responses cannot replace the agent's tools, as Thresh cannot see its calls; the real tools answer", s.ID)
		out.recorded = nil
	} else if len(out.recorded) > 0 && b.c.reach.python && !b.c.reach.tools {
		at.Hint = "such as agent.tools: [my_agent:search]"
		b.fail(at, "%s: the recorded tool responses answer only calls over HTTP: agent.tools and agent.tool_registry name no tools", s.ID)
	}
	if len(s.Context) > 0 && !b.c.agent.TakesHistory() {
		at.Hint = "put {history} into request_template"
		b.fail(at, "%s: the agent cannot receive the context of the session", s.ID)
	}
	out.checks = b.checksOf(&s, at, dir)
	for _, x := range b.c.sessions {
		if x.ID == s.ID {
			at.Hint = ""
			b.fail(at, "the session id %q is used twice", s.ID)
		}
	}
	b.c.sessions = append(b.c.sessions, out)
}

// recordedOf returns a response in the form in which it answers in a replay.
func recordedOf(t *config.ToolResponse) fault.Recorded {
	r := fault.Recorded{Tool: t.Tool, Status: t.Status, ContentType: t.ContentType, Raises: t.Raises, Ended: fault.Ending(t.Connection), Latency: t.Latency}
	switch {
	case t.Text && !utf8.ValidString(t.Body):
		r.Bytes = []byte(t.Body)
	case t.Text:
		r.Response, _ = json.Marshal(t.Body) // a string cannot fail
	case t.Body != "":
		r.Response = json.RawMessage(t.Body)
	}
	return r
}

// checksOf returns the invariants of a session's contract: the document's contract if the name is
// equal or the session names none, otherwise one from a file of its own.
func (b *builder) checksOf(s *config.Session, at diag.Diagnostic, dir string) []config.Invariant {
	k := b.cfg.Contract
	if k == nil || k.Name != s.Contract && s.Contract != "default" {
		var other *config.Contract
		for _, name := range []string{filepath.Join(dir, s.Contract), b.resolve(s.Contract)} {
			if s.Contract == "default" || !strings.Contains(s.Contract, ".") {
				break
			}
			data, err := b.readAt(name)
			if err != nil {
				continue
			}
			x, diags := config.DecodeContract(name, data, config.Options{Getenv: b.k.getenv, Check: b.set.Check})
			b.list = append(b.list, diags...)
			other = x
			break
		}
		if other == nil && s.Contract != "default" {
			names := []string{}
			if k != nil {
				names = append(names, k.Name)
			}
			if b.set.Check { // existing tools continue without it
				at.Level = diag.Error
			}
			at.Hint = diag.DidYouMean(s.Contract, names)
			b.fail(at, "%s: the contract %q is not found, neither as the document's name nor as a file: the session would hold if the agent answers at all", s.ID, s.Contract)
			return nil
		}
		k = other
	}
	if k == nil {
		at.Hint = "name a contract in the session"
		b.fail(at, "%s has no contract: it holds if the agent answers at all", s.ID)
		return nil
	}
	var list []config.Invariant
	for _, v := range k.Invariants {
		switch {
		case !(activity{}).applies(v.When), len(v.Probes) > 0, verify.Aggregate(&v):
			continue // for another input, or for chaos
		case auto(&v):
			continue // it compares with a run without a recording, and there is none
		}
		list = append(list, v)
	}
	if len(list) == 0 {
		b.fail(at, "%s: no invariant of contract %s can be checked on a replay; the session holds if the agent answers", s.ID, k.Name)
	}
	return list
}

// asSession returns a failing case as a session for replay: the input that failed, what was said
// before it in the same conversation, and the tools' answers to it.
func (c *Campaign) asSession(at campaign.Case, o campaign.Outcome, x *transcript) (config.Session, bool) {
	about := x.about()
	if about < 0 || x.Turns[about].Prompt == "" {
		return config.Session{}, false
	}
	u := &x.Turns[about]
	s := c.sessionOf(u)
	s.ID, s.Name, s.Source, s.Expected = fmt.Sprintf("export-%d", at.Index), x.Case, "thresh", o.Title
	for i := u.First; i < about; i++ {
		s.Context = append(s.Context, config.Message{Role: "user", Content: x.Turns[i].Prompt}, config.Message{Role: "assistant", Content: x.Turns[i].Reply.Text})
	}
	here := x.exchanges()[about]
	record.Put(&s, slices.DeleteFunc(slices.Clone(x.answers), func(a fault.Exchange) bool {
		return x.Faults.Refused(a.Call) || !slices.ContainsFunc(here, func(e fault.Exchange) bool { return e.Call == a.Call })
	}))
	return s, true
}

// sessionOf returns a turn as a session.
func (c *Campaign) sessionOf(u *turn) config.Session {
	s := config.Session{Input: u.Prompt, Contract: "default"}
	if c.cfg.Contract != nil {
		s.Contract = c.cfg.Contract.Name
	}
	if u.Reply.OK() {
		s.Reply = u.Reply.Text
	}
	return s
}
