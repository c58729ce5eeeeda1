package report

import (
	"fmt"
	"strconv"

	"github.com/thresh-dev/thresh/campaign"
)

// timelineView is spans on lanes as a page draws them. Overlapping spans of one lane are stacked.
type timelineView struct {
	Title, Desc string
	W, H        int
	Left, Right string
	Axis        string // y position of the axis
	Ticks       []tick
	AxisLabel   string
	Unit        string
	Lanes       []laneView
	Spans       []spanView
	Kinds       []kindView
	Rows        []campaign.Span // the same as a table
	Note        string
}

type laneView struct{ Y, H, Mid, Name string }

type spanView struct {
	Class            string
	Point            string // outline of a point in time; "" for a span
	X, Y, W, H       string
	Label            string // "" if there is no room
	LabelX, LabelY   string
	Full             string // everything known about the span, shown on demand
	When, What, Lane string
}

type kindView struct{ Class, Name string }

// kindClasses is how many kinds of spans the style sheet distinguishes, not counting faults.
const kindClasses = 4

func timelineOf(title string, t *campaign.Timeline) *timelineView {
	spans, note := firstOf(t.Spans, spanCap, "span")
	const left, right, rowH, gap = 132.0, 16.0, 24.0, 8.0
	out := &timelineView{Title: title, W: 800, Left: px(left), Right: px(800 - right), Unit: t.Unit, Rows: spans, Note: note}
	lo, hi := spanRange(spans)
	at := func(v float64) float64 { return left + (v-lo)/(hi-lo)*(800-left-right) }

	lanes, rows := stack(spans, func(p campaign.Span) (from, to float64) {
		return at(finite(p.Start)), max(at(finite(p.End)), at(finite(p.Start))+10)
	})
	y := gap
	tops := map[string]float64{}
	for _, l := range lanes {
		h := float64(l.rows)*rowH + gap
		tops[l.name] = y
		out.Lanes = append(out.Lanes, laneView{px(y), px(h - gap), px(y + (h-gap)/2 + 4), clip(brief(l.name), 16)})
		y += h
	}
	kinds := map[string]string{}
	for i, p := range spans {
		class, ok := kinds[p.Kind]
		if !ok {
			class = "k" + strconv.Itoa(len(kinds)%kindClasses)
			if p.Kind == "fault" {
				class = "kfault"
			}
			kinds[p.Kind] = class
			if p.Kind != "" {
				out.Kinds = append(out.Kinds, kindView{class, p.Kind})
			}
		}
		out.Spans = append(out.Spans, spanOf(p, class, t.Unit, at, tops[p.Lane]+float64(rows[i])*rowH, rowH-4))
	}
	out.Axis, out.AxisLabel, out.H = px(y+4), px(y+20), int(y)+30
	for _, v := range ticks(lo, hi, 8) {
		out.Ticks = append(out.Ticks, tick{px(at(v)), number(v)})
	}
	out.Desc = fmt.Sprintf("%s on %s from %s to %s %s; the table below lists them.",
		plural(len(spans), "span"), plural(len(lanes), "lane"), number(lo), number(hi), visible(t.Unit))
	return out
}

func spanOf(p campaign.Span, class, unit string, at func(float64) float64, y, h float64) spanView {
	from, to := at(finite(p.Start)), at(finite(p.End))
	v := spanView{Class: class, X: px(from), Y: px(y), W: px(max(to-from, 2)), H: px(h), Full: spanText(p, unit)}
	text := brief(p.Label)
	if p.Start == p.End {
		mid, r := y+h/2, 6.0
		v.Point = fmt.Sprintf("%s,%s %s,%s %s,%s %s,%s", px(from), px(mid-r), px(from+r), px(mid), px(from), px(mid+r), px(from-r), px(mid))
		return v
	}
	if room := int((to - from - 8) / 7); room >= 3 {
		v.Label, v.LabelX, v.LabelY = clip(text, room), px(from+5), px(y+h/2+4)
	}
	return v
}

func spanText(p campaign.Span, unit string) string {
	s := number(p.Start)
	if p.End != p.Start {
		s += " to " + number(p.End)
	}
	s += " " + visible(unit) + ": " + brief(p.Label)
	if p.Kind != "" {
		s += " (" + brief(p.Kind) + ")"
	}
	if p.Note != "" {
		s += ", " + brief(p.Note)
	}
	return s
}

func spanRange(spans []campaign.Span) (lo, hi float64) {
	for i, p := range spans {
		a, b := finite(p.Start), finite(p.End)
		if i == 0 {
			lo, hi = a, b
		}
		lo, hi = min(lo, a), max(hi, b)
	}
	if !(hi > lo) {
		hi = lo + 1
	}
	return lo, hi
}

type lane struct {
	name string
	rows int
}

// stack gives each span a free row of its lane. Lanes are in the order in which the spans first
// name them.
func stack(spans []campaign.Span, drawn func(campaign.Span) (from, to float64)) ([]lane, []int) {
	var lanes []lane
	index := map[string]int{}
	var free [][]float64 // per lane and row: from where it is free
	rows := make([]int, len(spans))
	for i, p := range spans {
		at, ok := index[p.Lane]
		if !ok {
			at = len(lanes)
			index[p.Lane] = at
			lanes, free = append(lanes, lane{name: p.Lane}), append(free, nil)
		}
		from, to := drawn(p)
		row := 0
		for row < len(free[at]) && free[at][row] > from {
			row++
		}
		if row == len(free[at]) {
			free[at] = append(free[at], 0)
			lanes[at].rows++
		}
		free[at][row] = to
		rows[i] = row
	}
	return lanes, rows
}
