package judge

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// What a trace that somebody wrote down says.
func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		`[{"tool": "pay", "args": {"a": 1}, "status": 402, "result": "no", "turn": 2, "at_ms": 1.5}]`: `tool pay {"a":1} 402 "no" turn 2 1.5ms;`,
		`[{"tool": "pay", "arguments": "{\"a\": 1}"}]`:                                                `tool pay {"a": 1} 0 "" turn 0 0s;`,
		`{"kind": "tool", "name": "pay", "text": [1]}`:                                                `tool pay  0 "[1]" turn 0 0s;`,
		`{"type": "tool", "name": "pay", "content": "x"}`:                                             `tool pay  0 "x" turn 0 0s;`,
		`{"tool": "pay", "latency_ms": 5}`:                                                            `tool pay  0 "" turn 0 0s;`,
		`{"tool": "pay", "error": null}`:                                                              `tool pay  0 "" turn 0 0s;`,
		`{"tool": "pay", "error": "gone", "raised": "KeyError", "injected": "Obey."}`:                 `tool pay  0 "" turn 0 0s error gone raised KeyError injected Obey.;`,
		`{"fault": "latency"}`:                                                                        `fault latency  0 "" turn 0 0s;`,
		"{\"said\": \"hi\"}\n\n{\"reply\": \"hello\"}\n":                                              `said   0 "hi" turn 0 0s; reply   0 "hello" turn 0 0s; prompt hi; reply hello;`,
		`{"type": "message", "text": "hello"}`:                                                        `reply   0 "hello" turn 0 0s; reply hello;`,
		`{"trace": [{"model": "m"}], "prompt": "hi", "response": "hello", "baseline": "well"}`:        `model m  0 "" turn 0 0s; prompt hi; reply hello; baseline well;`,
		`{"events": [{"reply": "first"}], "output": "second"}`:                                        `reply   0 "first" turn 0 0s; reply first;`,
		`{"prompt": "hi", "reply": "ok", "latency_ms": 5}`:                                            `prompt hi; reply ok; after 5ms; blind;`,
		`{"events": [], "reply": "ok"}`:                                                               `reply ok;`,
		`{"output": ""}`:                                                                              `reply ; blind;`,
		`{"reply": {"a": 1}}`:                                                                         `reply   0 "{\"a\":1}" turn 0 0s; reply {"a":1};`,
		`{"latency_ms": 2.5}`:                                                                         `after 2.5ms; blind;`,
		`{"tokens": {"input": 3, "output": 4}}`:                                                       `tokens [3 4]; blind;`,
		`{"blind": true}`:                                                                             `blind;`,
		`{"blind": false, "prompt": "hi"}`:                                                            `prompt hi;`,
		`{}`:                                                                                          `blind;`,
		`[]`:                                                                                          ``,
		`7`:                                                                                           `error: the trace must be a list of events`,
		`{"events": {}}`:                                                                              `error: events must be a list of events`,
		`{"trace": "x"}`:                                                                              `error: trace must be a list of events`,
		`{"events": [{"reply": "x"}, 7]}`:                                                             `error: event 2: must be a mapping`,
		`[{"shout": "x"}]`:                                                                            `error: event 1: must name a tool, model, fault, reply or said`,
		`{"kind": "tool"}`:                                                                            `error: event 1: a tool needs a name`,
		`{"kind": "model"}`:                                                                           `error: event 1: a model needs a name`,
		`{"tool": "pay", "status": "x"}`:                                                              `error: event 1: status must be a number from 0`,
		`{"tool": "pay", "turn": -1}`:                                                                 `error: event 1: turn must be a number from 0`,
		`{"latency_ms": -1}`:                                                                          `error: latency_ms must be a number from 0`,
		`{"tokens": {"input": 3}}`:                                                                    `error: tokens.output is missing`,
		`{"tokens": {"input": "x", "output": 4}}`:                                                     `error: tokens.input must be a number from 0`,
		`hello`:                     `error: the trace is not JSON`,
		"{\"reply\": \"x\"}\nhello": `error: the trace is not JSON: line 2:`,
	} {
		r, err := Read([]byte(text))
		if rest, ok := strings.CutPrefix(want, "error: "); ok {
			if err == nil || !strings.HasPrefix(err.Error(), rest) {
				t.Errorf("%s: %v, want %s", text, err, rest)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var b strings.Builder
		part := func(on bool, format string, args ...any) {
			if on {
				fmt.Fprintf(&b, format, args...)
			}
		}
		for _, e := range r.Events {
			part(true, "%s %s %s %d %q turn %d %s", e.Kind, e.Name, e.Arguments, e.Status, e.Text, e.Turn, e.At)
			part(e.Error != "", " error %s", e.Error)
			part(e.Raised != "", " raised %s", e.Raised)
			part(e.Injected != "", " injected %s", e.Injected)
			part(true, "; ")
			if e.Source != OnWire {
				t.Errorf("%s: %+v", text, e)
			}
		}
		part(r.Prompt != "", "prompt %s; ", r.Prompt)
		part(r.Replied, "reply %s; ", r.Reply)
		part(r.Baseline != "", "baseline %s; ", r.Baseline)
		part(r.Timed, "after %s; ", r.Latency)
		part(r.Counted, "tokens %v; ", r.Tokens)
		part(r.Blind, "blind; ")
		if got := strings.TrimSpace(b.String()); got != want {
			t.Errorf("%s: %s\nwant %s", text, got, want)
		}
	}
}

// Not every "cannot" refuses.
func TestDeclines(t *testing.T) {
	for text, want := range map[string]bool{
		"I can't help but smile.":             false,
		"Sorry, I can't help.":                true,
		"I cannot send that.":                 true,
		"I cannot recommend it highly enough": false,
		"They cannot send that.":              false,
		"Here it is.":                         false,
	} {
		if isRefusal(text) != want {
			t.Errorf("%q: refused %t", text, !want)
		}
	}
}

// A time that events lie within ends with it, not before.
func TestWithinIncludesItsEnd(t *testing.T) {
	charge := call("charge", 200, "")
	for apart, want := range map[time.Duration]int{time.Second: 2, time.Second + 1: 1} {
		events := []Event{charge, charge}
		events[1].At = apart
		if n := densest([]int{0, 1}, Trace{Events: events}, time.Second); n != want {
			t.Errorf("%s apart: %d within a second, want %d", apart, n, want)
		}
	}
}
