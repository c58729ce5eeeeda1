package operator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/judge"
	"github.com/thresh-dev/thresh/engine/textdiff"
	"github.com/thresh-dev/thresh/engine/textop"
)

// Describe implements [campaign.Describer]: the case found first and, if it was shrunk, also the
// smallest prompt.
func (c *Campaign) Describe(s *state, _ campaign.Case, out campaign.Outcome, minimized []byte) []campaign.Exhibit {
	small := out
	if out.Whole != nil {
		out.Evidence = out.Whole
	}
	list := append(describe(&out), s.besideNote(&out)...)
	if minimized == nil {
		return list
	}
	var r recipe
	if json.Unmarshal(minimized, &r) != nil || r.Seed.Text == string(out.Attached("seed")) && r.Chain == nil {
		return list
	}
	list = append(list, promptExhibit("Smallest seed", r.Seed.Text))
	if child, ok := childOf(&small); ok && child.Text != r.Seed.Text {
		list = append(list, promptExhibit("Child of the smallest seed", child.Text))
		if r.Chain != nil {
			steps := traceTable(child.Trace)
			steps.Title = "Fewest operators, at their least strength"
			list = append(list, steps)
		}
	}
	return list
}

// childLine is a child as a JSON line.
type childLine struct {
	Testcase string `json:"testcase_id"`
	Derived  uint64 `json:"derived_seed"`
	Text     string `json:"child_text"`
	Trace    []step `json:"mutation_trace"`
}

func childOf(out *campaign.Outcome) (child childLine, ok bool) {
	line := out.Attached("child")
	return child, len(line) > 0 && json.Unmarshal(line, &child) == nil
}

// describe shows a case: the failure, the child, the conversation, and how the child was made.
func describe(out *campaign.Outcome) []campaign.Exhibit {
	var list []campaign.Exhibit
	if text := out.Attached("breaches"); len(text) > 0 {
		var rows [][]string
		for line := range strings.Lines(string(text)) {
			rows = append(rows, strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 4))
		}
		list = append(list, campaign.TableExhibit("What the contract forbids", []string{"operator", "kind", "defined at", "what it did"}, rows))
	}
	if goal := out.Attached("goal"); len(goal) > 0 {
		list = append(list, promptExhibit("Goal of the attacker", string(goal)))
	}
	child, made := childOf(out)
	if made {
		var chain []string
		for _, step := range child.Trace {
			if step.Status != string(textop.Skipped) { // it left the text unchanged
				chain = append(chain, step.OpID)
			}
		}
		made := ""
		if len(chain) > 0 {
			made = " (" + strings.Join(chain, ", ") + ")"
		}
		list = append(list, promptExhibit("Child "+child.Testcase+made, child.Text))
	}
	if reply := out.Attached("reply"); len(reply) > 0 {
		e := promptExhibit("Reply", string(reply))
		for _, at := range judge.Spots(string(out.Attached("judge")), e.Text.Body) {
			e.Text.Marks = append(e.Text.Marks, campaign.Mark{From: at[0], To: at[1], Kind: "focus"})
		}
		if out.Kind == "crashed" || len(e.Text.Marks) == 0 { // the whole text reports the crash, or lacks what a judge requires
			e.Text.Marks = []campaign.Mark{{To: len(e.Text.Body), Kind: "focus"}}
		}
		list = append(list, e)
	}
	if talk := out.Attached("conversation"); len(talk) > 0 {
		list = append(list, promptExhibit("Conversation", string(talk)))
	}
	if why := out.Attached("judge"); len(why) > 0 {
		list = append(list, campaign.TextExhibit("Judges", clip(judge.Readable(string(why)))))
	}
	if printed := out.Attached("printed"); len(printed) > 0 {
		e := campaign.TextExhibit("Standard error", string(bytes.ToValidUTF8(printed, []byte("\uFFFD"))))
		e.Text.ReportOf = "system"
		list = append(list, e)
	}
	if line := out.Attached("verdict"); len(line) > 0 {
		if e, ok := verdictTable(line); ok {
			list = append(list, e)
		}
	}
	for _, name := range []string{"stdout", "stderr"} {
		if text := out.Attached(name); len(text) > 0 {
			list = append(list, campaign.TextExhibit("The oracle's "+name, clip(string(text))))
		}
	}
	if made {
		if seed := string(out.Attached("seed")); seed != child.Text || len(child.Trace) > 0 {
			list = append(list, promptExhibit("Seed", seed))
			if seed != child.Text {
				list = append(list, diffExhibit("From seed to child", seed, child.Text))
			}
			list = append(list, traceTable(child.Trace))
		}
		list = append(list, campaign.TextExhibit("What decides it", fmt.Sprintf("testcase_id   %s\nderived seed  %d", child.Testcase, child.Derived)))
	}
	return list
}

// promptExhibit is a prompt as sent, with invisible characters written out.
func promptExhibit(title, text string) campaign.Exhibit { return promptUpTo(shownChars, title, text) }

// promptUpTo is promptExhibit for other maximum lengths.
func promptUpTo(most int, title, text string) campaign.Exhibit {
	n := utf8.RuneCountInString(text)
	title = fmt.Sprintf("%s, %d characters", title, n)
	if n == 1 {
		title = strings.TrimSuffix(title, "s")
	}
	cut := cut(text, most)
	shown := written(cut)
	if shown != cut {
		title += ", those that cannot be seen written out"
	}
	e := campaign.TextExhibit(title, shown)
	e.Text.Truncated = n > most
	return e
}

// written writes the invisible characters of a text as <U+200B>.
func written(text string) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case !unseen(r):
			b.WriteRune(r)
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd"):
			fmt.Fprintf(&b, "<%02X>", text[i])
		default:
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return b.String()
}

// unseen reports whether a character is invisible: controls, formats, selectors, fillers, and
// unusual blanks.
func unseen(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == ' ':
		return false
	case r < 0x80:
		return unicode.IsControl(r)
	case r == 0x2800 || r == 0x3164 || r == 0xffa0 || r == 0x115f || r == 0x1160: // blank Braille, Hangul fillers
		return true
	case r == 0x34f || r >= 0x17b4 && r <= 0x17b5: // joiner and vowels that have no form
		return true
	case r >= 0x180b && r <= 0x180f || r >= 0xfe00 && r <= 0xfe0e || r >= 0xe0000 && r <= 0xe0fff: // selectors and tags
		return true
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zs, unicode.Zl, unicode.Zp, unicode.Co) || r == utf8.RuneError
}

// step is a step of a trace, as written there.
type step struct {
	OpID   string          `json:"op_id"`
	Status string          `json:"status"`
	Params json.RawMessage `json:"params"`
	Before int             `json:"len_before"`
	After  int             `json:"len_after"`
	Error  string          `json:"error"`
}

func traceTable(trace []step) campaign.Exhibit {
	var rows [][]string
	for i, s := range trace {
		detail := string(s.Params)
		if s.Error != "" {
			detail = s.Error
		}
		if r := []rune(detail); len(r) > 160 {
			detail = string(r[:160]) + "..."
		}
		rows = append(rows, []string{strconv.Itoa(i + 1), s.OpID, s.Status, strconv.Itoa(s.Before), strconv.Itoa(s.After), detail})
	}
	e := campaign.TableExhibit("Steps", []string{"step", "operator", "status", "before", "after", "parameters"}, rows)
	e.Table.Numeric = []bool{true, false, false, true, true, false}
	return e
}

// shownChars limits texts in exhibits.
const shownChars = 4000

func clip(s string) string { return cut(s, shownChars) }

func cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}

// diffExhibit shows the word-by-word difference of two texts.
func diffExhibit(title, from, to string) campaign.Exhibit {
	var changes segments
	textdiff.Words(clip(from), clip(to), changes.add)
	list := mergeShort(changes)
	for i := range list {
		list[i].Text = written(list[i].Text)
	}
	return campaign.Exhibit{Kind: "diff", Title: title, Diff: &campaign.Diff{Segments: list}}
}

// mergeShort joins changes with only blanks and punctuation between them: a chance match of two
// texts is not informative.
func mergeShort(list []campaign.Segment) []campaign.Segment {
	var out segments
	for i := 0; i < len(list); {
		if list[i].Op == "equal" {
			out.add("equal", list[i].Text)
			i++
			continue
		}
		var gone, come strings.Builder
		for ; i < len(list); i++ {
			s := list[i]
			if s.Op == "equal" && (i == len(list)-1 || worded(s.Text)) {
				break
			}
			if s.Op != "insert" {
				gone.WriteString(s.Text)
			}
			if s.Op != "delete" {
				come.WriteString(s.Text)
			}
		}
		if text := gone.String(); text != "" {
			out.add("delete", text)
		}
		if text := come.String(); text != "" {
			out.add("insert", text)
		}
	}
	return out
}

// worded reports whether a text contains a letter or a digit.
func worded(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

type segments []campaign.Segment

func (s *segments) add(op, text string) {
	if n := len(*s); n > 0 && (*s)[n-1].Op == op {
		(*s)[n-1].Text += text
		return
	}
	*s = append(*s, campaign.Segment{Op: op, Text: text})
}
