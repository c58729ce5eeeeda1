package report

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/campaign"
)

func TestTextFitsTheScreen(t *testing.T) {
	for _, width := range []int{60, 80, 100} {
		rec := richRecord()
		var b bytes.Buffer
		b.WriteString(write(t, "text", rec, Options{Width: width}))
		for _, f := range rec.Findings {
			if err := FindingText(&b, rec, f, Options{Width: width}); err != nil {
				t.Fatal(err)
			}
		}
		for _, line := range strings.Split(b.String(), "\n") {
			switch {
			case strings.Contains(line, "reproduce:"): // is pasted as one line
			case strings.Contains(line, " |"): // a dump has its own width
			case textWidth(line) > width:
				t.Errorf("width %d: %d columns: %s", width, textWidth(line), line)
			}
		}
	}
}

func TestColorChangesNothingElse(t *testing.T) {
	rec := richRecord()
	plain, painted := write(t, "text", rec, Options{}), write(t, "text", rec, Options{Color: true})
	if plain == painted || unpainted(painted) != plain {
		t.Error("text with colour says something else than text without")
	}
	if strings.Contains(plain, "\x1b") {
		t.Error("escape sequences without colour")
	}
}

func TestHostileTextStaysOffTheTerminal(t *testing.T) {
	rec := hostileRecord()
	checkPlain(t, write(t, "text", rec, Options{}))
	for _, f := range rec.Findings {
		var b bytes.Buffer
		if err := FindingText(&b, rec, f, Options{}); err != nil {
			t.Fatal(err)
		}
		checkPlain(t, b.String())
	}
	checkTAP(t, write(t, "tap", rec, Options{}))
}

// Where all points are whole, no tick stands between them.
func TestWholeTicks(t *testing.T) {
	for name, x := range map[string]struct {
		points [][2]float64
		want   string
	}{
		"two runs":  {[][2]float64{{1, 0}, {2, 1}}, "1 2"},
		"fractions": {[][2]float64{{1, 0}, {1.5, 1}}, "1 1.1 1.2 1.3 1.4 1.5"},
	} {
		var got []string
		for _, tick := range seriesOf("t", &campaign.Series{Lines: []campaign.Line{{Points: x.points}}}, 400, 200, false).XTicks {
			got = append(got, tick.Label)
		}
		if s := strings.Join(got, " "); s != x.want {
			t.Errorf("%s: %s, want %s", name, s, x.want)
		}
	}
}

// TestDumpHoldsEveryByte holds that what a dump shows and folds is each row's
// bytes, in order.
func TestDumpHoldsEveryByte(t *testing.T) {
	row := rapid.Custom(func(t *rapid.T) campaign.BytesRow {
		data := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 0, 0, 1}), 0, 400).Draw(t, "data")
		return campaign.BytesRow{Label: "r", Data: data, Size: int64(len(data)), Start: rapid.Int64Range(0, 40).Draw(t, "start")}
	})
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(row, 1, 3).Draw(t, "rows")
		got := make([][]byte, len(rows))
		for _, b := range dumpOf(&campaign.Bytes{Rows: rows}).Blocks {
			for _, l := range b.Lines {
				for r := range rows {
					if l.Row >= 0 && l.Row != r {
						continue
					}
					for _, c := range l.Cells {
						if c.There {
							got[r] = append(got[r], c.Byte)
						}
					}
				}
			}
		}
		for r := range rows {
			if !bytes.Equal(got[r], rows[r].Data) {
				t.Fatalf("row %d: %x, want %x", r, got[r], rows[r].Data)
			}
		}
	})
}

func TestDumpFarApart(t *testing.T) {
	d := dumpOf(&campaign.Bytes{Rows: []campaign.BytesRow{{Data: []byte("a"), Size: 1}, {Data: []byte("b"), Size: 1 << 40, Start: 1<<40 - 1}}})
	if n := len(d.Blocks[0].Lines); n != 2 {
		t.Errorf("%d lines", n)
	}
}

// TestGraphLayout holds that nodes of a layer do not lie over each other and
// that every way leads down, or up if it was turned.
func TestGraphLayout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "nodes")
		g := &campaign.Graph{}
		widths := make([]float64, n)
		for i := range n {
			g.Nodes = append(g.Nodes, campaign.Node{ID: string(rune('a' + i))})
			widths[i] = float64(rapid.IntRange(20, 200).Draw(t, "width"))
		}
		for range rapid.IntRange(0, 30).Draw(t, "edges") {
			a, b := rapid.IntRange(0, n-1).Draw(t, "from"), rapid.IntRange(0, n-1).Draw(t, "to")
			g.Edges = append(g.Edges, campaign.Edge{From: g.Nodes[a].ID, To: g.Nodes[b].ID})
		}
		l := layOut(g, widths)
		for _, row := range l.layers {
			for i := 1; i < len(row); i++ {
				a, b := l.spots[row[i-1]], l.spots[row[i]]
				if a.x+a.width/2 > b.x-b.width/2+0.001 {
					t.Fatalf("spots overlap: %+v %+v", a, b)
				}
			}
		}
		for _, w := range l.ways {
			from, to := l.spots[w.from].layer, l.spots[w.to].layer
			if w.from != w.to && (from < to) == w.turned {
				t.Fatalf("way from layer %d to %d, turned %v", from, to, w.turned)
			}
		}
	})
}

func TestThinKeepsPeaks(t *testing.T) {
	var ps [][2]float64
	for i := range 100000 {
		ps = append(ps, [2]float64{float64(i), 1})
	}
	ps[54321][1], ps[777][1] = 1000, -5
	got := downsample(ps)
	hi, lo := 0.0, 0.0
	for i, p := range got {
		hi, lo = max(hi, p[1]), min(lo, p[1])
		if i > 0 && p[0] <= got[i-1][0] {
			t.Fatal("x falls")
		}
	}
	if len(got) > pointCap || hi != 1000 || lo != -5 {
		t.Errorf("%d points from %v to %v", len(got), lo, hi)
	}
}

func TestFigures(t *testing.T) {
	for got, want := range map[string]string{
		count(1234567): "1,234,567", count(-1000): "-1,000", count(999): "999", size(1023): "1023 B", size(1 << 20): "1.0 MiB",
		duration(0.0123): "12 ms", duration(59.97): "1 min 00 s", duration(3725): "1 h 02 min", rate(3.21): "3.2/s", rate(98765): "98,765/s",
		percent(1): "100%", percent(0.99999): ">99.9%", percent(0.0001): "<0.1%", percent(0.5): "50%", number(math.Copysign(0, -1)): "0", tickLabel(60000): "60k",
		plural(1, "case"): "1 case", plural(2, "case"): "2 cases",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
