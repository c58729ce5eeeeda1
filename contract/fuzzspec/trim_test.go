package fuzzspec

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/port/process"
)

// capitals takes an edge for each capital letter of an input, and one of its own for
// any; X crashes, Q is taken every second time only.
type capitals struct{ runs *int }

func (p capitals) Run(_ context.Context, c process.Case) (process.Result, error) {
	*p.runs++
	res := process.Result{Status: process.Exited, NoOutputs: true, Work: uint64(len(c.Input))}
	for edge := uint32('A'); edge <= 'Z'; edge++ {
		if bytes.IndexByte(c.Input, byte(edge)) >= 0 && (edge != 'Q' || *p.runs%2 == 1) {
			res.Edges = append(res.Edges, edge<<8|1)
		}
	}
	if bytes.HasPrefix(c.Input, []byte("X")) {
		res.Status, res.Signal = process.Signaled, 11
	}
	return res, nil
}
func (capitals) Notes() []string { return nil }
func (capitals) Close() error    { return nil }

// An input that joins the corpus is cut to what takes the edges that are new, and
// folding its outcome gives the same input. What is chance, or ends otherwise, is not
// cut to.
func TestTrim(t *testing.T) {
	runs := 0
	c := &Campaign{maker: referenceMaker{}, set: settings{guided: true, deep: true, outputs: "auto"}, seed: []byte("seed")}
	x := &executor{c: c, runner: capitals{&runs}}
	s := c.Start(campaign.Facts{})
	s.seen['K'<<8|1] = reach{}
	pad := func(text string) string { return text + string(bytes.Repeat([]byte("."), 200-len(text))) }
	for _, k := range []struct {
		input, left string
		most        int // runs
	}{
		{pad("....K..A..B.."), "A..B", 2 + 200/trimEvery},
		{pad("..X....A"), "", 2 + 200/trimEvery}, // never begins with X
		{"..A..", "..A..", 2},                    // too short to pay
		{pad("..A..Q"), "", 2 + 200/trimEvery},
		{pad("..K.."), "-", 0},
	} {
		runs = 0
		pc := process.Case{Index: 3, Input: []byte(k.input)}
		res, _ := x.runner.Run(context.Background(), pc)
		data, err := x.fresh(context.Background(), s, pc, res)
		if err != nil || runs > k.most+1 {
			t.Errorf("%q: %d runs, %v", k.input, runs, err)
		}
		if k.left == "-" {
			if data != nil {
				t.Errorf("%q joins the corpus", k.input)
			}
			continue
		}
		next := c.Fold(s, func(yield func(campaign.Case, campaign.Outcome) bool) {
			yield(campaign.Case{Payload: pc.Input}, campaign.Outcome{Data: data})
		})
		got := string(next.corpus[len(next.corpus)-1])
		again, _ := x.runner.Run(context.Background(), process.Case{Input: []byte(got)})
		if k.left != "" && len(got) > len(k.left)+8 || again.Status != process.Exited || !bytes.Contains([]byte(got), []byte("A")) || string(pc.Input) != k.input {
			t.Errorf("%q is cut to %q", k.input, got)
		}
		if e := next.entries[len(next.entries)-1]; e.work != uint64(len(got)) {
			t.Errorf("%q: %d edges are noted of %q", k.input, e.work, got)
		}
	}
}

// dawdler is the runner of capitals, but time ends the runs of some inputs.
type dawdler struct {
	capitals
	late func(input []byte) bool
}

func (p dawdler) Run(ctx context.Context, c process.Case) (process.Result, error) {
	if p.late(c.Input) {
		return process.Result{Status: process.SetAside}, nil
	}
	return p.capitals.Run(ctx, c)
}

// Time that ends another run of a case which reaches something new decides what becomes of
// it: the record and the figures tell.
func TestTimeDecidesNothingUnsaid(t *testing.T) {
	runs := 0
	c := &Campaign{maker: referenceMaker{}, set: settings{guided: true, deep: true, outputs: "auto"}, seed: []byte("seed")}
	s := c.Start(campaign.Facts{})
	input := append([]byte("A"), bytes.Repeat([]byte("."), 200)...)
	for want, late := range map[string]func([]byte) bool{
		"cases set aside 1, of them by time 1, run again 0": func(input []byte) bool { return true },
		"inputs with a cut ended by time 1":                 func(input []byte) bool { return len(input) < 50 },
		"":                                                  func(input []byte) bool { return false },
	} {
		pc := process.Case{Index: 3, Input: input}
		x := &executor{c: c, runner: dawdler{capitals{&runs}, late}}
		res, _ := capitals{&runs}.Run(context.Background(), pc)
		data, err := x.fresh(context.Background(), s, pc, res)
		if err != nil {
			t.Fatal(err)
		}
		next := c.Fold(s, func(yield func(campaign.Case, campaign.Outcome) bool) {
			yield(campaign.Case{Payload: input}, campaign.Outcome{Data: data})
		})
		var got []string
		for _, f := range c.Figures(next)[3:] {
			got = append(got, fmt.Sprint(f.Name, " ", f.Value))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("the figures are %q, want %q", got, want)
		}
	}
}
