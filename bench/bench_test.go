package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestBurst(t *testing.T) {
	b := burst{cases: 1040, seconds: 2.5, cpu: 3 * time.Second, few: 40, setup: 0.5, fewCPU: time.Second}
	if got := b.rate(); got != 416 {
		t.Errorf("rate %g, want 416", got)
	}
	if got := b.steady(); got != 500 {
		t.Errorf("rate beyond set-up %g, want 500", got)
	}
	if got := b.cpuMicros(); got != 2000 {
		t.Errorf("processor time %g µs a case, want 2000", got)
	}
	if b := (burst{cases: 40, few: 40, seconds: 1, setup: 1}); b.steady() != 0 || b.cpuMicros() != 0 {
		t.Errorf("a burst of set-up alone has rate %g and %g µs beyond it", b.steady(), b.cpuMicros())
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		list []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 5}, 5}, {[]float64{4, 1, 2, 8}, 3}} {
		if got := median(c.list); got != c.want {
			t.Errorf("median of %v is %g, want %g", c.list, got, c.want)
		}
	}
}

// fixed is a contender that has the given rates, one a round, for each worker.
func fixed(name string, rates ...int64) contender {
	round := make(map[int]int)
	return contender{name: name, pilot: 1, run: func(_ context.Context, workers int, _ int64) (burst, error) {
		rate := rates[round[workers]%len(rates)]
		round[workers]++
		if rate == 0 {
			return burst{}, errors.New("out of order")
		}
		return burst{cases: rate * int64(workers), seconds: 1, cpu: time.Second}, nil
	}}
}

// Ratios are taken within a round, so that a machine that is slow in one round
// does not show in them.
func TestRatiosAreOfTheSameRound(t *testing.T) {
	base := fixed("base", 1000, 100, 1000)
	tally := newTally([]contest{{name: "target", base: &base, contenders: []contender{
		fixed("thresh run, fast", 2000, 200, 2000),
		fixed("broken", 10, 0),
	}}})
	for range 3 {
		if err := tally.round(context.Background(), options{smoke: true, calm: 100}); err != nil {
			t.Fatal(err)
		}
	}
	if err := tally.err(); err != nil {
		t.Errorf("another tool's failure fails the bench: %v", err)
	}
	for _, r := range tally.rows {
		switch r.name {
		case "thresh run, fast":
			if len(r.ratios) != 3 || median(r.ratios) != 2 {
				t.Errorf("%d workers: ratios %v, want 2 in each of 3 rounds", r.workers, r.ratios)
			}
		case "broken":
			if len(r.rates) != 1 || r.failed == nil {
				t.Errorf("%d workers: a contender that failed was run %d times more", r.workers, len(r.rates)-1)
			}
		}
	}
	table := tally.table()
	for _, want := range []string{"target: **thresh run, fast**", "2,000", "2.00", "failed: out of order"} {
		if !strings.Contains(table, want) {
			t.Errorf("the table lacks %q:\n%s", want, table)
		}
	}
	lines := strings.Split(table, "\n")
	for _, l := range lines[:len(tally.rows)+2] {
		if len([]rune(l)) != len([]rune(lines[0])) {
			t.Errorf("the table's lines differ in length:\n%s", table)
			break
		}
	}
}

func TestThreshFailureFails(t *testing.T) {
	tally := newTally([]contest{{name: "target", contenders: []contender{fixed("thresh run, spawn", 0)}}})
	if err := tally.round(context.Background(), options{smoke: true, calm: 100}); err != nil {
		t.Fatal(err)
	}
	if tally.err() == nil {
		t.Error("a failure of Thresh goes unseen")
	}
}

func TestChoose(t *testing.T) {
	all := []contest{
		{name: "static C", contenders: []contender{{name: "thresh run, spawn"}, {name: "zzuf"}}},
		{name: "jq", contenders: []contender{{name: "thresh run, spawn"}}},
	}
	for only, want := range map[string]string{
		"": "static C: thresh run, spawn; static C: zzuf; jq: thresh run, spawn; ", "zzuf": "static C: zzuf; ",
		"jq": "jq: thresh run, spawn; ", "zzuf,jq": "static C: zzuf; jq: thresh run, spawn; ", "nothing": "",
	} {
		got := ""
		for _, c := range choose(all, only) {
			for _, x := range c.contenders {
				got += c.name + ": " + x.name + "; "
			}
		}
		if got != want {
			t.Errorf("--only %q keeps %q, want %q", only, got, want)
		}
	}
}

func TestAFLStats(t *testing.T) {
	b, err := aflStats("start_time        : 1700000000\nexecs_done        : 145577\nexecs_per_sec     : 48525.67\n")
	if err != nil || b.cases != 145577 || b.rate() < 48525 || b.rate() > 48526 {
		t.Errorf("got %+v, %v", b, err)
	}
	for _, text := range []string{"", "execs_done : x\nexecs_per_sec : 1\n", "execs_done : 5\n"} {
		if _, err := aflStats(text); err == nil {
			t.Errorf("%q is taken for statistics", text)
		}
	}
}

func TestForeignLoad(t *testing.T) {
	a, b := parseLoad("cpu  100 0 50 1000 10 0 0 0 0 0"), parseLoad("cpu  160 0 90 1100 10 0 0 0 0 0")
	share, ok := a.foreign(b, 500*time.Millisecond)
	if !ok || share != 0.25 {
		t.Errorf("others used %g, want 0.25 of the processors", share)
	}
	if _, ok := (load{}).foreign(load{}, 0); ok {
		t.Error("a machine that tells nothing has a load")
	}
}

// A tool that is not there is said and left out.
func TestLabWithoutTools(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	program := filepath.Join(t.TempDir(), "thresh")
	if err := os.WriteFile(program, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	l, err := newLab(t.Context(), program)
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	if len(l.missing) < 7 {
		t.Errorf("left out: %q", l.missing)
	}
	if c := contests(l); len(c) != 0 {
		t.Errorf("%d contests without a target", len(c))
	}
	if _, err := newLab(t.Context(), program+"-gone"); err == nil {
		t.Error("a program that does not exist is measured")
	}
}
