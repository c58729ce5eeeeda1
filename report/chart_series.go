package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
)

// seriesView is a line chart as a page draws it. Positions are in units of the drawing's view box.
type seriesView struct {
	Title, Desc    string
	W, H           int
	Left, Right    string // edges of the plot
	Top, Bottom    string
	MidX, MidY     string
	XLabel, YLabel string
	XTicks, YTicks []tick
	Lines          []lineView
	Note           string
}

type tick struct{ At, Label string }

// lineView is one line. Class determines its colour and dashes, the shape of the points its form.
type lineView struct {
	Class string
	Name  string
	Path  string // "": the line has no points
	Last  string // the last value, or a note that there is none
	EndX  string
	EndY  string
}

// lineClasses is how many lines the style sheet distinguishes.
const lineClasses = 6

// seriesOf lays lines out in w by h. step holds each value until the next point.
func seriesOf(title string, v *campaign.Series, w, h int, step bool) *seriesView {
	lines, note := firstOf(v.Lines, seriesCap, "line")
	const left, right, top, bottom = 60.0, 14.0, 12.0, 44.0
	x0, x1 := left, float64(w)-right
	y0, y1 := float64(h)-bottom, top
	out := &seriesView{
		Title: title, W: w, H: h, Left: px(x0), Right: px(x1), Top: px(y1), Bottom: px(y0),
		MidX: px((x0 + x1) / 2), MidY: px((y0 + y1) / 2), XLabel: v.XLabel, YLabel: v.YLabel, Note: note,
	}
	xs, ys := extent(lines)
	atX := func(x float64) float64 { return x0 + (x-xs[0])/(xs[1]-xs[0])*(x1-x0) }
	atY := func(y float64) float64 { return y0 + (y-ys[0])/(ys[1]-ys[0])*(y1-y0) }
	for _, t := range wholeTicks(lines, 0, ticks(xs[0], xs[1], 5)) {
		out.XTicks = append(out.XTicks, tick{px(atX(t)), tickLabel(t)})
	}
	for _, t := range wholeTicks(lines, 1, ticks(ys[0], ys[1], 4)) {
		out.YTicks = append(out.YTicks, tick{px(atY(t)), tickLabel(t)})
	}
	var desc []string
	for i, l := range lines {
		ps := downsample(l.Points)
		if len(ps) == 0 {
			out.Lines = append(out.Lines, lineView{Class: "l" + strconv.Itoa(i%lineClasses), Name: l.Name, Last: "no points"})
			desc = append(desc, brief(l.Name)+" has no points")
			continue
		}
		end := ps[len(ps)-1]
		out.Lines = append(out.Lines, lineView{
			Class: "l" + strconv.Itoa(i%lineClasses), Name: l.Name, Path: path(ps, atX, atY, step),
			Last: number(end[1]), EndX: px(atX(end[0])), EndY: px(atY(end[1])),
		})
		desc = append(desc, fmt.Sprintf("%s goes from %s to %s", brief(l.Name), number(ps[0][1]), number(end[1])))
	}
	out.Desc = fmt.Sprintf("%s over %s from %s to %s: %s.", brief(v.YLabel), brief(v.XLabel), number(xs[0]), number(xs[1]), strings.Join(desc, "; "))
	return out
}

// extent returns the range of all points. The y range begins at 0 unless values are negative, so
// that heights are comparable.
func extent(lines []campaign.Line) (xs, ys [2]float64) {
	xs = [2]float64{math.Inf(1), math.Inf(-1)}
	ys = [2]float64{0, math.Inf(-1)}
	for _, l := range lines {
		for _, p := range downsample(l.Points) {
			xs[0], xs[1] = min(xs[0], p[0]), max(xs[1], p[0])
			ys[0], ys[1] = min(ys[0], p[1]), max(ys[1], p[1])
		}
	}
	if xs[0] > xs[1] {
		xs = [2]float64{0, 1}
	}
	if xs[0] == xs[1] {
		xs[1]++
	}
	if !(ys[1] > ys[0]) {
		ys[1] = ys[0] + 1
	}
	if t := ticks(ys[0], ys[1], 4); len(t) > 1 { // end on a tick
		ys[1] = max(ys[1], t[len(t)-1])
		if d := t[1] - t[0]; t[len(t)-1] < ys[1]-d*1e-6 {
			ys[1] = t[len(t)-1] + d
		}
	}
	return xs, ys
}

// wholeTicks removes ticks between whole numbers if all points on an axis are whole: there is no
// run 1.5.
func wholeTicks(lines []campaign.Line, axis int, at []float64) []float64 {
	for _, l := range lines {
		for _, p := range l.Points {
			if p[axis] != math.Trunc(p[axis]) {
				return at
			}
		}
	}
	return slices.DeleteFunc(at, func(t float64) bool { return math.Abs(t-math.Round(t)) > 1e-9 })
}

func path(ps [][2]float64, atX, atY func(float64) float64, step bool) string {
	var b strings.Builder
	for i, p := range ps {
		switch {
		case i == 0:
			b.WriteString("M" + px(atX(p[0])) + " " + px(atY(p[1])))
		case step:
			b.WriteString("H" + px(atX(p[0])) + "V" + px(atY(p[1])))
		default:
			b.WriteString("L" + px(atX(p[0])) + " " + px(atY(p[1])))
		}
	}
	return b.String()
}

// px formats a position with one decimal; more cannot be seen.
func px(f float64) string {
	return strconv.FormatFloat(math.Round(finite(f)*10)/10, 'f', -1, 64)
}

// tickLabel shortens a number to fit beside an axis: 60k, 1.5M.
func tickLabel(f float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if a := math.Abs(f); a >= unit.size && a >= 1e4 {
			return strconv.FormatFloat(f/unit.size, 'g', 4, 64) + unit.name
		}
	}
	return number(f)
}

// chartedSeconds is the shortest run, in seconds, that gets progress charts.
const chartedSeconds = 5

// progressCharts returns charts of a run's progress: cases over time, findings over cases.
func progressCharts(env *campaign.Environment) []*seriesView {
	if len(env.Progress) < 2 || env.Seconds < chartedSeconds {
		return nil
	}
	cases, findings := [][2]float64{{0, 0}}, [][2]float64{{0, 0}}
	for _, p := range env.Progress {
		cases = append(cases, [2]float64{p.Seconds, float64(p.Cases)})
		findings = append(findings, [2]float64{float64(p.Cases), float64(p.Findings)})
	}
	one := func(title, x, y string, ps [][2]float64, step bool) *seriesView {
		return seriesOf(title, &campaign.Series{XLabel: x, YLabel: y, Lines: []campaign.Line{{Name: y, Points: ps}}}, 480, 230, step)
	}
	return []*seriesView{
		one("Cases over time", "seconds", "cases", cases, false),
		one("Findings over cases", "cases", "findings", findings, true),
	}
}
