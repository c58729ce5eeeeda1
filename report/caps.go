package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/seq"
)

// Caps on what the reports for people draw of one exhibit. They always say what was cut; the json
// report has everything.
const (
	textCap     = 64 << 10 // bytes of text
	rowCap      = 500      // rows of a table
	lineCap     = 2000     // lines of a document
	spanCap     = 300      // spans of a timeline
	matrixCap   = 60       // rows, and columns, of a matrix in text
	briefRows   = 12       // rows of a matrix in the text report of a whole run
	briefText   = 2000     // bytes of a text in that report
	lastText    = 300      // bytes of a text at the end of a run
	lastTexts   = 10       // texts of a campaign at the end of a run
	heatCap     = 120      // rows, and columns, of a matrix on a page
	seriesCap   = 12       // lines of a series
	pointCap    = 400      // points of a line
	graphCap    = 60       // nodes of a graph
	graphEdges  = 240      // edges of a graph
	minimalCap  = 4 << 10  // bytes of a reproducer
	equalAround = 300      // bytes shown at each end of a long equal stretch of a diff
)

// cutText returns the start of a text, and a remark if that is not all of it.
func cutText(t *campaign.Text, limit int) (body, note string) {
	body = head(t.Body, limit)
	switch {
	case len(body) < len(t.Body):
		note = fmt.Sprintf("cut: the first %s of %s", size(int64(len(body))), size(int64(len(t.Body))))
	case t.Truncated:
		note = "cut at " + size(int64(len(t.Body))) + " when it was recorded"
	}
	return body, note
}

// briefly returns where to cut a text: at limit bytes, or after limit/25 lines if they are shorter.
func briefly(body string, limit int) int {
	most := limit / 25
	lines := strings.SplitAfterN(body, "\n", most+1)
	return min(limit, len(strings.Join(lines[:min(len(lines), most)], "")))
}

// firstOf returns the first elements, and a remark if these are not all.
func firstOf[T any](all []T, limit int, word string) ([]T, string) {
	if len(all) <= limit {
		return all, ""
	}
	return all[:limit], fmt.Sprintf("cut: the first %s of %s", count(limit), plural(len(all), word))
}

// marksIn returns the marks of a text that can be drawn: sorted, inside the text, not overlapping.
func marksIn(marks []campaign.Mark, n int) []campaign.Mark {
	out := slices.Clone(marks)
	slices.SortStableFunc(out, func(a, b campaign.Mark) int { return a.From - b.From })
	at := 0
	kept := out[:0]
	for _, m := range out {
		m.From, m.To = max(m.From, at), min(m.To, n)
		if m.From < m.To {
			kept = append(kept, m)
			at = m.To
		}
	}
	return kept
}

// elided returns a diff segment without the middle of a long equal stretch.
func elided(s campaign.Segment) (text string, gone int, rest string) {
	if s.Op == "insert" || s.Op == "delete" || len(s.Text) <= 3*equalAround {
		return s.Text, 0, ""
	}
	text = head(s.Text, equalAround)
	tail := len(head(s.Text, len(s.Text)-equalAround))
	return text, tail - len(text), s.Text[tail:]
}

// downsample returns at most pointCap drawable points of a line. It keeps the lowest and the
// highest of each stretch, so that no peak is lost.
func downsample(points [][2]float64) [][2]float64 {
	ps := seq.Filter(points, func(p [2]float64) bool { return finite(p[0]) == p[0] && finite(p[1]) == p[1] })
	if len(ps) <= pointCap {
		return ps
	}
	out := [][2]float64{ps[0]}
	stretches := (pointCap - 2) / 2
	for i := range stretches {
		from := 1 + i*(len(ps)-2)/stretches
		to := 1 + (i+1)*(len(ps)-2)/stretches
		lo, hi := from, from
		for k := from; k < to; k++ {
			if ps[k][1] < ps[lo][1] {
				lo = k
			}
			if ps[k][1] > ps[hi][1] {
				hi = k
			}
		}
		out = append(out, ps[min(lo, hi)])
		if lo != hi {
			out = append(out, ps[max(lo, hi)])
		}
	}
	return append(out, ps[len(ps)-1])
}

// ticks returns about n round numbers from lo to hi.
func ticks(lo, hi float64, n int) []float64 {
	if !(hi > lo) {
		return []float64{lo}
	}
	raw := (hi - lo) / float64(n)
	mag := math.Pow(10, math.Floor(math.Log10(raw)))
	step := mag
	for _, f := range []float64{1, 2, 5, 10} {
		if step = f * mag; step >= raw*0.999 {
			break
		}
	}
	var out []float64
	for k := math.Ceil(lo/step - 1e-9); k*step <= hi+step*1e-9; k++ {
		out = append(out, k*step)
	}
	return out
}
