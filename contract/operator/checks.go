package operator

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/judge"
	"github.com/thresh-dev/thresh/port/sut"
)

// checks reads the judges that need more than the text of a reply, and the models that they ask.
func (c *compiler) checks(camp *Campaign) {
	for i := range camp.spec.Judges {
		j := &camp.spec.Judges[i]
		if j.node == nil {
			continue
		}
		if c.k.checks == nil {
			c.report(diag.Error, "unknown-word", j.path, "a judge of type %s cannot be read here", j.Type)
			return
		}
		n := *j.node // the judge's name and model are handled here
		n = n.WithMembers(slices.DeleteFunc(slices.Clone(n.Members()), func(m doctree.Member) bool { return m.Key.Text == "system" }))
		check, found := c.k.checks(c.doc.Path, c.doc.Data, camp.spec.doc, &n, j.path)
		for k := range found {
			_, code, _ := strings.Cut(found[k].Code, ".")
			if found[k].Code = "operator." + code; code == "unknown-key" { // unknown keys are errors in this format
				found[k].Level = diag.Error
			}
		}
		if c.list = append(c.list, found...); found.HasErrors() {
			continue
		}
		if j.check = check; j.Model != "" {
			j.model = c.plan(besideDocument(c.doc.Path, j.Model), c.set.Read)
		}
	}
}

// traced reports whether a judge needs more than the texts of replies.
func (c *Campaign) traced() bool {
	return slices.ContainsFunc(c.spec.Judges, func(j Judge) bool { return j.check != nil })
}

// timed reports whether a judge measures the duration of calls.
func (c *Campaign) timed() bool {
	return slices.ContainsFunc(c.spec.Judges, func(j Judge) bool { return j.Type == "latency" })
}

// maxTools limits the names of tools that are kept, of a case and of a run.
const maxTools = 100

// mentions yields the tool calls that judges name, with the judge's id.
func (c *Campaign) mentions(yield func(string, judge.Mention) bool) {
	for _, j := range c.spec.Judges {
		if j.check == nil {
			continue
		}
		for _, m := range j.check.Mentions() {
			if m.Kind == judge.Tool && !yield(j.ID, m) {
				return
			}
		}
	}
}

// called returns the names of the tools called in a conversation that lacks a tool call named by a
// judge.
func (c *Campaign) called(calls []call) (list []string, lacks bool) {
	for _, m := range c.mentions {
		r := c.record(calls)
		if lacks = !r.Blind && !m.In(r.Trace); !lacks {
			continue
		}
		for _, e := range r.Events {
			if e.Kind == judge.Tool && !strings.Contains(e.Name, "\n") && len(e.Name) <= 200 {
				list = withTools(list, []string{e.Name})
			}
		}
		return list, true
	}
	return nil, false
}

// withTools adds names to a copy of a sorted list.
func withTools(list, more []string) []string {
	for _, name := range more {
		if at, there := slices.BinarySearch(list, name); !there && name != "" && len(list) < maxTools {
			list = slices.Insert(slices.Clone(list), at, name)
		}
	}
	return list
}

// unseen describes the tools that judges name but no case called.
func (c *Campaign) unseen(s *state) (list []string) {
	var all judge.Trace
	for _, name := range s.tools {
		all.Events = append(all.Events, judge.Event{Kind: judge.Tool, Name: name})
	}
	for id, m := range c.mentions {
		if text := m.Missing(s.tools, "they show no call of any tool"); text != "" && !s.named && s.tally.judged > 0 && !m.In(all) {
			list = append(list, id+": "+text)
		}
	}
	return list
}

// asker is the model of a judge: its calls count like those of the system.
type asker struct {
	sut.System
	l     *systemLane
	spent spent
	calls []call
}

// Call implements [sut.System].
func (a *asker) Call(ctx context.Context, in sut.Call) (sut.Observation, error) {
	o, err := a.System.Call(ctx, in)
	if err != nil {
		return o, err
	}
	now := spent{calls: 1}
	if a.l.c.spec.Budget != nil {
		now = spentOn(string(in.Input), &o)
	}
	if a.spent.add(now); a.l.again {
		a.l.c.after.add(now)
	}
	a.calls = append(a.calls, a.l.c.callOf(string(in.Input), &o))
	return o, nil
}

// model returns the model of a judge, opened on first use.
func (l *systemLane) model(ctx context.Context, j *Judge) (*asker, error) {
	switch {
	case j.model == nil:
		return &asker{l: l}, nil
	case l.models[j.ID] != nil:
	case l.c.replay != nil:
		l.models[j.ID] = &replayed{from: l.c.replay}
	default:
		x, err := l.c.systems(ctx, j.model, l.worker)
		if err != nil {
			return nil, err
		}
		l.models[j.ID] = x
	}
	return &asker{System: l.models[j.ID], l: l}, nil
}

// consult lets a judge judge a finished conversation.
func (l *systemLane) consult(ctx context.Context, j *Judge, r *judge.Record, v *judged, took *spent) (ok bool, why string, err error) {
	switch {
	case j.Type == "latency" && !r.Timed:
		return false, "", errors.New("the recording does not say how long the call took")
	case (j.Type == "tokens" || j.Type == "cost") && !r.Counted:
		return false, "", errors.New("the system does not report the tokens it used")
	}
	m, err := l.model(ctx, j)
	if err != nil {
		return false, "", err
	}
	verdict, why := j.check.Judge(ctx, m, r)
	v.asked = append(v.asked, m.calls...)
	if took.add(m.spent); ctx.Err() != nil {
		return false, "", ctx.Err()
	}
	if verdict == judge.Unknown {
		return false, "", errors.New(why)
	}
	return verdict == judge.Pass, why, nil
}

// record is a conversation as judges see it.
func (c *Campaign) record(calls []call) *judge.Record {
	r := &judge.Record{Replied: true, Trace: judge.Trace{Blind: c.plan.Kind != sut.Chat}}
	for turn := range calls {
		o := calls[turn].observation()
		r.Prompt, r.Reply = calls[turn].Input, replyOf(&o)
		r.Latency, r.Timed = o.Elapsed, o.Elapsed > 0
		use := usageOf(&o)
		r.Tokens, r.Counted = [2]int64{use.Prompt, use.Completion}, use.Known
		r.Events = append(r.Events, judge.Event{Kind: judge.Said, Text: r.Prompt, Turn: turn})
		events, seen := toolsOf(&o)
		r.Blind = r.Blind && !seen
		for _, e := range events {
			x := judge.Event{Kind: judge.Tool, Name: e.Name, Source: judge.InChat, Arguments: e.Args, Error: e.Error, Turn: turn}
			var text string
			if x.Text = string(e.Result); json.Unmarshal(e.Result, &text) == nil {
				x.Text = text
			}
			r.Events = append(r.Events, x)
		}
		r.Events = append(r.Events, judge.Event{Kind: judge.Reply, Text: r.Reply, Turn: turn})
	}
	return r
}

// toolsOf returns the tool calls in an answer, and whether the answer would list them: an empty
// list then means that there were none.
func toolsOf(o *sut.Observation) (list []sut.Event, seen bool) {
	if o.Events != nil {
		return o.Events, true
	}
	for _, n := range valuesOf(o) {
		tools, _ := agentcall.Observe(n)
		for _, t := range tools {
			list = append(list, sut.Event{Kind: "tool", Name: t.Tool, Args: t.Args, Result: t.Result, Error: t.Error})
		}
		seen = seen || len(tools) > 0 || n.Get("tool_calls") != nil || n.Get("choices") != nil
	}
	return list, seen
}

// valuesOf returns an answer in JSON and, for a driver's line, the value in it.
func valuesOf(o *sut.Observation) []*jsontree.Node {
	doc, err := jsontree.Parse(o.Output, jsontree.Options{})
	if err != nil {
		return nil
	}
	if ok := doc.Root.Get("ok"); ok != nil {
		return []*jsontree.Node{&doc.Root, ok}
	}
	return []*jsontree.Node{&doc.Root}
}
