package fuzzspec

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// mutated is the output of fuzzspec mutate for a case.
type mutated struct {
	CaseIndex int64             `json:"case_index"`
	RNGSeed   json.Number       `json:"rng_seed"`
	SHA256    string            `json:"sha256"`
	SizeBytes int               `json:"size_bytes"`
	Mutations []json.RawMessage `json:"mutations"`
}

func mutateCommand() campaign.Command {
	var spec, cases, seed string
	var index int64
	var raw bool
	var given func(flag string) bool
	c := campaign.Command{
		Use:     "mutate --spec FILE --case N",
		Summary: "Print the bytes of a case, or its facts as JSON",
		Long: `Mutate makes cases without running anything. With --raw it writes the bytes of
one case; otherwise it prints {case_index, rng_seed, sha256, size_bytes, mutations}.
--cases A:B prints one JSON line for each case from A up to, not including, B.`,
		Example: `  thresh fuzzspec mutate --spec spec.json --case 7 --raw > case7.bin
  thresh fuzzspec mutate --spec spec.json --cases 0:1000 | jq -r .sha256`,
		Run: func(ctx context.Context, d campaign.Desk, _ []string) error {
			from, to := index, index+1
			switch ranged := given("cases"); {
			case ranged == given("case"):
				return diag.Refused("give either --case N or --cases A:B")
			case ranged:
				var err error
				if from, to, err = parseRange(cases); err != nil {
					return err
				}
			}
			if raw && to-from != 1 {
				return diag.Refused("--raw writes one case; give --case N")
			}
			if from < 0 {
				return diag.Refused("a case index must not be negative, got %d", from)
			}
			set := d.Settings()
			var err error
			if set.Seed, err = campaign.ParseSeed(seed); err != nil {
				return err
			}
			camp, _, _, err := compileSpec(ctx, d, spec, set)
			if err != nil {
				return knownFailure(d, "mutate", err)
			}
			if n := camp.Planned(); to > n {
				return diag.WithHint(diag.Refused("case %d is beyond the document's %d cases (indexes are 0 to %d)", to-1, n, n-1), "mutations.cases says how many there are")
			}
			return printMutations(d, camp, from, to, raw)
		},
	}
	c.Flags = func(fs campaign.Flags) {
		given = fs.Changed
		fs.StringVar(&spec, "spec", "", "the document")
		fs.Int64Var(&index, "case", 0, "`INDEX` of a case, from 0")
		fs.StringVar(&cases, "cases", "", "a range of cases, `A:B`")
		fs.BoolVar(&raw, "raw", false, "write the bytes themselves")
		fs.StringVar(&seed, "seed", "", "replace the document's rng_seed (an integer)")
	}
	c.Options = true
	c.Required = []string{"spec"}
	return c
}

// parseRange reads A:B.
func parseRange(s string) (from, to int64, err error) {
	a, b, ok := strings.Cut(s, ":")
	from, err1 := strconv.ParseInt(a, 10, 64)
	to, err2 := strconv.ParseInt(b, 10, 64)
	if !ok || err1 != nil || err2 != nil || from < 0 || to <= from {
		return 0, 0, diag.Refused("--cases must be A:B with 0 <= A < B, got %q", s)
	}
	return from, to, nil
}

func printMutations(d campaign.Desk, camp *Campaign, from, to int64, raw bool) error {
	next := camp.Mutations()
	for i := from; i < to; i++ {
		m := next(i)
		if raw {
			if _, err := d.Out().Write(m.Input); err != nil {
				return diag.Environment("writing the case: %w", err)
			}
			continue
		}
		sum := sha256.Sum256(m.Input)
		out := mutated{
			CaseIndex: i, RNGSeed: json.Number(camp.EffectiveSeed(i).String()), SHA256: hex.EncodeToString(sum[:]), SizeBytes: len(m.Input),
		}
		for line := range bytes.Lines(m.Log) {
			out.Mutations = append(out.Mutations, json.RawMessage(bytes.TrimSpace(line)))
		}
		line, err := json.Marshal(out)
		if err != nil {
			return fmt.Errorf("encoding case %d: %w", i, err)
		}
		if _, err := d.Out().Write(append(line, '\n')); err != nil {
			return diag.Environment("writing the case: %w", err)
		}
	}
	return nil
}
