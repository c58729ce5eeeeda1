package flakestorm

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/contract/flakestorm/record"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/fault"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/judge"
)

// Attachments of a case. Anything that may differ from one run of a case to the next is stored
// separately, because evidence that is not steady is dropped completely.
const (
	evidenceName = "cell.json"                 // what was asked, answered and checked, and which faults struck
	measuredName = campaign.MeasuredAttachment // milliseconds, tokens, scores
	toolsName    = campaign.RecordedAttachment // what tools were sent and what they answered
)

// How much of a text evidence keeps: of the last text of a failing case and of the one that its
// finding is about, of any other, and of all of these together.
const (
	maxText  = 32 << 10
	maxOther = 4 << 10
	maxAll   = 64 << 10
	// maxShown is how much of a tool's answer a conversation shows.
	maxShown = 1000
	// maxAnswers is how much of the tools' answers is kept for a failing case.
	maxAnswers = 1 << 20
)

// transcript is the evidence of a case.
type transcript struct {
	Case   string       `json:"case"`
	Turns  []turn       `json:"turns"`
	Faults fault.Report `json:"faults"`
	// Compared is the text that behavior_unchanged compared the last reply with.
	Compared *string  `json:"compared,omitempty"`
	Original string   `json:"original,omitempty"` // for a mutation, the golden prompt
	How      string   `json:"how,omitempty"`
	Calls    []string `json:"calls,omitempty"` // for a replay, see [record.Trace]
	Turn     int      `json:"turn,omitempty"`  // the turn that the finding is about, from 1; 0: the last

	measured []string
	answers  []fault.Exchange
}

// records says for which cases evidence is kept.
func (c *Campaign) records() campaign.Recording {
	if c.cfg.Output.Evidence == config.EvidenceFailures {
		return campaign.RecordFindings
	}
	return campaign.RecordAll
}

// evidence returns what was seen in a case. If whole is set, this includes the tools' answers, and
// more of the last reply.
func (t *trial) evidence(whole bool) []campaign.Attachment {
	if !whole && t.x.c.records() != campaign.RecordAll {
		return nil
	}
	x := transcript{Case: t.what, Faults: t.report, Calls: t.calls, Turn: t.turn}
	var figures []string
	last := len(t.cell.turns) - 1
	others := max(maxOther/16, min(maxOther, maxAll/max(1, last)))
	most := others
	if whole {
		most = maxText
	}
	for i, u := range t.cell.turns {
		limit := others
		if i == last || i == t.turn-1 {
			limit = most
		}
		u.Reply.Text = evidenceText(u.Reply.Text, limit)
		u.Reply.Value, u.Reply.Copies, u.Reply.Tools = nil, nil, nil
		u.Prompt, u.Sent = evidenceText(u.Prompt, limit), evidenceText(u.Sent, limit)
		u.Checks, u.Tools = slices.Clone(u.Checks), slices.Clone(u.Tools)
		for i := range u.Checks {
			figures = append(figures, u.Checks[i].Measure)
			u.Checks[i].Measure = ""
			u.Checks[i].Reason = evidenceText(u.Checks[i].Reason, maxOther)
		}
		for i := range u.Tools {
			u.Tools[i].Args = redacted(u.Tools[i].Args)
		}
		x.Turns = append(x.Turns, u)
	}
	if m := t.p.Mutation; m != nil {
		x.Original, x.How = evidenceText(m.Original, most), m.How
	}
	if last >= 0 {
		key := t.cell.turns[last].Prompt
		if t.p.Mutation != nil {
			key = t.p.Mutation.Original
		}
		if b, ok := t.p.Baselines[key]; ok && b.Why == "" {
			text := evidenceText(b.Text, most)
			x.Compared = &text
		}
	}
	shown := 0
	if !whole && t.plain() { // it may be the passing original of a finding
		shown = maxShown + 1 // one byte more, to show whether a longer one was cut
	}
	answers := x.normalize(shown)
	list := []campaign.Attachment{attachment(evidenceName, x)}
	if strings.Join(figures, "") != "" {
		list = append(list, attachment(measuredName, figures))
	}
	if whole && len(answers) > 0 {
		list = append(list, attachment(toolsName, bounded(answers)))
	}
	if n := len(x.Turns); n > 0 && !x.Turns[n-1].Reply.OK() {
		if u := &x.Turns[n-1].Reply; len(u.Printed) > u.Earlier {
			list = append(list, campaign.Attachment{Name: "stderr", Data: []byte(fault.Redact(u.Printed[u.Earlier:]))})
		}
	}
	return list
}

// plain reports whether the case belongs to the contract and has no faults.
func (t *trial) plain() bool { return t.p.Phase == PhaseContract && !t.cell.j.active.any }

// bounded removes the bodies of answers that exceed what evidence keeps of a case; these are
// reported as missing.
func bounded(answers []fault.Exchange) []fault.Exchange {
	room := maxAnswers
	for i := range answers {
		e := &answers[i]
		e.Request = e.Request[:min(len(e.Request), maxOther)]
		if room -= len(e.Response); room < 0 {
			e.Response = nil
		}
	}
	return answers
}

// evidenceText returns as much of a text as evidence keeps. If it cuts the text, it adds the
// original length.
func evidenceText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return fmt.Sprintf("%s […] (%d of %d bytes)", strings.ToValidUTF8(s[:n], ""), n, len(s))
}

// redacted returns a tool's arguments without the secrets in them.
func redacted(args json.RawMessage) json.RawMessage {
	if len(args) == 0 {
		return args
	}
	text := fault.Redact(string(args))
	if len(text) <= maxOther && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	quoted, _ := json.Marshal(evidenceText(text, maxOther)) // a string cannot fail
	return quoted
}

// normalize removes times, random ports and bodies from what chaos did. It returns the bodies of
// tools. Of each answer of a tool, it keeps the first shown bytes, at most maxText bytes of all
// answers together.
func (x *transcript) normalize(shown int) (answers []fault.Exchange) {
	x.Faults.Events, x.Faults.Exchanges = slices.Clone(x.Faults.Events), slices.Clone(x.Faults.Exchanges)
	room := maxText
	for i := range x.Faults.Events {
		e := &x.Faults.Events[i]
		e.At, e.Target = 0, record.Ports().ReplaceAllString(e.Target, "$1")
	}
	for i := range x.Faults.Exchanges {
		e := &x.Faults.Exchanges[i]
		e.At, e.Took, e.Key = 0, 0, ""
		e.URL, e.Tool = record.Ports().ReplaceAllString(e.URL, "$1"), record.Ports().ReplaceAllString(e.Tool, "$1")
		tool := e.Kind == fault.ToolCall || e.Kind == fault.MCPCall
		if tool {
			answers = append(answers, *e)
		}
		n := 0
		if tool {
			n = min(len(e.Response), shown, room)
		}
		room -= n
		e.Request, e.Response, e.RequestSize, e.ResponseSize = nil, e.Response[:n], 0, 0
	}
	x.Faults.ToolCalls, x.Faults.InputTokens, x.Faults.OutputTokens = nil, 0, 0 // shown with the turns
	return answers
}

func attachment(name string, v any) campaign.Attachment {
	data, err := json.Marshal(v)
	if err != nil { // cannot happen with these types
		data = []byte(strconv.Quote(err.Error()))
	}
	return campaign.Attachment{Name: name, Data: data}
}

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + " […]"
}

// Refine implements [campaign.Refiner].
func (c *Campaign) Refine(title string, severity campaign.Severity, o campaign.Outcome) (string, campaign.Severity) {
	return sentence(title, o), severity
}

// sentence returns a title of one line: what did not hold, and where in the document. What was
// asked and answered and which faults struck is in the evidence.
func sentence(title string, o campaign.Outcome) string {
	title = judge.Readable(title)
	var x transcript
	if json.Unmarshal(o.Attached(evidenceName), &x) != nil || x.Case == "" {
		return title
	}
	why, ok := strings.CutPrefix(title, judge.Readable(x.Case)+": ")
	if !ok {
		why, ok = strings.CutSuffix(title, " ("+judge.Readable(x.Case)+")")
	}
	if !ok {
		return diag.Runes(title, maxSentence)
	}
	where, _, _ := strings.Cut(x.Case, `, "`)
	lead := ""
	if x.Original != "" {
		where, _, _ = strings.Cut(x.Case, ` of "`)
	} else if id, scenario, ok := strings.Cut(x.Case, " in "); ok && strings.HasPrefix(o.Signature, PhaseContract+"|"+id+"|") {
		where, lead = scenario, id+": "
	}
	return lead + diag.Runes(strings.TrimPrefix(why, lead), maxSentence) + " (" + where + ")"
}

// maxSentence is the largest number of characters of a reason in a title.
const maxSentence = 110

// failure shows what did not hold, with the prompt, the faults that struck, and the first line of
// the reply.
func (x *transcript) failure(title string) campaign.Exhibit {
	lines := []string{judge.Readable(namedOnce(title))}
	if len(x.Turns) > 0 {
		at := x.about()
		u := &x.Turns[at]
		if prompt := shortened(u.Prompt); !strings.Contains(title, prompt) {
			lines = append(lines, "prompt: "+prompt)
		}
		here := x.exchanges()[at]
		struck := x.injectedFaults(func(e *fault.Event) bool {
			return slices.ContainsFunc(here, func(o fault.Exchange) bool { return o.Call == e.Call })
		})
		if len(struck) == 0 { // earlier faults may be the reason
			struck = x.injectedFaults(func(*fault.Event) bool { return true })
		}
		if len(struck) > 0 && !strings.Contains(title, "without faults") && !strings.Contains(title, "without any fault") {
			lines = append(lines, "fault:  "+strings.Join(struck[:min(3, len(struck))], ", "))
		}
		if text := strings.TrimSpace(u.Reply.Text); u.Reply.OK() && text != "" {
			lines = append(lines, "reply:  "+shortened(diag.FirstLine(text)))
		}
	}
	return campaign.TextExhibit("What failed", strings.Join(lines, "\n"))
}

// injectedFaults names the faults that were injected, each one once.
func (x *transcript) injectedFaults(which func(*fault.Event) bool) (names []string) {
	for i := range x.Faults.Events {
		e := &x.Faults.Events[i]
		name := string(e.Mode)
		if e.Target != "" {
			name += " of " + e.Target
		}
		if !e.Missed && e.Mode != "" && which(e) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Describe implements [campaign.Describer]: what failed, the questions and answers, the tools, the
// faults, all of it in order, and the session as a replay file.
func (c *Campaign) Describe(s *state, at campaign.Case, o campaign.Outcome, _ []byte) []campaign.Exhibit {
	var x transcript
	read := json.Unmarshal(o.Attached(evidenceName), &x) == nil
	var list []campaign.Exhibit
	var p payload
	known := json.Unmarshal(at.Payload, &p) == nil && c.inRange(&p) == nil
	if o.Verdict != campaign.VerdictPass {
		title := o.Title
		if known && p.Sample != nil { // the case that is shown sampled the cell again
			title = c.rateTitle(&p, p.Sample)
		}
		list = append(list, x.failure(title))
	}
	if !read {
		return list
	}
	// Either may be missing, because it was not steady or does not exist.
	_ = json.Unmarshal(o.Attached(measuredName), &x.measured)
	_ = json.Unmarshal(o.Attached(toolsName), &x.answers)
	var checks, tools [][]string
	for i, u := range x.Turns {
		for _, k := range u.Checks {
			word, figure := "failed", ""
			if k.Passed {
				word = "held"
			}
			if n := len(checks); n < len(x.measured) {
				figure = x.measured[n]
			}
			checks = append(checks, []string{fmt.Sprint(i + 1), k.ID, k.Type, word, judge.Readable(k.Reason), figure})
		}
		for _, tool := range u.Tools {
			args := ""
			if string(tool.Args) != "null" { // null: the arguments are not known
				args = cut(jsontree.Readable(string(tool.Args)), 500)
			}
			tools = append(tools, []string{fmt.Sprint(i + 1), tool.Name, args})
		}
	}
	list = append(list, c.replayComparison(&o, &x)...)
	if len(x.Turns) > 0 {
		list = append(list, x.conversation(&o))
	}
	if e, ok := c.withoutFaults(s, at); ok {
		list = append(list, e)
	}
	if len(checks) > 0 {
		e := campaign.TableExhibit("Checks", []string{"turn", "id", "type", "result", "reason", "measured"}, checks)
		for i, r := range checks {
			if r[3] == "failed" {
				e.Table.Focus = append(e.Table.Focus, i)
			}
		}
		list = append(list, e)
	}
	if n := len(x.Turns); n > 0 {
		u := x.Turns[x.about()]
		asked := u.Prompt // of the mutation; the finding may be about another turn
		if p.Of != nil {
			p = *p.Of
		}
		if p.Mutation != nil {
			asked = p.Mutation.Text
		}
		if x.Original != "" && x.Original != asked {
			list = append(list, differenceExhibit("Prompt, as it was mutated ("+x.How+")", x.Original, asked))
		}
		if x.Original == "" || x.Original == asked || u.Prompt != evidenceText(asked, maxText) {
			list = append(list, campaign.TextExhibit("Prompt", u.Prompt))
		}
		if u.Sent != "" {
			list = append(list, differenceExhibit("Prompt, as context attacks changed it", u.Prompt, u.Sent))
		}
		list = append(list, replied(&u.Reply))
		if x.Compared != nil {
			list = append(list, differenceExhibit("Reply without chaos, and this one", *x.Compared, x.Turns[n-1].Reply.Text))
		}
	}
	if said := o.Attached("stderr"); len(said) > 0 {
		e := campaign.TextExhibit("Standard error", string(said))
		e.Text.ReportOf = "agent"
		list = append(list, e)
	}
	if len(tools) > 0 {
		list = append(list, campaign.TableExhibit("Tools called", []string{"turn", "tool", "arguments"}, tools))
	}
	if p := c.origin(&o, &x); p != "" {
		list = append(list, campaign.TextExhibit("Place", "$."+p))
	}
	list = append(list, c.alsoIn(s, at, &o)...)
	list = append(list, x.faults()...)
	// A case that held and was not run again has no answers of its tools.
	if rec, ok := c.asSession(at, o, &x); ok && (o.Verdict == campaign.VerdictFail || len(x.answers) > 0 || len(tools) == 0) {
		list = append(list, campaign.TextExhibit(SessionExhibit, string(record.Format(rec))))
	}
	return list
}

// SessionExhibit is the title of the exhibit that holds a finding as a replay file.
const SessionExhibit = "Replay session"

// faults shows what chaos did, counted and in order.
func (x *transcript) faults() []campaign.Exhibit {
	var list []campaign.Exhibit
	var rows [][]string
	for _, y := range x.Faults.Tallies {
		rows = append(rows, []string{y.Rule, fmt.Sprint(y.Considered), fmt.Sprint(y.Fired), strings.Join(y.Missed, "; ")})
	}
	if len(rows) > 0 {
		list = append(list, campaign.TableExhibit("Faults", []string{"fault", "calls matched", "fired", "could not be injected"}, rows))
	}
	t := &campaign.Timeline{Unit: "step"}
	step := 0.0
	add := func(lane, label, kind, note string) {
		t.Spans = append(t.Spans, campaign.Span{Lane: lane, Label: label, Start: step, End: step + 1, Kind: kind, Note: cut(note, 400)})
		step++
	}
	for _, e := range x.Faults.Events {
		if e.Call == 0 {
			add("faults", string(e.Mode), "fault", e.Change)
		}
	}
	struck := make(map[int]bool)
	for i, list := range x.exchanges() {
		u := &x.Turns[i]
		add("agent", "asked", "message", u.Prompt)
		for _, e := range list {
			note := e.Error
			if e.Method != "" { // pipes and functions have no method
				note = strings.TrimSuffix(fmt.Sprintf("%s %s: status %d, %s", e.Method, e.URL, e.Status, e.Error), ", ")
			}
			add(string(e.Kind), e.Tool, "call", note)
			for _, v := range x.Faults.Events {
				if v.Call == e.Call && v.Call > 0 {
					add("faults", string(v.Mode), "fault", v.Change)
					struck[v.Call] = true
				}
			}
		}
		if i == len(x.Turns)-1 {
			for _, v := range x.Faults.Events {
				if v.Call > 0 && !struck[v.Call] {
					add("faults", string(v.Mode), "fault", v.Target+": "+v.Change)
				}
			}
		}
		if u.Reply.OK() {
			add("agent", "answered", "message", u.Reply.Text)
		} else {
			add("agent", string(u.Reply.End), "fault", u.Reply.Error)
		}
	}
	if len(t.Spans) > 1 {
		list = append(list, campaign.Exhibit{Kind: "timeline", Title: "Order of events", Timeline: t})
	}
	return list
}
