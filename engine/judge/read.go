package judge

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// Record is a trace as people and programs write it down, with what the case was
// about. What is not written down is unknown.
type Record struct {
	Trace
	Prompt, Reply string
	Replied       bool // there is a reply
	Latency       time.Duration
	Timed         bool // the latency is known
	Baseline      string
	Tokens        [2]int64 // input, output
	Counted       bool     // the tokens are known
}

// kinds are the keys that name an event's kind, with its name or text as value.
var kinds = []Kind{Tool, Model, Fault, Reply, Said}

// ofMapping are keys that a reply as an event does not have: {"reply": "ok"} is an
// event, unless one of them is beside it. The first two make any event a mapping.
var ofMapping = []string{"events", "trace", "prompt", "baseline", "latency_ms", "tokens", "blind"}

// Read reads a trace in JSON: a list of events, one event per line, or a mapping
// with events, prompt, reply, latency_ms, tokens and the like. An event names its
// kind and name, or has its kind as a key: {"tool": "charge", "status": 402}.
func Read(text []byte) (*Record, error) {
	doc, err := jsontree.Parse(text, jsontree.Python())
	r := &Record{}
	if err != nil { // one event a line
		var list []jsontree.Node
		number := 0
		for l := range strings.Lines(string(text)) {
			number++
			if strings.TrimSpace(l) == "" {
				continue
			}
			d, lineErr := jsontree.Parse([]byte(l), jsontree.Python())
			if lineErr != nil {
				if number > 1 {
					err = fmt.Errorf("line %d: %w", number, lineErr)
				}
				return nil, fmt.Errorf("the trace is not JSON: %w", err)
			}
			list = append(list, d.Root)
		}
		return r, r.events(list)
	}
	switch root := &doc.Root; root.Kind {
	case jsontree.Array:
		return r, r.events(root.Items)
	case jsontree.Object:
		kind, keys := kindOf(root), ofMapping
		if kind != Reply {
			keys = keys[:2]
		}
		if kind != "" && !slices.ContainsFunc(keys, func(key string) bool { return root.Get(key) != nil }) {
			return r, r.events([]jsontree.Node{*root})
		}
		return r, r.mapping(root)
	}
	return nil, errors.New("the trace must be a list of events, or a mapping with events, prompt and reply; text alone is read with --text")
}

func (r *Record) mapping(root *jsontree.Node) error {
	r.Blind = true // no list of events could show them
	for _, key := range []string{"events", "trace"} {
		n := root.Get(key)
		switch {
		case n == nil:
		case n.Kind != jsontree.Array:
			return fmt.Errorf("%s must be a list of events", key)
		default:
			r.Blind = false
			if err := r.events(n.Items); err != nil {
				return err
			}
		}
	}
	for _, key := range []string{"reply", "response", "output"} {
		if n := root.Get(key); n != nil && !r.Replied {
			r.Reply, r.Replied = word(n), true
		}
	}
	if n := root.Get("prompt"); n != nil {
		r.Prompt = word(n)
	}
	if n := root.Get("baseline"); n != nil {
		r.Baseline = word(n)
	}
	if n := root.Get("latency_ms"); n != nil {
		ms, err := number(n)
		if err != nil {
			return fmt.Errorf("latency_ms %w", err)
		}
		r.Latency, r.Timed = time.Duration(ms*float64(time.Millisecond)), true
	}
	if n := root.Get("tokens"); n != nil {
		for i, key := range []string{"input", "output"} {
			x, err := number(n.Get(key))
			if err != nil {
				return fmt.Errorf("tokens.%s %w", key, err)
			}
			r.Tokens[i] = int64(x)
		}
		r.Counted = true
	}
	if n := root.Get("blind"); n != nil {
		r.Blind = n.Bool
	}
	return nil
}

// word returns a text, or another value as JSON.
func word(n *jsontree.Node) string {
	if n.Kind == jsontree.String {
		return n.Text
	}
	return jsontree.Compact.Format(n)
}

func number(n *jsontree.Node) (x float64, err error) {
	if n == nil {
		return 0, errors.New("is missing")
	}
	if err := json.Unmarshal([]byte(jsontree.Compact.Format(n)), &x); err != nil || x < 0 {
		return 0, errors.New("must be a number from 0")
	}
	return x, nil
}

func kindOf(n *jsontree.Node) Kind {
	if k := n.Get("kind"); k != nil {
		return Kind(k.Text)
	}
	if k := n.Get("type"); k != nil {
		return Kind(k.Text)
	}
	for _, k := range kinds {
		if n.Get(string(k)) != nil {
			return k
		}
	}
	return ""
}

func (r *Record) events(list []jsontree.Node) error {
	for i := range list {
		e, err := event(&list[i])
		if err != nil {
			return fmt.Errorf("event %d: %w", i+1, err)
		}
		switch e.Kind {
		case Reply:
			r.Reply, r.Replied = e.Text, true
		case Said:
			r.Prompt = e.Text
		}
		r.Events = append(r.Events, e)
	}
	return nil
}

func event(n *jsontree.Node) (Event, error) {
	if n.Kind != jsontree.Object {
		return Event{}, fmt.Errorf("must be a mapping, such as {\"tool\": \"charge\", \"status\": 402}, got %s", jsontree.Compact.Format(n))
	}
	e := Event{Kind: kindOf(n), Source: OnWire}
	switch e.Kind {
	case "message": // as systems report it
		e.Kind = Reply
	case Tool, Model, Fault, Reply, Said:
	default:
		return e, fmt.Errorf("must name a tool, model, fault, reply or said, got %s", jsontree.Compact.Format(n))
	}
	if own := n.Get(string(e.Kind)); own != nil {
		if e.Kind == Reply || e.Kind == Said {
			e.Text = word(own)
		} else {
			e.Name = word(own)
		}
	}
	for i := range n.Members {
		key, v := n.Members[i].Key, &n.Members[i].Value
		switch key {
		case "name":
			e.Name = word(v)
		case "arguments", "args":
			e.Arguments = json.RawMessage(jsontree.Compact.Format(v))
			if v.Kind == jsontree.String { // JSON in a string, as models give it
				e.Arguments = json.RawMessage(v.Text)
			}
		case "text", "result", "content":
			e.Text = word(v)
		case "error":
			if v.Kind != jsontree.Null {
				e.Error = word(v)
			}
		case "raised":
			e.Raised = word(v)
		case "injected":
			e.Injected = word(v)
		case "status", "turn", "at_ms":
			x, err := number(v)
			if err != nil {
				return e, fmt.Errorf("%s %w", key, err)
			}
			switch key {
			case "status":
				e.Status = int(x)
			case "turn":
				e.Turn = int(x)
			default:
				e.At = time.Duration(x * float64(time.Millisecond))
			}
		}
	}
	if e.Name == "" && (e.Kind == Tool || e.Kind == Model) {
		return e, fmt.Errorf("a %s needs a name", e.Kind)
	}
	return e, nil
}
