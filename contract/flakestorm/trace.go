package flakestorm

import (
	"encoding/json"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/fault"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/judge"
	"github.com/thresh-dev/thresh/engine/secret"
)

// trace returns what happened in a cell, in order, in the conversation that begins with turn from;
// -1: in all conversations.
func (c *cell) trace(r *fault.Report, from int) judge.Trace {
	t := judge.Trace{Secrets: c.x.c.secrets, Effects: c.x.c.cfg.Effects, Own: c.owned(r)}
	b := traceBuilder{c: c, r: r, t: &t, chat: make(map[string]bool)}
	done := 0
	for i := range c.turns {
		u := &c.turns[i]
		upto := min(max(u.Exchanges, done), len(r.Exchanges))
		if from < 0 || u.First == from {
			said := u.Prompt
			if u.Sent != "" {
				said = u.Sent
			}
			t.Events = append(t.Events, judge.Event{Kind: judge.Said, Text: said, Turn: i - max(from, 0)})
			b.addTurn(r.Exchanges[done:upto], i-max(from, 0))
			b.addListedCalls(u, i-max(from, 0))
			if holds := func(s string) bool { return strings.Contains(u.Reply.Printed[u.Reply.Earlier:], s) }; slices.ContainsFunc(c.x.c.secrets, holds) {
				t.Events = append(t.Events, judge.Event{Kind: judge.Log, Leaks: true, Turn: i - max(from, 0), At: b.at})
			}
			if u.Reply.OK() && !u.replaced {
				t.Events = append(t.Events, judge.Event{Kind: judge.Reply, Text: u.Reply.Text, Turn: i - max(from, 0), At: b.at})
			}
		}
		done = upto
	}
	t.Blind = !b.tools && !c.seesTools()
	if from >= 0 && from < len(c.turns) {
		b.allowed(c.turns[from].conversation)
	}
	return t
}

// maxOwned is the largest number of names of calls that are kept.
const maxOwned = 1000

// owned returns the names that calls have as their own, of the cell and of what came before it.
func (c *cell) owned(r *fault.Report) []string {
	list := slices.Clone(c.x.own)
	for i := range r.Exchanges {
		if e := &r.Exchanges[i]; len(list) < maxOwned && (e.Kind == fault.ToolCall || e.Kind == fault.MCPCall) && !slices.Contains(list, e.Tool) {
			list = append(list, e.Tool)
		}
	}
	return list
}

// traceBuilder makes events from what was seen on the wire.
type traceBuilder struct {
	c     *cell
	r     *fault.Report
	t     *judge.Trace
	chat  map[string]bool // calls that the turn's conversations have shown, by id
	tools bool            // a tool call was seen
	at    time.Duration
}

func (b *traceBuilder) addTurn(list []fault.Exchange, turn int) {
	asked := len(b.t.Events) // where to insert calls that the model asked for
	clear(b.chat)
	var last *fault.Exchange // the last one with the model
	for i := range list {
		e := &list[i]
		for _, v := range b.r.Events {
			if v.Call == e.Call && !v.Missed && v.Mode != "" {
				b.t.Events = append(b.t.Events, judge.Event{Kind: judge.Fault, Name: string(v.Mode), Text: v.Change, Turn: turn, At: v.At})
			}
		}
		b.at = e.At
		switch e.Kind {
		case fault.ToolCall, fault.MCPCall:
			b.tools = true
			b.t.Events = append(b.t.Events, b.call(e, turn))
		case fault.ModelCall:
			if b.addModelCalls(e, asked, turn) == asked {
				b.addUntold(last, asked, turn)
			}
			last = e
			b.t.Events = append(b.t.Events, judge.Event{
				Kind: judge.Model, Name: e.Tool, Source: judge.OnWire, Method: e.Method, Arguments: e.Request, Status: e.Status, Error: e.Error,
				Text: jsontree.Readable(string(e.Response)), Faults: e.Faults, Turn: turn, At: e.At, Unrecorded: b.r.Refused(e.Call),
			})
			asked = len(b.t.Events)
		}
	}
	b.addUntold(last, asked, turn)
}

// addUntold adds the call that a model's answer asks for and that no later request to the model
// shows, if what followed carries it out: calls of only one tool.
func (b *traceBuilder) addUntold(e *fault.Exchange, place, turn int) {
	if e == nil || e.Status >= 400 {
		return
	}
	names := make(map[string]bool)
	for _, v := range b.t.Events[place:] {
		if v.Kind == judge.Tool {
			names[v.Name] = true
		}
	}
	calls := agentcall.AskedFor(e.ContentType, e.Response)
	if len(names) != 1 || len(calls) != 1 {
		return
	}
	b.t.Events = slices.Insert(b.t.Events, place, judge.Event{
		Kind: judge.Tool, Name: calls[0].Tool, Source: judge.InChat, Arguments: calls[0].Args, Untold: true, Turn: turn, At: e.At,
	})
}

// call returns the event of a tool call.
func (b *traceBuilder) call(e *fault.Exchange, turn int) judge.Event {
	v := judge.Event{
		Kind: judge.Tool, Name: e.Tool, Source: judge.OnWire, Method: e.Method, Key: e.Key, Status: e.Status, Error: e.Error, Raised: e.Raised,
		Text: jsontree.Readable(string(e.Response)), Faults: e.Faults, Leaks: e.Leaks, Turn: turn, At: e.At, Unrecorded: b.r.Refused(e.Call),
	}
	v.Arguments, v.Texts = arguments(e)
	if u, err := url.Parse(e.URL); err == nil && e.URL != "" {
		v.Names = fault.Derived(u)
	} else {
		v.Names = e.Names
	}
	if e.Kind == fault.MCPCall {
		v.Method = ""                                                                                                    // a tool call has none
		v.Names = slices.DeleteFunc(slices.Clone(e.Names), func(n string) bool { return !strings.HasSuffix(n, e.Tool) }) // not the server's
		v.Declined = isToolError(e.Response)
	}
	for _, id := range e.Faults {
		for _, r := range b.c.j.rules {
			if r = r.Filled(); r.ID == id && slices.Contains([]fault.Mode{fault.Malicious, fault.IndirectInjection, fault.InjectionViaContext}, r.Mode) {
				v.Attack = v.Attack || r.Mode != fault.Malicious
				v.Injected = strings.TrimSpace(v.Injected + "\n" + strings.Join(append(slices.Clone(r.Payloads), r.Payload), "\n"))
			}
		}
	}
	return v
}

// arguments returns the arguments of a call as JSON. texts says that all values are strings, as in
// a query or a form.
func arguments(e *fault.Exchange) (args json.RawMessage, texts bool) {
	if e.Kind == fault.MCPCall {
		if doc, err := jsontree.Parse(e.Request, jsontree.Python()); err == nil {
			if n := doc.Root.Get("params").Get("arguments"); n != nil {
				return json.RawMessage(jsontree.Compact.Format(n)), false
			}
		}
		return nil, false
	}
	if json.Valid(e.Request) {
		return e.Request, false
	}
	query := string(e.Request)
	if len(e.Request) == 0 {
		u, err := url.Parse(e.URL)
		if err != nil {
			return nil, false
		}
		query = u.RawQuery
	}
	t := called(fault.SeenCall{Arguments: query, Source: fault.SeenOnWire})
	return t.Args, t.Texts
}

// isToolError reports whether an MCP server says that the call failed.
func isToolError(response []byte) bool {
	doc, err := jsontree.Parse(response, jsontree.Python())
	if err != nil {
		return false
	}
	flag := doc.Root.Get("result").Get("isError")
	return doc.Root.Get("error") != nil || flag != nil && flag.Bool
}

// addModelCalls adds the calls that a conversation shows, after the model's answer that asked for
// them, and learns which tools are offered.
func (b *traceBuilder) addModelCalls(e *fault.Exchange, place, turn int) int {
	u, err := url.Parse(e.URL)
	if err != nil {
		return place
	}
	req := fault.Recognize(e.Method, u.Path, e.Request)
	if req == nil {
		return place
	}
	for _, o := range req.Offered() {
		if !slices.ContainsFunc(b.t.Offered, func(x judge.Offer) bool { return x.Name == o.Name }) {
			b.t.Offered = append(b.t.Offered, judge.Offer{Name: o.Name, Breaks: b.c.x.shared.schemaOf(o.Schema)})
		}
	}
	for _, s := range req.ToolCalls() {
		if b.chat[s.ID] {
			continue
		}
		b.chat[s.ID], b.tools = true, true
		v := judge.Event{Kind: judge.Tool, Name: s.Tool, Source: judge.InChat, Turn: turn, At: b.at, Text: jsontree.Readable(s.Result)}
		if json.Valid([]byte(s.Arguments)) {
			v.Arguments = json.RawMessage(s.Arguments)
		} else {
			v.Garbled = s.Arguments
		}
		b.t.Events = slices.Insert(b.t.Events, place, v)
		place++
	}
	return place
}

// allowed uses the tools that a golden prompt names, in place of those that are offered.
func (b *traceBuilder) allowed(prompt string) {
	p := b.c.x.c.conversationFor(prompt)
	if p == nil || p.Tools == nil {
		return
	}
	offered := b.t.Offered
	b.t.Offered, b.t.Declared = []judge.Offer{}, true
	for _, name := range p.Tools {
		o := judge.Offer{Name: name}
		if i := slices.IndexFunc(offered, func(x judge.Offer) bool { return x.Name == name }); i >= 0 {
			o = offered[i]
		}
		b.t.Offered = append(b.t.Offered, o)
	}
}

// addListedCalls adds the calls that the reply itself lists, if none was seen.
func (b *traceBuilder) addListedCalls(u *turn, turn int) {
	for _, e := range b.t.Events {
		if e.Kind == judge.Tool && e.Turn == turn {
			return
		}
	}
	for _, x := range u.observe.Tools {
		b.tools = true
		b.t.Events = append(b.t.Events, judge.Event{Kind: judge.Tool, Name: x.Name, Source: judge.InChat, Arguments: x.Args, Texts: x.Texts, Turn: turn, At: b.at})
	}
}

// redactor returns what replaces secrets; nil: there are none.
func redactor(pairs []config.Pair) *secret.Redactor {
	var list []secret.Secret
	for _, p := range pairs {
		list = append(list, secret.Secret{Name: p.Key, Value: p.Value})
	}
	return secret.New(list)
}

// isPath reports whether a value names a file or an address, as the values of variables such as
// KEY_FILE do. A key in base64 also has slashes, but no dots.
func isPath(value string) bool {
	return strings.IndexAny(value, "/.~") == 0 || strings.Contains(value, "/") && strings.Contains(value, ".")
}

// secretPairs returns the variables or headers whose names say that they are secret. Of a value
// such as "Bearer KEY", it returns only the key.
func secretPairs(pairs []config.Pair) (list []config.Pair) {
	for _, p := range pairs {
		name, value := strings.ToLower(path.Base(p.Key)), p.Value
		if _, last, ok := strings.Cut(value, " "); ok {
			value = last
		}
		named := func(w string) bool { return strings.Contains(name, w) }
		if len(value) >= secret.Shortest && !isPath(value) && slices.ContainsFunc([]string{"key", "token", "secret", "password", "passwd", "authorization", "cookie", "credential"}, named) {
			list = append(list, config.Pair{Key: p.Key, Value: value})
		}
	}
	return list
}
