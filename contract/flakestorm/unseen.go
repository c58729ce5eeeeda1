package flakestorm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/contract/flakestorm/record"
	"github.com/thresh-dev/thresh/engine/fault"
	"github.com/thresh-dev/thresh/engine/judge"
	"github.com/thresh-dev/thresh/engine/textdiff"
)

// mention is what an invariant names, and whether a case showed it.
type mention struct {
	Rule string `json:"rule"`
	judge.Mention
	Seen bool `json:"seen,omitempty"`
}

// mentions returns the mentions of an invariant.
func mentions(v *config.Invariant) (list []mention) {
	for _, m := range v.Mentions() {
		list = append(list, mention{Rule: ruleName(v), Mention: m})
	}
	return list
}

func ruleName(v *config.Invariant) string { return strings.TrimSuffix(v.Path+" ("+v.ID+")", " ()") }

// untested reports whether an invariant held in all cases only because what it is about never
// occurred.
func (s *state) untested(v *config.Invariant) bool {
	return slices.ContainsFunc(s.mentions, func(m mention) bool { return m.Idle && !m.Seen && m.Rule == ruleName(v) })
}

// mention notes which of the calls and faults that an invariant names occurred in the case. If one
// of them did not, it also notes what did occur.
func (t *trial) mention(v *config.Invariant) {
	list := mentions(v)
	if len(list) == 0 {
		return
	}
	var r fault.Report
	if t.cell.faults != nil {
		r = t.cell.report()
	}
	trace := t.cell.trace(&r, -1)
	if trace.Blind {
		return // checks that need calls report this as an error
	}
	for _, m := range list {
		m.Seen = m.In(trace)
		if !slices.Contains(t.note.Mentions, m) {
			t.note.Mentions = append(t.note.Mentions, m)
		}
		if !m.Seen {
			t.note.Occurred = trace.Occurred()
		}
	}
}

// maxOccurred is the largest number of names kept of each kind.
const maxOccurred = 100

// remember stores what a case says about the names in invariants.
func (s *state) remember(n *note) {
	for _, m := range n.Mentions {
		unseen := m
		unseen.Seen = false
		i := slices.IndexFunc(s.mentions, func(x mention) bool { x.Seen = false; return x == unseen })
		if i < 0 {
			s.mentions = append(s.mentions, m)
		} else if m.Seen {
			s.mentions[i].Seen = true
		}
	}
	for kind, names := range n.Occurred {
		all := slices.Compact(slices.Sorted(slices.Values(slices.Concat(s.occurred[kind], names))))
		s.occurred[kind] = all[:min(len(all), maxOccurred)]
	}
}

// unseen returns the names in invariants that no case showed.
func (s *state) unseen() (list []string) {
	for _, m := range s.mentions {
		if text := m.Missing(s.occurred[m.Kind], noCalls); text != "" && !m.Seen {
			list = append(list, m.Rule+": "+text)
		}
	}
	return list
}

// noCalls says that the cases of an invariant show no tool call, and why this may be.
const noCalls = "they show no call of any tool: the agent made none, or by a client that Thresh does not reach, such as one for MCP servers on stdio that is not MCP's SDK for Python or TypeScript"

// replayComparison shows a replay next to the session that it replays: what was asked and the
// result; for each tool call, what the tool had answered then and how often it was asked now; and
// the differences in the reply, if the session contains one. For a case that is not a replay, it
// shows nothing.
func (c *Campaign) replayComparison(o *campaign.Outcome, x *transcript) []campaign.Exhibit {
	if len(x.Turns) == 0 {
		return nil
	}
	for i := range c.sessions {
		s := &c.sessions[i]
		if x.Case != replayName(s) {
			continue
		}
		u := &x.Turns[len(x.Turns)-1]
		expected := s.Expected
		expected = cmp.Or(expected, "not recorded")
		came := "held"
		if o.Verdict != campaign.VerdictPass {
			came = o.Title
		}
		rows := [][]string{{"input", cut(s.Input, 500), cut(u.Prompt, 500)}, {"failure", expected, came}}
		asked := make(map[string]int)
		named := record.ByAddress(x.Faults.Exchanges)
		for i, k := range x.Faults.Exchanges {
			if named[i].Tool != k.Tool { // it has a gateway's name
				asked[named[i].Tool]++
			}
			if k.Kind == fault.ToolCall || k.Kind == fault.MCPCall {
				asked[k.Tool]++
			}
		}
		for _, r := range s.Tools {
			answered := cut(r.Body, 500)
			if r.Status != 0 {
				answered = strings.TrimSpace(fmt.Sprintf("status %d: %s", r.Status, answered))
			}
			rows = append(rows, []string{"tool " + r.Tool, answered, fmt.Sprintf("calls: %d", asked[r.Tool])})
		}
		reply := "not recorded"
		if s.Reply != "" {
			reply = cut(s.Reply, 500)
		}
		rows = append(rows, []string{"reply", reply, cut(u.Reply.Text, 500)})
		list := []campaign.Exhibit{campaign.TableExhibit("The replay beside the original", []string{"", "original", "replay"}, rows)}
		if s.Reply != "" && s.Reply != u.Reply.Text {
			list = append(list, differenceExhibit("From the original reply to the replay's", cut(s.Reply, maxText), u.Reply.Text))
		}
		if len(x.Calls) > 0 && firstDifference(s.Trace, x.Calls) >= 0 {
			list = append(list, differenceExhibit("From the recorded calls to the replay's", strings.Join(s.Trace, "\n"), strings.Join(x.Calls, "\n")))
		}
		return list
	}
	return nil
}

func replayName(s *session) string { return "replay of " + s.label() }

// differenceExhibit shows how one text differs from another, by words.
func differenceExhibit(title, old, now string) campaign.Exhibit {
	d := &campaign.Diff{}
	textdiff.Words(old, now, func(op, text string) { d.Segments = append(d.Segments, campaign.Segment{Op: op, Text: text}) })
	return campaign.Exhibit{Kind: "diff", Title: title, Diff: d}
}
