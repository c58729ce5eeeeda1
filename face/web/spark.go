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
	Word    string // of the newest run
	Figure  string // what its last point is about
	Change  string // since the point before
	Desc    string // of the drawing, for those who do not see it
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

// specViewOf draws a bar for each run: its height is the score where there is
// one and the number of findings elsewhere, its look the verdict.
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
		// The newest run stands at the right edge, whatever their number.
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
	} else if v.Last.Findings == 0 && v.Last.Failed > 0 { // of a killed run they are not grouped
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

// figureOf is a point as the drawing shows it.
func (v *specView) figureOf(p store.TrendPoint) string {
	if v.Blessed && p.Score != nil {
		return report.Score(*p.Score)
	}
	return strconv.Itoa(p.Findings)
}

// trendRuns is how many runs the charts of one campaign go back.
const trendRuns = 200

// trendCharts is a campaign's history as charts: its score where there is one,
// and what it found. There are none of a single run.
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
