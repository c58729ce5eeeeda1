package spectest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// benchDocument has n cases of three groups each, with a file of 1 KB.
func benchDocument(b *testing.B, n int) []byte {
	write(b, "subject.txt", []byte("alpha\nbeta\nversion: 12\n"+strings.Repeat(strings.Repeat("x", 99)+"\n", 10)))
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, "## CASE-%d\n\n```yaml spec-test\nid: CASE-%d\ntype: text.file\npath: subject.txt\nassert:\n"+
			"  - target: text\n    must:\n      - contain: [\"alpha\", \"beta\"]\n      - regex: [\"version: [0-9]+\"]\n"+
			"  - target: text\n    cannot:\n      - contain: [\"ERROR\"]\n"+
			"  - target: text\n    can:\n      - contain: [\"nope\"]\n      - evaluate:\n          - [\"contains\", \"alpha\"]\n```\n\n", i, i)
	}
	return []byte(s.String())
}

func openBench(b *testing.B, doc []byte) (*Campaign, campaign.Executor[*state]) {
	b.Helper()
	camps, list := newContract(nil).Compile(b.Context(), campaign.Spec{Path: "a.spec.md", Data: doc}, campaign.Settings{Options: map[string][]string{}})
	if list.HasErrors() {
		b.Fatal(list)
	}
	c, _ := campaign.As[*Campaign](camps[0])
	x, err := campaign.Solo(b.Context(), c, campaign.Lane{Of: 1})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { x.Close() })
	return c, x
}

// BenchmarkCompile is a case from text to what can be run.
func BenchmarkCompile(b *testing.B) {
	b.Chdir(b.TempDir())
	const n = 500
	doc := benchDocument(b, n)
	b.ReportAllocs()
	for b.Loop() {
		newContract(nil).Compile(b.Context(), campaign.Spec{Path: "a.spec.md", Data: doc}, campaign.Settings{Options: map[string][]string{}})
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "cases/s")
}

// BenchmarkTextFile is a case of type text.file on one lane.
func BenchmarkTextFile(b *testing.B) {
	b.Chdir(b.TempDir())
	c, x := openBench(b, benchDocument(b, 500))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		o, err := x.Execute(b.Context(), &state{}, campaign.Case{Index: int64(i % len(c.slots))})
		if err != nil || o.Verdict != campaign.VerdictPass {
			b.Fatal(o, err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cases/s")
}

// BenchmarkCommand is a case of type cli.run on one lane. BenchmarkBareLoop is
// what it is measured against: a fork, in a temporary folder, and no more.
func BenchmarkCommand(b *testing.B) {
	b.Chdir(b.TempDir())
	_, x := openBench(b, []byte("```yaml spec-test\nid: A\ntype: cli.run\nharness: {entrypoint: /bin/echo}\nargv: [hello]\nassert: [{target: stdout, must: [{contain: [hello]}]}]\n```\n"))
	for b.Loop() {
		o, err := x.Execute(b.Context(), &state{}, campaign.Case{})
		if err != nil || o.Verdict != campaign.VerdictPass {
			b.Fatal(o, err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cases/s")
}

func BenchmarkBareLoop(b *testing.B) {
	for b.Loop() {
		dir, err := os.MkdirTemp("", "bare-")
		if err != nil {
			b.Fatal(err)
		}
		cmd := exec.Command("/bin/echo", "hello")
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil || !bytes.Contains(out, []byte("hello")) {
			b.Fatal(err)
		}
		if err := os.RemoveAll(dir); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cases/s")
}
