package spectest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/lazy"
)

// Size limits for keeping the whole document with its verdicts; a document that holds throughout is
// less worth keeping.
const (
	shownHolding = 16 << 10
	shownFailing = 128 << 10
	shownFaults  = 200 // marked lines
)

// noGauge returns no size: a case is fixed by its document.
func noGauge(context.Context, []byte) (size int64, unit string) { return 0, "" }

// Describe implements [campaign.Describer]: expected and actual values, then the block, then the
// output of the command.
func (c *Campaign) Describe(_ *state, at campaign.Case, o campaign.Outcome, _ []byte) []campaign.Exhibit {
	var r result
	if json.Unmarshal(o.Data, &r) != nil {
		return nil
	}
	cs := c.Case(at.Index)
	if r.Failure == nil { // it held, but was expected to fail
		r.Failure = &Failure{Category: Assertion, Message: o.Title, Line: cs.From}
	}
	out := []campaign.Exhibit{campaign.TextExhibit("Failure", c.explain(cs, r.Failure, o))}
	if actual := o.Attached("actual"); actual != nil && !r.Failure.saysActual(string(actual)) {
		whole := o.Attached(beyondNote) == nil
		if want, equal := wantedWhole(r.Failure, o); equal && whole {
			if c := compare(want, string(actual)); strings.Count(c.diff, "\n") > shownDiff {
				out = append(out, textExhibit("Expected and actual", []byte(c.diff), nil))
			} else if c.diff == "" && len(c.places) == 0 && len(want) <= 16<<10 {
				out = append(out, campaign.Exhibit{Kind: "diff", Title: "Expected against actual", Diff: wordDiff(want, string(actual))})
			}
		} else if d, ok := difference(r.Failure, string(actual)); ok && whole {
			out = append(out, d)
		}
		var marks []campaign.Mark
		if whole {
			marks = mark(r.Failure, actual)
		}
		out = append(out, textExhibit("Actual "+r.Target, actual, marks))
	}
	if steps := o.Attached(stepsNote); steps != nil {
		out = append(out, textExhibit("Steps that failed", steps, nil))
	}
	also := besideFailures(o)
	if len(also) > 0 {
		out = append(out, c.besideExhibit(cs, r.Failure, also))
	}
	out = append(out, c.block(cs, r.Failure, also, o.Verdict))
	report, reporter := reportOf(cs, r.Failure, o)
	for _, name := range []string{"request", sentNote, chainNote, "call", "stdout", "stderr", "answer", changedNote, meanwhileNote} {
		text := o.Attached(name)
		if len(text) == 0 || name == r.Target && o.Attached("actual") != nil {
			continue
		}
		title := map[string]string{
			"stdout": "Standard output", "stderr": "Standard error", "answer": "Answer", "request": "Request", sentNote: "Request as it went", "call": "Call", chainNote: "Cases of the chain",
			changedNote:   "Changed in the folder that commands share, while the case ran",
			meanwhileNote: "Changed in the folder that commands share, while the case and others ran",
		}[name]
		e := textExhibit(title, text, nil)
		if name == report && !r.Failure.succeeded() {
			e.Text.ReportOf = reporter
		}
		out = append(out, e)
	}
	return out
}

// saysActual reports whether the explanation of a failure already shows the whole actual text: a
// single word.
func (f *Failure) saysActual(actual string) bool {
	return f.Op == "contain" && len(actual) <= 20 && len(strings.Fields(actual)) == 1
}

// succeeded reports whether a command should have failed and did not. Its output then reports no
// failure and says nothing about the cause.
func (f *Failure) succeeded() bool {
	return f.Op == "exit_code" && strings.HasSuffix(f.Want, ", not 0")
}

// numbered matches the parts of a path that identify one item among many.
var numbered = lazy.Pattern(`[^/]*\d[^/]*`)

// reportOf returns the attachment in which the system reports its failure and the part of the
// system that reports it; "" if there is none.
func reportOf(cs *Case, f *Failure, o campaign.Outcome) (name, reporter string) {
	has := func(name string) bool { return len(o.Attached(name)) > 0 }
	var status int
	switch head, _, _ := strings.Cut(string(o.Attached("answer")), "\n"); {
	case cs.cli != nil && f.Op == "exit_code" && has("stderr"):
		return "stderr", cs.cli.entry
	case cs.cli != nil && f.Op == "exit_code":
		return "stdout", cs.cli.entry
	case cs.http != nil:
		if n, _ := fmt.Sscanf(head, "status %d", &status); n == 1 && status >= http.StatusBadRequest {
			path, _, _ := strings.Cut(cs.http.url, "?")
			return "answer", fmt.Sprintf("%s %s %d", cs.http.method, numbered().ReplaceAllString(path, "*"), status)
		}
	case cs.system != nil && cs.system.plan != nil && !strings.HasPrefix(head, "answered"):
		reporter = cs.system.plan.Name + ": " + cs.system.call.Operation
		if has("stderr") {
			return "stderr", reporter
		}
		return "answer", reporter
	}
	return "", ""
}

// stepsNote is the attachment with all failed steps of a page.
const stepsNote = "steps"

// explain describes the failure in a few lines. The first line gives the place in the form that
// editors can follow.
func (c *Campaign) explain(cs *Case, f *Failure, o campaign.Outcome) string {
	text := c.reasons(cs, f, o) + besides(besideFailures(o))
	for name, who := range map[string]string{changedNote: "it", meanwhileNote: "it and others"} { // a case has at most one
		if list := o.Attached(name); len(list) > 0 {
			text += fmt.Sprintf("note:     the folder that commands share changed while %s ran: %s (isolate: true gives a case a copy)\n",
				who, clipped(strings.ReplaceAll(string(list), "\n", ", "), 300))
		}
	}
	return text
}

func (c *Campaign) reasons(cs *Case, f *Failure, o campaign.Outcome) string {
	var b strings.Builder
	line := f.Line
	if line == 0 {
		line = cs.From
	}
	fmt.Fprintf(&b, "%s:%d %s", c.name, line, cmp.Or(f.Step, cs.label()))
	if f.Path != "" {
		fmt.Fprintf(&b, "  %s", f.Path)
	}
	if f.Target != "" {
		fmt.Fprintf(&b, "  %s %s", f.Target, f.Op)
	}
	if also := besideFailures(o); len(also) > 0 {
		fmt.Fprintf(&b, "  (first of %d checks that failed)", 1+len(also)+left(also))
	}
	b.WriteByte('\n')
	if f.Want == "" || f.Category != Assertion {
		head := diag.FirstLine(f.Message)
		fmt.Fprintf(&b, "%s: %s\n", f.Category, clipped(head, 400))
		if f.Want == "" && o.Attached(stepsNote) == nil {
			return b.String()
		}
	}
	if f.Want != "" {
		fmt.Fprintf(&b, "expected: %s\n", clipped(f.Want, 400))
	}
	why := cmp.Or(string(o.Attached("because")), f.Saw) // older runs keep it in the failure
	if why != "" {
		fmt.Fprintf(&b, "because:  %s\n", clipped(why, 400))
	}
	if steps := o.Attached(stepsNote); steps != nil {
		all := slices.DeleteFunc(strings.SplitAfter(string(steps), "\n"), func(l string) bool {
			return strings.HasPrefix(l, " ") || strings.HasPrefix(l, "@@") // the exhibit below shows the context of changes
		})
		b.WriteString(strings.Join(all[:min(len(all), shownDiff)], ""))
		if len(all) > shownDiff {
			fmt.Fprintf(&b, "(%s)\n", diag.Plural(len(all)-shownDiff, "more line"))
		}
	} else if said := o.Attached(beyondNote); said != nil {
		b.Write(said)
	} else if actual := o.Attached("actual"); actual != nil {
		if want, equal := wantedWhole(f, o); equal {
			if c := compare(want, string(actual)); f.Op != "when" || why == "" || !c.plain() {
				c.write(&b)
			}
		} else {
			f.describeActual(&b, string(actual))
		}
	}
	if name, _ := reportOf(cs, f, o); name != "" && cs.system == nil { // the message already says why a system call ended
		said := strings.TrimSpace(string(o.Attached(name)))
		if _, body, ok := strings.Cut(said, "\n\n"); ok && name == "answer" {
			said, _, _ = strings.Cut(body, "\n")
		}
		lines := strings.Split(said, "\n")
		said = lines[len(lines)-1]
		if !json.Valid([]byte(said)) {
			said = quoteClipped(said)
		}
		fmt.Fprintf(&b, "%-9s %s\n", name+":", clipped(said, 300))
	}
	return b.String()
}

// wantedWhole is the text that the actual one should have equalled.
func wantedWhole(f *Failure, o campaign.Outcome) (string, bool) {
	for i := range o.Evidence {
		if o.Evidence[i].Name == "expected" {
			return string(o.Evidence[i].Data), true
		}
	}
	return f.Text, f.Op == "evaluate" && f.Text != "" // the form that older runs keep
}

// beyondNote is the attachment with how the actual text differs, where it or the expected one is too long to be kept:
// the beginnings that are kept may be equal.
const beyondNote = "beyond"

// beyond describes how the actual text differs if one of the two has more than limit bytes; "" otherwise.
func (f *Failure) beyond(limit int) string {
	var b strings.Builder
	switch {
	case f.actual == nil:
	case f.expected != nil && max(len(*f.actual), len(*f.expected)) > limit:
		compare(*f.expected, *f.actual).write(&b)
	case f.expected == nil && len(*f.actual) > limit:
		f.describeActual(&b, *f.actual)
	}
	return clipped(b.String(), maxBesideText)
}

// describeActual describes the actual text: all of a short one; of a longer one the number of lines
// and the part most like the expected text.
func (f *Failure) describeActual(b *strings.Builder, whole string) {
	text := strings.TrimSuffix(whole, "\n")
	if f.Op == "contain" && strings.Contains(norm.NFC.String(text), norm.NFC.String(f.Text)) { // it looks the same to a reader
		fmt.Fprintf(b, "differs:  the text has the same characters in another composition than %+q\n", f.Text)
	}
	count := strings.Count(text, "\n") + 1
	no, near := 0, ""
	op, refused := strings.CutPrefix(f.Op, "cannot ")
	switch {
	case refused && op == "contain" && f.Text != "":
		if i := strings.Index(text, f.Text); i >= 0 && count > 1 {
			no = strings.Count(text[:i], "\n") + 1
			near = strings.Split(text, "\n")[no-1]
		}
	case count > 1 && !refused:
		no, near = nearest(f.wanted(), text)
	}
	switch {
	case whole == "":
		b.WriteString("actual:   nothing\n")
		return
	case f.Target == wholeCase && !strings.HasSuffix(f.Want, thatIsJSON): // names and values
		fmt.Fprintf(b, "actual:   %s\n", clipped(text, 300))
		return
	case count == 1, no == 0 && count <= 5 && len(text) <= 300:
		fmt.Fprintf(b, "actual:   %s\n", quoteClipped(whole))
		return
	}
	fmt.Fprintf(b, "actual:   %d lines\n", count)
	if no == 0 {
		return
	}
	if refused {
		fmt.Fprintf(b, "found:    line %d: %s\n", no, quoteClipped(excerpt(f.wanted(), near)))
		return
	}
	if want := f.wanted(); strings.Contains(strings.TrimSuffix(want, "\n"), "\n") {
		at, instead := differing(want, text, no)
		lines := strings.Split(text, "\n")
		if at > len(lines) {
			fmt.Fprintf(b, "nearest:  ends at line %d, without %s\n", len(lines), quoteClipped(instead))
			return
		}
		fmt.Fprintf(b, "nearest:  line %d: %s\n          not %s\n", at, quoteClipped(lines[at-1]), quoteClipped(instead))
		return
	}
	fmt.Fprintf(b, "nearest:  line %d: %s\n", no, quoteClipped(excerpt(f.wanted(), near)))
}

// escapes matches the parts of a regular expression that are not literal text.
var escapes = lazy.Pattern(`\\[A-Za-z]|\(\?[A-Za-z]*[:)]?|\{[0-9,]*\}|\[[^]]*\]`)

// wanted is the text to find the nearest match for.
func (f *Failure) wanted() string {
	switch strings.TrimPrefix(f.Op, "cannot ") {
	case "contain", "evaluate":
		return f.Text
	case "regex":
		literal := escapes().ReplaceAllString(f.Text, " ")
		return strings.Map(func(r rune) rune { // roughly the literal text remains
			if strings.ContainsRune(`\^$.|?*+()[]{}`, r) {
				return ' '
			}
			return r
		}, literal)
	}
	return ""
}

// difference compares an expected text with the lines nearest to it.
func difference(f *Failure, actual string) (campaign.Exhibit, bool) {
	if f.Op != "contain" || f.Text == "" || len(f.Text) > 16<<10 {
		return campaign.Exhibit{}, false
	}
	want := strings.Split(f.Text, "\n")
	no, _ := nearest(want[0], actual)
	if no == 0 {
		return campaign.Exhibit{}, false
	}
	lines := strings.Split(actual, "\n")
	have := strings.Join(lines[no-1:min(len(lines), no-1+len(want))], "\n")
	return campaign.Exhibit{
		Kind: "diff", Title: fmt.Sprintf("Expected against line %d of %s", no, f.Target),
		Diff: wordDiff(f.Text, have),
	}, true
}

// mark highlights the nearest line, or the text that must not occur.
func mark(f *Failure, actual []byte) []campaign.Mark {
	if f.Op == "cannot contain" && f.Text != "" {
		if i := bytes.Index(actual, []byte(f.Text)); i >= 0 {
			return []campaign.Mark{{From: i, To: i + len(f.Text), Kind: "focus"}}
		}
	}
	no, near := nearest(f.wanted(), string(actual))
	if no == 0 {
		return nil
	}
	at := 0
	for range no - 1 {
		at += bytes.IndexByte(actual[at:], '\n') + 1
	}
	return []campaign.Mark{{From: at, To: at + len(near), Kind: "focus"}}
}

func textExhibit(title string, text []byte, marks []campaign.Mark) campaign.Exhibit {
	valid := string(bytes.ToValidUTF8(text, []byte("\uFFFD")))
	if len(valid) != len(text) {
		marks = nil // offsets have moved
	}
	return campaign.Exhibit{Kind: "text", Title: title, Text: &campaign.Text{Body: valid, Truncated: len(text) >= maxEvidence, Marks: marks}}
}

// block shows the case as it is written, with the failing lines marked.
func (c *Campaign) block(cs *Case, f *Failure, also []besideFailure, v campaign.Verdict) campaign.Exhibit {
	from, to := cs.From, cs.To
	if to-from > 200 { // a long list of cases
		from = max(from, f.Line-100)
		to = min(to, from+200)
	}
	var b strings.Builder
	for n := from; n <= to && n <= c.doc.lines.count; n++ {
		b.WriteString(c.doc.source(n) + "\n")
	}
	var blocks []campaign.Block
	for i, f := range append([]besideFailure{{Failure: *f}}, also...) {
		at := f.Line
		if at < from || at > to {
			at = from
		}
		if i == 0 || at == f.Line {
			blocks = append(blocks, campaign.Block{From: at - from + 1, To: at - from + 1, Verdict: v, Note: f.summary()})
		}
	}
	return campaign.Exhibit{Kind: "document", Title: fmt.Sprintf("%s, lines %d to %d", c.name, from, to), Document: &campaign.Document{
		Name: c.name, First: from, Body: strings.ToValidUTF8(b.String(), "\uFFFD"), Blocks: blocks,
	}}
}

// fault is the line of the document at which a case failed, with the reason.
func fault(at campaign.Case, o *campaign.Outcome) (campaign.Block, bool) {
	var r result
	if o.Verdict != campaign.VerdictFail || json.Unmarshal(o.Data, &r) != nil || r.Failure == nil || r.Failure.Line == 0 {
		return campaign.Block{}, false
	}
	return campaign.Block{From: r.Failure.Line, To: r.Failure.Line, Verdict: o.Verdict, Note: r.Failure.summary(), Case: &at.Index}, true
}

// Summarize implements [campaign.Summarizer]; its warnings name the blocks of pages that did not
// run.
func (c *Campaign) Summarize(s *state) campaign.Summary {
	sum := campaign.Summary{Exhibits: c.exhibits(s), Warnings: s.unread}
	if c.set.strict && !slices.ContainsFunc(s.verdicts, func(v campaign.Verdict) bool { return v != campaign.VerdictSkip }) {
		sum.Void = "every case was skipped, and --strict accepts no untested document"
	}
	return sum
}

// exhibits shows the document with the verdict of every block and the failures at their lines.
func (c *Campaign) exhibits(s *state) []campaign.Exhibit {
	limit := shownHolding
	if slices.Contains(s.verdicts, campaign.VerdictFail) || slices.Contains(s.verdicts, campaign.VerdictError) {
		limit = shownFailing
	}
	if len(c.doc.text) > limit || c.doc.format != "md" {
		return nil
	}
	worst := make(map[int32]campaign.Verdict)
	shows := make(map[int32]int64) // the first case with that verdict
	notes := make(map[int32][]string)
	for i, v := range s.verdicts {
		if int(c.slots[i].unit) >= c.doc.units() {
			continue // a page is not one place of the document
		}
		unit := c.doc.blockOf(c.slots[i].unit)
		if old, ok := worst[unit]; !ok || rank(v) > rank(old) {
			worst[unit], shows[unit] = v, int64(i)
		}
		if len(notes[unit]) < 5 {
			notes[unit] = append(notes[unit], c.Case(int64(i)).label())
		}
	}
	doc := &campaign.Document{Name: c.name, Body: strings.ToValidUTF8(string(c.doc.text), "\uFFFD")}
	for unit, b := range c.doc.found.all() {
		v, ok := worst[int32(unit)]
		if !ok {
			continue
		}
		last := c.doc.lineOf(max(b.end-1, b.open))
		if b.closed {
			last++
		}
		at := shows[int32(unit)]
		doc.Blocks = append(doc.Blocks, campaign.Block{
			From: c.doc.lineOf(b.open), To: min(last, c.doc.lines.count), Verdict: v, Note: strings.Join(notes[int32(unit)], ", "), Case: &at,
		})
	}
	doc.Blocks = append(doc.Blocks, s.faults...)
	return []campaign.Exhibit{{Kind: "document", Title: "Document " + c.name, Document: doc}}
}

// rank orders verdicts by their interest to a reader.
func rank(v campaign.Verdict) int {
	return slices.Index([]campaign.Verdict{campaign.VerdictSkip, campaign.VerdictPass, campaign.VerdictError, campaign.VerdictFail}, v)
}
