package report

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/markup"
)

// docPart is a part of a document: prose, rendered from its Markdown, or source lines around a
// block with a verdict.
type docPart struct {
	Prose markup.HTML
	Lines []docLine
}

type docLine struct {
	Number  int
	Verdict string // of the block that contains the line; "": none
	First   bool
	At      bool   // the surrounding block is about this line
	Link    string // to the case with that verdict; "": none
	Text    []run
	Notes   []string // of blocks that end here
}

func (d *drawer) document(doc *campaign.Document) ([]docPart, string) {
	body := head(doc.Body, d.limit())
	d.left -= len(body)
	lines, note := firstOf(strings.Split(strings.TrimSuffix(body, "\n"), "\n"), cmp.Or(d.lines, lineCap), "line")
	if len(body) < len(doc.Body) {
		note = fmt.Sprintf("cut: the first %s of %s", plural(len(lines), "line"), size(int64(len(doc.Body))))
	}
	judged := judgedLines(doc, lines)
	var parts []docPart
	for from := 0; from < len(lines); {
		to := from + 1
		for to < len(lines) && judged[to] == judged[from] {
			to++
		}
		if judged[from] {
			parts = append(parts, docPart{Lines: d.docLines(doc, lines[from:to], from)})
		} else if text := strings.Join(lines[from:to], "\n"); strings.TrimSpace(text) != "" {
			parts = append(parts, docPart{Prose: prose(text)})
		}
		from = to
	}
	return parts, note
}

// judgedLines returns which lines are shown as source: those of blocks, and all lines of a fenced
// block that contains one.
func judgedLines(doc *campaign.Document, lines []string) []bool {
	judged := make([]bool, len(lines))
	if doc.Line > 0 || doc.First > 1 && !slices.ContainsFunc(lines, func(l string) bool { return fenceOf(l) != "" }) { // a source file in any language
		for i := range judged {
			judged[i] = true
		}
		return judged
	}
	for _, b := range doc.Blocks {
		for n := max(b.From, 1); n <= min(b.To, len(lines)); n++ {
			judged[n-1] = true
		}
	}
	for from := 0; from < len(lines); from++ {
		mark := fenceOf(lines[from])
		if mark == "" {
			continue
		}
		to, any := from, judged[from]
		for to+1 < len(lines) {
			to++
			any = any || judged[to]
			if end := fenceOf(lines[to]); strings.HasPrefix(end, mark) && strings.Trim(strings.TrimSpace(lines[to]), mark[:1]) == "" {
				break
			}
		}
		for n := from; any && n <= to; n++ {
			judged[n] = true
		}
		from = to
	}
	return judged
}

// fenceOf returns the backquotes or tildes with which a line opens or closes a fenced block; "" if
// it does neither.
func fenceOf(line string) string {
	line = strings.TrimLeft(line, " ")
	if !strings.HasPrefix(line, "```") && !strings.HasPrefix(line, "~~~") {
		return ""
	}
	return line[:len(line)-len(strings.TrimLeft(line, line[:1]))]
}

// editor returns the end of an address that opens a document in an editor: its path and the line
// that matters; "": none.
func (d *drawer) editor(doc *campaign.Document) string {
	line := doc.Line
	for i := range doc.Blocks {
		if b := &doc.Blocks[i]; line == 0 && doc.First > 0 && b.Verdict == campaign.VerdictFail {
			line = doc.First + b.From - 1
		}
	}
	if d.folder == "" || line == 0 {
		return ""
	}
	path := doc.Name
	if !strings.HasPrefix(path, "/") {
		path = strings.TrimSuffix(d.folder, "/") + "/" + path
	}
	return (&url.URL{Path: path}).EscapedPath() + ":" + strconv.Itoa(line)
}

func (d *drawer) docLines(doc *campaign.Document, lines []string, before int) []docLine {
	out := make([]docLine, len(lines))
	for i, l := range lines {
		n := before + i + 1
		out[i] = docLine{Number: n + max(doc.First, 1) - 1, Text: runsOf(l, nil)}
		b := blockAt(doc, n)
		if b == nil {
			continue
		}
		out[i].Verdict, out[i].First, out[i].At = b.Verdict.String(), b.From == n, isNested(doc, b)
		if b.From == n && b.Case != nil && d.link != nil {
			out[i].Link = d.link(*b.Case)
		}
		if b.To == n && b.Note != "" {
			out[i].Notes = []string{b.Note}
		}
	}
	return out
}

// isNested reports whether a block is inside a longer one.
func isNested(doc *campaign.Document, b *campaign.Block) bool {
	return slices.ContainsFunc(doc.Blocks, func(x campaign.Block) bool {
		return x.From <= b.From && b.To <= x.To && x.To-x.From > b.To-b.From
	})
}
