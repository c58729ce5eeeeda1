package report

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/campaign"
)

// textRow is a byte string that is readable as text, with the differences marked.
type textRow struct {
	Label, Size string
	Empty       bool
	Parts       []textPart
}

// textPart is either lines of a row or, if Gone is not 0, the number of omitted lines that equal
// those of the row it is compared with.
type textPart struct {
	Gone int
	Text campaign.Text
	Runs []run
}

// textRows returns byte strings as text; nil if a dump says more: the first row, from which the
// others were made, is not readable, or a longer row mostly is not.
func textRows(b *campaign.Bytes) []textRow {
	for i, r := range b.Rows {
		if hidden := unreadable(r.Data); i == 0 && hidden > 0 || len(r.Data) > shortInput && hidden > len(r.Data)/2 || r.Start != 0 {
			return nil
		}
	}
	if len(b.Rows) == 0 || len(b.Rows[0].Data) == 0 {
		return nil
	}
	laid := layBytes(b.Rows)
	if len(laid) > 1 {
		markReplaced(laid[0], laid[1])
	}
	out := make([]textRow, len(b.Rows))
	for i, r := range b.Rows {
		data := r.Data[:len(laid[i])]
		t := campaign.Text{Body: string(data)}
		for k := 0; k < len(data); {
			_, n := utf8.DecodeRune(data[k:])
			changed := false
			for _, c := range laid[i][k : k+n] {
				changed = changed || c.changed
			}
			if last := len(t.Marks) - 1; changed && last >= 0 && t.Marks[last].To == k {
				t.Marks[last].To = k + n
			} else if changed {
				t.Marks = append(t.Marks, campaign.Mark{From: k, To: k + n})
			}
			k += n
		}
		out[i] = textRow{Label: r.Label, Size: size(max(r.Size, int64(len(r.Data)))), Empty: len(data) == 0, Parts: []textPart{{Text: t}}}
		if i < 2 && len(b.Rows) > 1 {
			out[i].Parts = withoutEqual(t, joints(laid[1-i], laid[i]))
		}
		for k := range out[i].Parts {
			p := &out[i].Parts[k]
			p.Runs = endsShown(runsOf(p.Text.Body, p.Text.Marks))
		}
	}
	return out
}

// shortInput is the size, in bytes, up to which an input is shown as text beside a readable one,
// whatever it contains.
const shortInput = 16

// unreadable counts the pieces of data that would have to be escaped as text.
func unreadable(data []byte) int {
	n := 0
	for _, p := range pieces(string(data), true) {
		if p.Hidden && p.Text != `\r` {
			n++
		}
	}
	return n
}

// markReplaced marks the bytes of the first row that the second lacks.
func markReplaced(base, row []laidByte) {
	kept := make(map[int64]byte, len(row))
	for _, c := range row {
		if !c.changed {
			kept[c.at] = c.value
		}
	}
	for k := range base {
		v, ok := kept[base[k].at]
		base[k].changed = !ok || v != base[k].value
	}
}

// endsShown writes out marked line ends, because nothing else would show that one was added or
// removed.
func endsShown(runs []run) []run {
	var out []run
	for _, r := range runs {
		for r.Mark != "" && !r.Hidden && strings.Contains(r.Text, "\n") {
			front, rest, _ := strings.Cut(r.Text, "\n")
			if front != "" {
				out = append(out, run{front, false, r.Mark})
			}
			out = append(out, run{`\n`, true, r.Mark}, run{"\n", false, ""})
			r.Text = rest
		}
		if r.Text != "" {
			out = append(out, r)
		}
	}
	return out
}

// linesAround is how many equal lines are shown before and after a different one. Stretches that
// would save fewer lines than that are shown as well.
const linesAround = 3

// joints returns the places in a row where bytes of the other row are missing.
func joints(other, row []laidByte) []int {
	var list []int
	k := 0
	for i := range row {
		if row[i].changed {
			continue
		}
		for ; k < len(other) && other[k].at < row[i].at; k++ {
			if len(list) == 0 || list[len(list)-1] != i {
				list = append(list, i)
			}
		}
		k++
	}
	if k < len(other) {
		list = append(list, len(row))
	}
	return list
}

// withoutEqual returns a text without long stretches of lines in which nothing is marked or
// missing.
func withoutEqual(t campaign.Text, joints []int) []textPart {
	lines := strings.SplitAfter(t.Body, "\n")
	if last := len(lines) - 1; last > 0 && lines[last] == "" {
		lines = lines[:last]
	}
	near, at := make([]bool, len(lines)), 0
	for i, l := range lines {
		end := at + len(l)
		if slices.ContainsFunc(t.Marks, func(m campaign.Mark) bool { return m.From < end && m.To > at }) ||
			slices.ContainsFunc(joints, func(j int) bool { return at <= j && (j < end || i == len(lines)-1) }) {
			for k := max(0, i-linesAround); k <= min(len(lines)-1, i+linesAround); k++ {
				near[k] = true
			}
		}
		at = end
	}
	var out []textPart
	for i := 0; i < len(lines); {
		n := i
		for n < len(lines) && near[n] == near[i] {
			n++
		}
		if body := strings.Join(lines[i:n], ""); !near[i] && n-i > linesAround {
			out = append(out, textPart{Gone: n - i})
		} else if k := len(out); k > 0 && out[k-1].Gone == 0 {
			out[k-1].Text.Body += body
		} else {
			out = append(out, textPart{Text: campaign.Text{Body: body}})
		}
		i = n
	}
	at = 0
	for i := range out {
		p := &out[i]
		for n := p.Gone; n > 0; n-- {
			at += strings.IndexByte(t.Body[at:]+"\n", '\n') + 1
		}
		for _, m := range t.Marks {
			if m.From >= at && m.From < at+len(p.Text.Body) {
				p.Text.Marks = append(p.Text.Marks, campaign.Mark{From: m.From - at, To: m.To - at, Kind: m.Kind})
			}
		}
		at += len(p.Text.Body)
	}
	return out
}
