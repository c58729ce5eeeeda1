package flakestorm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/fault"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/judge"
)

// script is a conversation as text. Each line begins with the speaker.
type script struct {
	strings.Builder
	marks []campaign.Mark
}

// speakers is the width of the speakers' column.
const speakers = 8

// addLine adds what a speaker said. The function that it returns converts a position in this text
// to one in the script.
func (s *script) addLine(who, text string) func(int) int {
	fmt.Fprintf(s, "%-*s", speakers, who)
	from := s.Len()
	in := "\n" + strings.Repeat(" ", speakers)
	s.WriteString(strings.ReplaceAll(text, "\n", in) + "\n")
	return func(at int) int { return from + at + speakers*strings.Count(text[:at], "\n") }
}

func (s *script) fault(e *fault.Event) {
	from := s.Len()
	if e.Mode == "" { // an answer from a recording
		s.addLine("answer", cut(e.Target+": "+e.Change, 400))
		return
	}
	text := string(e.Mode)
	if e.Target != "" {
		text += " of " + e.Target
	}
	if e.Change != "" {
		text += ": " + e.Change
	}
	if e.Missed {
		text += " (not injected)"
	}
	s.addLine("fault", cut(text, 400))
	s.marks = append(s.marks, campaign.Mark{From: from, To: s.Len() - 1, Kind: "changed"})
}

// exchange adds a call with the faults that struck it and the answer. Calls of models are part of
// the agent: only the faults in them are shown.
func (s *script) exchange(x *transcript, e *fault.Exchange) {
	tool := e.Kind == fault.ToolCall || e.Kind == fault.MCPCall
	if tool {
		s.addLine("call", strings.TrimSpace(e.Tool+" "+x.arguments(e)))
	}
	for i := range x.Faults.Events {
		if v := &x.Faults.Events[i]; v.Call == e.Call {
			s.fault(v)
		}
	}
	if !tool {
		return
	}
	body := e.Response
	for i := range x.answers {
		if a := &x.answers[i]; a.Call == e.Call {
			body = a.Response
		}
	}
	answer := cmp.Or(cut(strings.TrimSpace(jsontree.Readable(string(body))), maxShown), e.Error)
	if e.Status >= 400 || answer == "" && e.Status > 0 {
		answer = strings.TrimSuffix(fmt.Sprintf("status %d: %s", e.Status, answer), ": ")
	}
	if answer != "" {
		s.addLine("answer", answer)
	}
}

// lead marks the place to look at first.
func (s *script) lead(from, n int) {
	s.marks = slices.Insert(s.marks, 0, campaign.Mark{From: from, To: from + n, Kind: "focus"})
}

// arguments returns the arguments of a call, as a turn recorded them; "": no turn did.
func (x *transcript) arguments(e *fault.Exchange) string {
	n := 0
	for i := range x.Faults.Exchanges {
		if o := &x.Faults.Exchanges[i]; o.Call == e.Call {
			break
		} else if o.Tool == e.Tool && o.Kind == e.Kind {
			n++
		}
	}
	for _, u := range x.Turns {
		for _, t := range u.Tools {
			if t.Name != e.Tool {
				continue
			}
			if n--; n < 0 && string(t.Args) != "null" {
				return cut(jsontree.Readable(string(t.Args)), 500)
			}
		}
	}
	return ""
}

// exchanges returns the calls of each turn. Older runs did not store counts; there, a turn ends
// after as many tool calls as it lists.
func (x *transcript) exchanges() [][]fault.Exchange {
	all := x.Faults.Exchanges
	counted := slices.ContainsFunc(x.Turns, func(u turn) bool { return u.Exchanges > 0 })
	list, next := make([][]fault.Exchange, len(x.Turns)), 0
	for i := range x.Turns {
		from := next
		switch {
		case i == len(x.Turns)-1:
			next = len(all)
		case counted:
			next = min(max(next, x.Turns[i].Exchanges), len(all))
		default:
			for called := 0; next < len(all) && called < len(x.Turns[i].Tools); next++ {
				if k := all[next].Kind; k == fault.ToolCall || k == fault.MCPCall {
					called++
				}
			}
		}
		list[i] = all[from:next]
	}
	return list
}

// about returns the index of the turn that the finding is about; -1: none.
func (x *transcript) about() int {
	if x.Turn > 0 && x.Turn <= len(x.Turns) {
		return x.Turn - 1
	}
	return len(x.Turns) - 1
}

// conversation shows the case as a conversation: what was asked, which tools were called, which
// faults struck them, what was answered; with marks for what the failed checks found.
func (x *transcript) conversation(o *campaign.Outcome) campaign.Exhibit {
	s := &script{}
	for i := range x.Faults.Events {
		if e := &x.Faults.Events[i]; e.Call == 0 {
			s.fault(e)
		}
	}
	for i, list := range x.exchanges() {
		u := &x.Turns[i]
		s.addLine("user", cut(u.Prompt, 2000))
		if u.Sent != "" {
			s.addLine("sent", cut(u.Sent, 2000))
		}
		about := strings.HasPrefix(o.Signature, checkSignature) && i == x.Turn-1
		for k := range list {
			from := s.Len()
			s.exchange(x, &list[k])
			if about && s.Len() > from && list[k].Tool != "" && strings.Contains(o.Title, list[k].Tool) { // the built-in check is about this call
				s.lead(from, len("call"))
				about = false
			}
		}
		from := s.Len()
		s.reply(u)
		if about {
			s.lead(from, len("agent"))
		}
	}
	e := campaign.TextExhibit(conversationExhibit, strings.TrimSuffix(s.String(), "\n"))
	e.Text.Marks = s.marks
	return e
}

// reply adds what the agent said, with marks for what its failed checks are about.
func (s *script) reply(u *turn) {
	from := s.Len()
	text := cut(u.Reply.Text, 8000)
	if !u.Reply.OK() {
		text = strings.TrimSpace(fmt.Sprintf("(no answer: %s: %s)\n%s", u.Reply.End, u.Reply.Error, text))
	}
	at := s.addLine("agent", cmp.Or(text, "(nothing)"))
	failed, found := false, false
	for _, k := range u.Checks {
		if k.Passed {
			continue
		}
		failed = true
		for _, spot := range judge.Spots(k.Reason, text) {
			s.marks = append(s.marks, campaign.Mark{From: at(spot[0]), To: at(spot[1]), Kind: "focus"})
			found = true
		}
	}
	if failed && !found { // the checks are about the reply as a whole
		s.marks = append(s.marks, campaign.Mark{From: from, To: from + len("agent"), Kind: "focus"})
	}
}

// conversationExhibit is the title of the exhibit that holds a conversation.
const conversationExhibit = "Conversation"

// withoutFaults links to the case that asked the same without faults: with the same invariant or,
// if there is none, with another one that has the same prompts.
func (c *Campaign) withoutFaults(s *state, at campaign.Case) (e campaign.Exhibit, ok bool) {
	i := int(at.Index) - len(c.asked)
	if s == nil || i < 0 || i >= len(s.items) || s.items[i].phase != PhaseContract || !c.scenarios[s.items[i].b].active.any {
		return e, false
	}
	best := -1
	for k, it := range s.items[:min(len(s.items), len(s.results))] {
		of := s.items[i].a
		if it.phase != PhaseContract || it.n != s.items[i].n || c.scenarios[it.b].active.any || s.results[k] != passed && s.results[k] != failed ||
			!slices.Equal(c.prompts(&c.invariants[it.a]), c.prompts(&c.invariants[of])) {
			continue
		}
		if best < 0 || it.a == of && s.items[best].a != of {
			best = k
		}
	}
	if best < 0 {
		return e, false
	}
	word := "held"
	if s.results[best] == failed {
		word = "failed"
	}
	e = campaign.TableExhibit("The same without faults", []string{"case", "result"}, [][]string{{c.itemName(c.mutations, s.items[best]), word}})
	e.Table.Cases = []*int64{c.caseOf(best)}
	return e, true
}
