package flakestorm

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/judge"
)

// weakness is one kind of failure of the main round, as the summary shows it.
type weakness struct {
	signature, title, kind string
	cases                  int
}

// Group implements [campaign.Grouper]. A failure that also occurs without faults is not caused by
// the faults of the case that shows it, so it is separated from other failures that these cause.
func (c *Campaign) Group(_ *state, o campaign.Outcome) string {
	var x transcript
	if !strings.Contains(o.Signature, withoutFaults) || json.Unmarshal(o.Attached(evidenceName), &x) != nil || len(x.Faults.Events) == 0 {
		return ""
	}
	said := make([]string, len(x.Turns))
	for i := range x.Turns {
		said[i] = x.Turns[i].Reply.Text
	}
	if len(strings.Fields(strings.Join(said, " "))) < 3 { // such a short reply may break several checks for different reasons
		said = []string{o.Signature}
	}
	return "also without faults\x00" + strings.Join(said, "\x00")
}

// withoutFaults is part of the signature of a failure that also occurs without faults.
const withoutFaults = "|without faults|"

// maxWeaknesses is the largest number that the table of weaknesses has. The report lists all findings.
const maxWeaknesses = 100

// weak stores what a failing case shows, and counts this number of cases.
func (s *state) weak(o *campaign.Outcome, cases int) {
	i := slices.IndexFunc(s.weaknesses, func(w weakness) bool { return w.signature == o.Signature })
	if i < 0 && len(s.weaknesses) < maxWeaknesses {
		kind := ""
		if len(o.Cause) > 0 {
			kind = o.Cause[0]
		}
		i, s.weaknesses = len(s.weaknesses), append(s.weaknesses, weakness{o.Signature, o.Title, kind, 0})
	}
	if i >= 0 {
		s.weaknesses[i].cases += cases
	}
}

// uncover makes problems findings of their own if the finding to which a case belongs does not name
// them: that finding is of another case, which failed first.
func (s *state) uncover(o *campaign.Outcome, n *note) {
	i := slices.IndexFunc(s.weaknesses, func(w weakness) bool { return w.signature == o.Signature })
	for k := range n.Found {
		p := &n.Found[k]
		p.Covered = p.Covered && (i < 0 || strings.Contains(s.weaknesses[i].title, "("+p.Check+")"))
	}
}

// namedOnce returns a title without the second name of its invariant: "no-orders in calm:
// no-orders: MARKER found".
func namedOnce(title string) string {
	id, rest, _ := strings.Cut(title, " in ")
	return strings.TrimSuffix(id+" in "+strings.Replace(rest, ": "+id+": ", ": ", 1), " in ")
}

// advice says in one sentence what to do about a failing invariant of a type.
func advice(kind string) string {
	switch kind {
	case "no answer":
		return "Catch what goes wrong inside the agent, bound its waiting, and answer with what it knows."
	case "output_not_empty", "completes":
		return "Ask the model again when it says nothing, and say so when it stays silent."
	case "contains", "contains_any", "regex", "similarity", "llm_judge":
		return "See what the agent was given in the failing case, and keep what it needs for the answer in the conversation."
	case "not_contains", "excludes_pattern":
		return "Filter what leaves the agent, and do not pass on what models and tools say unread."
	case "excludes_pii":
		return "Take personal data out of what the agent is given, or mask it in what it says."
	case "refusal", "refusal_check":
		return "Keep instructions apart from what users and tools say, and have the agent refuse what is out of bounds."
	case "behavior_unchanged":
		return "Handle the fault so that the answer rests on what could be learned, and says what could not."
	case "valid_json", "json_schema":
		return "Check the answer against the schema before it leaves, and have the model correct it."
	case "latency":
		return "Give calls of tools and models a timeout below the limit, and answer without what is late."
	case "tokens", "cost":
		return "Bound the steps of a conversation and the length of what the model is sent."
	case "tool_called", "tool_arguments":
		return "Have the agent insist on the call and its arguments before it answers."
	case "tool_not_called":
		return "Take the tool out of those that are offered here, or ask before it is called."
	case "trace":
		return "Enforce order and number of the calls in code, where the model cannot skip them."
	case departed:
		return "Compare the two orders of calls; if the change is meant, record the session again."
	case "injected":
		return "The agent has no part in it: have Thresh start the agent, so that its own calls are struck."
	}
	return "Run the case again by itself, and look at the order of events."
}

// weaknessTable shows everything that was found, with the evidence and what to do about it.
func (c *Campaign) weaknessTable(s *state) []campaign.Exhibit {
	var rows [][]string
	for _, name := range s.sick {
		k := checkOf("unhealthy-baseline")
		rows = append(rows, []string{k.ID, "every call of " + name + " fails without any fault", "all cases", k.Fix})
	}
	for i, p := range s.found {
		same := func(q problem) bool { return q.Check == p.Check }
		if slices.ContainsFunc(s.found[:i], same) {
			continue // shown with the first one
		}
		fix := checkOf(p.Check).Fix
		for _, q := range s.found[i:] {
			if same(q) {
				rows = append(rows, []string{q.Check, q.Reason, diag.Plural(q.cases, "case"), fix})
				fix = ""
			}
		}
	}
	for _, w := range s.weaknesses {
		named := func(p problem) bool { return strings.Contains(w.title, "("+p.Check+")") }
		if slices.ContainsFunc(s.found, named) {
			continue
		}
		what, why := namedOnce(w.title), ""
		if at := strings.Index(diag.Unquoted(what), ": "); at > 0 {
			what, why = what[:at], what[at+2:]
			why = judge.Readable(why)
		}
		fix := advice(w.kind)
		if w.kind == "injected" && c.reach.mcp { // whoever starts it
			fix = "The server has no part in it: the fault answers in its place. Faults of tools test agents that call tools."
		}
		rows = append(rows, []string{what, why, diag.Plural(w.cases, "case"), fix})
	}
	if len(rows) == 0 {
		return nil
	}
	e := campaign.TableExhibit("Weaknesses", []string{"weakness", "evidence", "seen in", "how to fix it"}, rows)
	e.Brief = true
	return []campaign.Exhibit{e}
}

// said is a question of a case and its answer, for the option --replies.
type said struct {
	Prompt string `json:"prompt"`
	Reply  string `json:"reply"`
}

// The largest number of turns whose replies are kept, and the largest number of bytes of each.
const (
	maxReplies  = 20
	replyLength = 300
)

// replies returns what was said in the case.
func (t *trial) replies() (list []said) {
	for i := range t.cell.turns {
		u := &t.cell.turns[i]
		text := u.Reply.Text
		if !u.Reply.OK() {
			text = fmt.Sprintf("(no answer: %s)", u.Reply.End)
		}
		if len(list) == maxReplies {
			return append(list, said{"", fmt.Sprintf("and %d more", len(t.cell.turns)-i)})
		}
		list = append(list, said{cut(u.Prompt, replyLength), cut(text, replyLength)})
	}
	return list
}

// repliesTable shows what the agent answered in each case.
func (c *Campaign) repliesTable(s *state) []campaign.Exhibit {
	var rows [][]string
	var cases []*int64
	word := map[result]string{passed: "held", failed: "failed", inapplicable: "N/A", broken: "no result"}
	for _, i := range slices.Sorted(maps.Keys(s.replies)) {
		for k, x := range s.replies[i] {
			name := ""
			if k == 0 {
				name = c.itemName(s.mutations, s.items[i])
			}
			rows = append(rows, []string{name, word[s.results[i]], x.Prompt, strings.Join(strings.Fields(x.Reply), " ")})
			cases = append(cases, c.caseOf(i))
		}
	}
	if len(rows) == 0 {
		return nil
	}
	e := campaign.TableExhibit("Replies", []string{"case", "", "prompt", "reply"}, rows)
	e.Table.Cases, e.Brief = cases, true
	return []campaign.Exhibit{e}
}
