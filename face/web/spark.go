package web

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/report"
	"github.com/thresh-dev/thresh/store"
)

// specView is a campaign's trend as the page of runs draws it.
type specView struct {
	store.SpecTrend
	Last    store.TrendPoint
	Word    string // for the newest run
	Figure  string // the value at the last point
	Change  string // since the point before
	Desc    string // of the drawing, for screen readers
	Bars    []sparkBar
	W, H    int
	Blessed bool // Figure is a score
}

type sparkBar struct {
	X, Y, W, H string
	Class      string
}

const (
	sparkW, sparkH = 168, 36
	barW, barGap   = 5, 2
)

// specViewOf draws a bar for each run: the height is the score if there is one, otherwise the
// number of findings; the style is the verdict.
func specViewOf(t store.SpecTrend) specView {
	v := specView{SpecTrend: t, W: sparkW, H: sparkH}
	if len(t.Points) == 0 {
		return v
	}
	v.Last = t.Points[len(t.Points)-1]
	v.Blessed = v.Last.Score != nil
	most := 1.0
	value := func(p store.TrendPoint) float64 {
		switch {
		case !v.Blessed:
			return float64(p.Findings)
		case p.Score != nil:
			return *p.Score
		}
		return 0
	}
	if !v.Blessed {
		for _, p := range t.Points {
			most = max(most, value(p))
		}
	}
	for i, p := range t.Points {
		// The newest run is at the right edge, however many there are.
		x := sparkW - (len(t.Points)-i)*(barW+barGap)
		h := math.Max(2, math.Round(value(p)/most*(sparkH-4)))
		v.Bars = append(v.Bars, sparkBar{
			X: strconv.Itoa(x), Y: strconv.FormatFloat(sparkH-1-h, 'f', -1, 64), W: strconv.Itoa(barW), H: strconv.FormatFloat(h, 'f', -1, 64),
			Class: cmp.Or(p.Verdict, "running"),
		})
	}
	v.Word = cmp.Or(v.Last.Verdict, "running")
	now := value(v.Last)
	if v.Blessed {
		v.Figure = "score " + report.Score(now)
	} else if v.Last.Findings == 0 && v.Last.Failed > 0 { // the failing cases of a killed run are not grouped
		v.Figure = diag.Plural(v.Last.Failed, "failing case")
	} else {
		v.Figure = diag.Plural(v.Last.Findings, "finding")
	}
	if n := len(t.Points); n > 1 {
		d := now - value(t.Points[n-2])
		switch {
		case v.Blessed && d != 0:
			v.Change = report.Moved(0, d)
		case d != 0:
			v.Change = fmt.Sprintf("%+.0f", d)
		}
		v.Desc = fmt.Sprintf("%d runs; from %s to %s", n, v.figureOf(t.Points[0]), v.Figure)
	} else {
		v.Desc = "one run; " + v.Figure
	}
	return v
}

// figureOf returns a point's value as the drawing shows it.
func (v *specView) figureOf(p store.TrendPoint) string {
	if v.Blessed && p.Score != nil {
		return report.Score(*p.Score)
	}
	return strconv.Itoa(p.Findings)
}

// trendRuns is how many runs back the charts of one campaign go.
const trendRuns = 200

// trendCharts returns a campaign's history as charts: its score, if there is one, and what it
// found. A single run gives none.
func trendCharts(t store.SpecTrend) []report.Exhibit {
	var score, found, failed campaign.Line
	score.Name, found.Name, failed.Name = "score", "findings", "failing cases"
	for i, p := range t.Points {
		x := float64(i + 1)
		if p.Score != nil {
			score.Points = append(score.Points, [2]float64{x, 100 * *p.Score})
		}
		if p.Verdict != "" {
			found.Points = append(found.Points, [2]float64{x, float64(p.Findings)})
			failed.Points = append(failed.Points, [2]float64{x, float64(p.Failed)})
		}
	}
	var list []report.Exhibit
	add := func(title, y string, lines ...campaign.Line) {
		e := campaign.SeriesExhibit(title, "run, oldest first", y, lines...)
		list = append(list, report.DrawExhibit(&e))
	}
	if len(score.Points) > 1 {
		add("Score over runs", "score, %", score)
	}
	if len(found.Points) > 1 {
		add("Findings over runs", "number", found, failed)
	}
	return list
}
