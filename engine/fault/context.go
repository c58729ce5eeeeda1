package fault

import (
	"fmt"
	"strings"
)

// payload returns the text of a context attack.
func (s *Strike) payload() string {
	r := &s.Rule
	switch {
	case r.Mode == Overflow:
		return filler(r.InjectTokens)
	case len(r.Payloads) > 0:
		return r.Payloads[(s.Nth-1)%len(r.Payloads)]
	}
	return r.Payload
}

// wrapped returns the payload as the agent receives it: an attack via context poses
// as a document that was looked up for the agent.
func (s *Strike) wrapped() string {
	p := s.payload()
	if s.Rule.Mode == InjectionViaContext {
		return "Context:\n---\n" + p + "\n---"
	}
	return p
}

// filler returns a text of n short words without meaning.
func filler(n int) string {
	words := strings.Fields("the archive lists a further entry of no interest here and goes on with the next page of it")
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(words[i%len(words)])
	}
	return b.String()
}

// Prompt applies the context attacks to the agent's input. Its calls count like any
// others: a cell that asks the agent twice has two.
func (l *Ledger) Prompt(input string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := &Decision{Call: Call{Kind: OtherCall, Names: []string{"prompt"}}}
	for i := range l.rules {
		r := &l.rules[i]
		if r.Layer != Context || r.At != AtPrompt || !r.due(l.plan.Seed, l.plan.Before, i, &d.Call) {
			continue
		}
		r.struck++
		s := Strike{Rule: r.Rule, Nth: r.struck, index: i}
		input = r.Strategy.Join(input, s.wrapped())
		r.tally.Fired++
		l.event(Event{Rule: r.ID, Mode: r.Mode, Target: "prompt", Change: s.injected("the prompt")})
	}
	return input
}

func (s *Strike) injected(where string) string {
	if s.Rule.Mode == Overflow {
		return fmt.Sprintf("%d words of filler in %s", s.Rule.InjectTokens, where)
	}
	return fmt.Sprintf("%q in %s", Short(s.payload()), where)
}

// At returns the context attacks of a decision at a point.
func (d *Decision) At(p Point) []*Strike {
	var list []*Strike
	for i := range d.Strikes {
		if s := &d.Strikes[i]; s.Rule.Layer == Context && s.Rule.At == p {
			list = append(list, s)
		}
	}
	return list
}

// InjectResult puts the attacks on a tool's result into it and records the result of
// each.
func (l *Ledger) InjectResult(d *Decision, contentType string, body []byte) []byte {
	for _, s := range d.At(AtToolResult) {
		out, why := InjectInto(contentType, body, s.wrapped(), s.Rule.Strategy)
		if why != "" {
			l.Missed(d, s, why)
			continue
		}
		body = out
		l.Fired(d, s, s.injected("the tool's result"))
	}
	return body
}

// InjectRequest puts the attacks on a conversation into it and records the result of
// each.
func (l *Ledger) InjectRequest(d *Decision, r *Request) []byte {
	body := r.body
	for _, s := range d.At(AtLLMRequest) {
		out, ok := r.Inject(s.wrapped(), s.Rule.Strategy)
		again := Recognize("POST", shapePath(r.Shape), out)
		if !ok || again == nil {
			l.Missed(d, s, "the conversation has no turn of the user")
			continue
		}
		*r, body = *again, out
		l.Fired(d, s, s.injected("the conversation"))
	}
	return body
}

func shapePath(s Shape) string {
	for _, k := range shapes {
		if k.shape == s {
			return k.end
		}
	}
	return ""
}

// AlterText applies the text faults of a decision to an LLM's answer and records the
// effect of each.
func (l *Ledger) AlterText(d *Decision, r *Request, contentType string, body []byte) []byte {
	strikes := d.TextFaults()
	body, results := r.Alter(contentType, body, strikes)
	for i, s := range strikes {
		if results[i].Why != "" {
			l.Missed(d, s, results[i].Why)
		} else {
			l.Fired(d, s, results[i].Change)
		}
	}
	return body
}

// TextFaults returns the strikes that change the text of an LLM's answer.
func (d *Decision) TextFaults() []*Strike {
	var list []*Strike
	for i := range d.Strikes {
		if d.Strikes[i].shapesText() {
			list = append(list, &d.Strikes[i])
		}
	}
	return list
}

// Replaces reports whether the LLM need not be called, since its text is completely
// replaced: the first text fault is Empty or Garbage.
func (d *Decision) Replaces() bool {
	list := d.TextFaults()
	return len(list) > 0 && (list[0].Rule.Mode == Empty || list[0].Rule.Mode == Garbage)
}

// Written returns the text of a call for which [Decision.Replaces] holds; it records
// the effects of the strikes.
func (l *Ledger) Written(d *Decision) string {
	text := ""
	for i, s := range d.TextFaults() {
		was := text
		changed, why := s.Text(text)
		if why != "" && i > 0 {
			l.Missed(d, s, why)
			continue
		}
		text = changed
		l.Fired(d, s, describe(s, was, text))
	}
	return text
}
