package web

import (
	"fmt"
	"math"
	"strconv"

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
			Class: orRunning(p.Verdict),
		})
	}
	v.Word = orRunning(v.Last.Verdict)
	now := value(v.Last)
	if v.Blessed {
		v.Figure = fmt.Sprintf("score %.3f", now)
	} else {
		v.Figure = strconv.Itoa(v.Last.Findings) + plural(v.Last.Findings, " finding")
	}
	if n := len(t.Points); n > 1 {
		d := now - value(t.Points[n-2])
		switch {
		case v.Blessed && d != 0:
			v.Change = fmt.Sprintf("%+.3f", d)
		case d != 0:
			v.Change = fmt.Sprintf("%+.0f", d)
		}
		v.Desc = fmt.Sprintf("%d runs; from %s to %s", n, short(value(t.Points[0])), v.Figure)
	} else {
		v.Desc = "one run; " + v.Figure
	}
	return v
}

func orRunning(verdict string) string {
	if verdict == "" {
		return "running"
	}
	return verdict
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

func short(f float64) string { return strconv.FormatFloat(f, 'g', 3, 64) }
