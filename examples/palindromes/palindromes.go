package palindromes

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/shrink"
)

// Contract implements a format that lists words, one per line, below a first line that names the
// format. Each word must read the same backwards.
type Contract struct{}

const version = "palindromes v1"

func (Contract) Name() string                { return "palindromes" }
func (Contract) Summary() string             { return "words that must read the same backwards, one a line" }
func (Contract) Options() []campaign.Option  { return nil }
func (Contract) Detect(s campaign.Spec) bool { return bytes.HasPrefix(s.Data, []byte("palindromes ")) }

func (Contract) Starter(string) []campaign.File {
	return []campaign.File{{Name: "words.md", Data: []byte(version + "\nlevel\nnoon\n")}}
}

// Commands adds thresh palindromes complete. It is optional.
func (Contract) Commands() []campaign.Command {
	var odd bool // flags live here: each command line has its own
	return []campaign.Command{{Use: "palindromes", Summary: "tools for authors of palindromes", Commands: []campaign.Command{{
		Use: "complete WORD...", Summary: "Make words read the same backwards", Least: 1, Most: -1,
		Example: "  thresh palindromes complete lev",
		Flags:   func(fs campaign.Flags) { fs.BoolVar(&odd, "odd", false, "do not repeat the letter in the middle") },
		Run: func(_ context.Context, d campaign.Desk, args []string) error {
			for _, w := range args {
				back := []rune(w)
				slices.Reverse(back)
				if odd && w != "" {
					back = back[1:]
				}
				fmt.Fprintln(d.Out(), w+string(back))
			}
			return nil
		},
	}}}}
}

// Compile reports everything that is wrong with the document at once.
func (Contract) Compile(_ context.Context, s campaign.Spec, _ campaign.Settings) ([]campaign.Any, diag.List) {
	var list diag.List
	wrong := func(line int, code, message string) {
		list = append(list, diag.Diagnostic{Code: "palindromes." + code, Pos: diag.Pos{File: s.Path, Line: line, Col: 1}, Message: message})
	}
	lines := strings.Split(strings.TrimSuffix(string(s.Data), "\n"), "\n")
	if lines[0] != version {
		wrong(1, "version", "must be "+version)
	}
	for i, w := range lines[1:] {
		if w == "" || strings.ContainsAny(w, " \t") {
			wrong(i+2, "word", "must be one word")
		}
	}
	if list.HasErrors() {
		return nil, list
	}
	sum := sha256.Sum256(s.Data) // everything that decides the cases
	id := campaign.Identity{Contract: "palindromes", Name: s.Name, Digest: hex.EncodeToString(sum[:])}
	return []campaign.Any{campaign.Erase[int64](&words{id, lines[1:]})}, list
}

// words is a compiled document. Its state is the number of cases that have run.
type words struct {
	id   campaign.Identity
	list []string
}

func (w *words) Identity() campaign.Identity                   { return w.id }
func (w *words) Traits() campaign.Traits                       { return campaign.Traits{Planned: int64(len(w.list))} }
func (w *words) Probe(context.Context) (campaign.Facts, error) { return campaign.Facts{}, nil }
func (w *words) Start(campaign.Facts) int64                    { return 0 }
func (w *words) Close() error                                  { return nil }
func (w *words) Open(*campaign.Cache) campaign.Session[int64] {
	return campaign.Separate[int64](w.executor)
}
func (w *words) executor(context.Context, campaign.Lane) (campaign.Executor[int64], error) {
	return w, nil // nothing to start: the words themselves are the target
}

// Round returns all words at once; a guided campaign would return some of them.
func (w *words) Round(done int64) (campaign.Round, bool) {
	left := w.list[done:]
	return campaign.Round{Len: int64(len(left)), At: func(i int64) []byte { return []byte(left[i]) }}, len(left) > 0
}

func (w *words) Fold(done int64, results iter.Seq2[campaign.Case, campaign.Outcome]) int64 {
	for range results {
		done++
	}
	return done
}

// Execute judges one case. Facts depend on state and case alone.
func (w *words) Execute(_ context.Context, _ int64, c campaign.Case) (campaign.Outcome, error) {
	sum := sha256.Sum256(c.Payload)
	o := campaign.Outcome{Input: hex.EncodeToString(sum[:])}
	back := slices.Clone(c.Payload)
	slices.Reverse(back)
	if !bytes.Equal(back, c.Payload) {
		o.Verdict, o.Severity, o.Kind, o.Title = campaign.VerdictFail, campaign.SeverityLow, "asymmetry", "a word reads differently backwards"
	}
	return o, nil
}

// Reduce makes findings small; Describe shows them. Both are optional.
func (w *words) Reduce(ctx context.Context, payload []byte, test func([]byte) (bool, error)) ([]byte, string) {
	small, _ := shrink.Bytes(ctx, payload, test)
	return small, "byte"
}

func (w *words) Describe(_ int64, c campaign.Case, _ campaign.Outcome, minimized []byte) []campaign.Exhibit {
	rows := []campaign.BytesRow{{Label: "word", Data: c.Payload, Size: int64(len(c.Payload))}}
	if minimized != nil {
		rows = append(rows, campaign.BytesRow{Label: "smallest", Data: minimized, Size: int64(len(minimized))})
	}
	return []campaign.Exhibit{campaign.BytesExhibit("Word", rows...)}
}
