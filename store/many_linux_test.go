package store

import (
	"fmt"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/thresh-dev/thresh/campaign"
)

// processor is the time that this process has computed.
func processor(b *testing.B) time.Duration {
	var u unix.Rusage
	must(b, unix.Getrusage(unix.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkManyRuns is of stores of many runs, with three findings each: opening
// one and listing all of it, and then what pages ask.
func BenchmarkManyRuns(b *testing.B) {
	for _, n := range []int{150, 1000, 10_000} {
		dir := b.TempDir()
		s := openStore(b, dir)
		for i := range n {
			writeRun(b, s, aged(fmt.Sprint("spec", i%20), i), 3,
				finding(fmt.Sprintf("F-%010x", i*7919), campaign.SeverityHigh), finding(fmt.Sprintf("F-%010x", i%7), campaign.SeverityLow), finding("F-0000000abc", 2))
		}
		must(b, s.Close())
		last := fmt.Sprint("latest~", n/2)
		b.Run(fmt.Sprint(n, "/list"), func(b *testing.B) {
			began := processor(b)
			defer func() { b.ReportMetric(float64(processor(b)-began)/float64(b.N)/1e6, "cpu-ms/op") }()
			for b.Loop() {
				s, err := Open(dir)
				must(b, err)
				runs, err := s.Runs(RunQuery{})
				must(b, err)
				if len(runs) != n {
					b.Fatal(len(runs))
				}
				must(b, s.Close())
			}
		})
		s = openStore(b, dir)
		for name, ask := range map[string]func() error{
			"page":   func() error { _, err := s.Runs(RunQuery{Limit: 50, Offset: n / 3}); return err },
			"search": func() error { _, err := s.Runs(RunQuery{Text: "0000001eef", Limit: 50}); return err },
			"trends": func() error { _, _, err := s.Trends(12, 30); return err },
			"new": func() error {
				id, err := s.ResolveRun(last)
				must(b, err)
				_, err = s.Findings(FindingQuery{RunID: id, New: true})
				return err
			},
			"locate": func() error { _, _, err := s.LocateFinding("F-0000000abc"); return err },
			"history": func() error {
				id, err := s.ResolveRun(last)
				must(b, err)
				_, err = s.History(id, campaign.Finding{ID: "F-0000000abc", Contract: "fuzzspec", Campaign: "spec1"}, 20)
				return err
			},
		} {
			b.Run(fmt.Sprint(n, "/", name), func(b *testing.B) {
				began := processor(b)
				defer func() { b.ReportMetric(float64(processor(b)-began)/float64(b.N)/1e6, "cpu-ms/op") }()
				for b.Loop() {
					must(b, ask())
				}
			})
		}
	}
}
