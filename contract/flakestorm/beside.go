package flakestorm

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/fault"
	"github.com/thresh-dev/thresh/engine/textdiff"
)

// replayComparison shows a replay beside the session that it replays: what was asked and
// what came of it, and for each tool call what the tool had answered then and
// how often it was asked now; then how the reply differs, if the session tells
// what it was. A case that is no replay has nothing of it.
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
		expected = cmp.Or(expected, "not told")
		came := "held"
		if o.Verdict != campaign.VerdictPass {
			came = o.Title
		}
		rows := [][]string{{"input", cut(s.Input, 500), cut(u.Prompt, 500)}, {"failure", expected, came}}
		asked := make(map[string]int)
		for _, k := range x.Faults.Exchanges {
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

// differenceExhibit is how one text became another, by words.
func differenceExhibit(title, old, now string) campaign.Exhibit {
	d := &campaign.Diff{}
	textdiff.Words(old, now, func(op, text string) { d.Segments = append(d.Segments, campaign.Segment{Op: op, Text: text}) })
	return campaign.Exhibit{Kind: "diff", Title: title, Diff: d}
}
