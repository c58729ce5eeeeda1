// Package textdiff compares texts: line by line as a unified diff, which patch and people
// read, and word by word. It does not interpret the texts, and imports nothing of Thresh.
package textdiff

import (
	"fmt"
	"slices"
	"strings"
)

// context is how many unchanged lines surround a change.
const context = 3

// change is lines [a0,a1) of the old text that lines [b0,b1) of the new replace.
type change struct{ a0, a1, b0, b1 int }

// Format returns the difference between two texts; "": there is none. The names are those of
// the header. Between a common beginning and end, lines are compared by the longest common
// subsequence; if that part has more than [Most] lines, between lines that occur once in each
// text.
func Format(oldName, newName, before, after string) string {
	if before == after {
		return ""
	}
	a, b := slices.Collect(strings.Lines(before)), slices.Collect(strings.Lines(after))
	changes := compare(a, b, Most)
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", oldName, newName)
	for len(changes) > 0 {
		n := 1
		for n < len(changes) && changes[n].a0-changes[n-1].a1 <= 2*context {
			n++
		}
		hunk(&out, a, b, changes[:n])
		changes = changes[n:]
	}
	return out.String()
}

func hunk(out *strings.Builder, a, b []string, changes []change) {
	first, last := changes[0], changes[len(changes)-1]
	before := min(context, first.a0)
	behind := min(context, len(a)-last.a1)
	a0, a1 := first.a0-before, last.a1+behind
	b0, b1 := first.b0-before, last.b1+behind
	fmt.Fprintf(out, "@@ -%s +%s @@\n", span(a0, a1), span(b0, b1))
	at := a0
	for _, c := range changes {
		lines(out, ' ', a[at:c.a0])
		lines(out, '-', a[c.a0:c.a1])
		lines(out, '+', b[c.b0:c.b1])
		at = c.a1
	}
	lines(out, ' ', a[at:a1])
}

// span formats a range of lines for the header of a hunk.
func span(from, to int) string {
	switch to - from {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprintf("%d", from+1)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

func lines(out *strings.Builder, sign byte, list []string) {
	for _, l := range list {
		out.WriteByte(sign)
		out.WriteString(l)
		if !strings.HasSuffix(l, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// Most is how many lines of each text are compared directly.
const Most = 4000

// compare finds the changes between two lists. The parts between a common beginning and end
// are compared if they have at most most entries.
func compare(a, b []string, most int) []change {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	x, y := a[head:len(a)-tail], b[head:len(b)-tail]
	if len(x) > most || len(y) > most {
		return between(x, y, head, most)
	}
	// common[i][j] is the longest common subsequence of x[i:] and y[j:].
	common := make([][]int16, len(x)+1)
	for i := range common {
		common[i] = make([]int16, len(y)+1)
	}
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if x[i] == y[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var list []change
	for i, j := 0, 0; i < len(x) || j < len(y); {
		if i < len(x) && j < len(y) && x[i] == y[j] {
			i, j = i+1, j+1
			continue
		}
		c := change{head + i, head + i, head + j, head + j}
		for i < len(x) || j < len(y) {
			switch {
			case i < len(x) && j < len(y) && x[i] == y[j]:
			case i < len(x) && (j == len(y) || common[i+1][j] >= common[i][j+1]):
				i++
				continue
			default:
				j++
				continue
			}
			break
		}
		c.a1, c.b1 = head+i, head+j
		list = append(list, c)
	}
	return list
}

// between finds the changes between long lists, which begin at the same position, part by
// part: between entries that occur once in each, in the same order.
func between(x, y []string, at, most int) (list []change) {
	i, j := 0, 0
	fixed := anchors(x, y)
	if len(fixed) == 0 {
		return []change{{at, at + len(x), at, at + len(y)}}
	}
	for _, f := range append(fixed, [2]int{len(x), len(y)}) {
		for _, c := range compare(x[i:f[0]], y[j:f[1]], most) {
			list = append(list, change{at + i + c.a0, at + i + c.a1, at + j + c.b0, at + j + c.b1})
		}
		i, j = f[0]+1, f[1]+1
	}
	return list
}

// anchors returns a longest sequence of entries that occur once in each list and have the same
// order in both, by index.
func anchors(x, y []string) [][2]int {
	type place struct{ inX, inY, timesX, timesY int }
	seen := make(map[string]*place)
	for i, s := range x {
		if seen[s] == nil {
			seen[s] = &place{}
		}
		seen[s].inX, seen[s].timesX = i, seen[s].timesX+1
	}
	for j, s := range y {
		if p := seen[s]; p != nil {
			p.inY, p.timesY = j, p.timesY+1
		}
	}
	var once []place
	for i, s := range x {
		if p := seen[s]; p.timesX == 1 && p.timesY == 1 && p.inX == i {
			once = append(once, *p)
		}
	}
	// ends[n] is the entry with which a row of n+1 entries ends earliest in y; before[k] is
	// the entry before k.
	var ends []int
	before := make([]int, len(once))
	for k, p := range once {
		n, _ := slices.BinarySearchFunc(ends, p.inY, func(e, inY int) int { return once[e].inY - inY })
		if before[k] = -1; n > 0 {
			before[k] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, k)
		}
		ends[n] = k
	}
	row := make([][2]int, len(ends))
	if len(ends) > 0 {
		for k, n := ends[len(ends)-1], len(ends)-1; n >= 0; k, n = before[k], n-1 {
			row[n] = [2]int{once[k].inX, once[k].inY}
		}
	}
	return row
}
