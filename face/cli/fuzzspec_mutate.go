package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fuzzspec"
	"github.com/thresh-dev/thresh/diag"
)

// mutated is what fuzzspec mutate prints of a case.
type mutated struct {
	CaseIndex int64             `json:"case_index"`
	RNGSeed   json.Number       `json:"rng_seed"`
	SHA256    string            `json:"sha256"`
	SizeBytes int               `json:"size_bytes"`
	Mutations []json.RawMessage `json:"mutations"`
}

func (a *application) fuzzMutate() *cobra.Command {
	var spec, cases, seed string
	var index int64
	var raw bool
	var options optionFlags
	c := &cobra.Command{
		Use:   "mutate --spec FILE --case N",
		Short: "Print the bytes of a case, or what is known of it as JSON",
		Long: `Mutate makes cases without running anything. With --raw it writes the bytes of
one case; otherwise it prints {case_index, rng_seed, sha256, size_bytes, mutations}.
--cases A:B prints one JSON line for each case from A up to, not including, B.`,
		Example: `  thresh fuzzspec mutate --spec spec.json --case 7 --raw > case7.bin
  thresh fuzzspec mutate --spec spec.json --cases 0:1000 | jq -r .sha256`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := options.validate(); err != nil {
				return err
			}
			from, to := index, index+1
			switch given := c.Flags().Changed("cases"); {
			case given == c.Flags().Changed("case"):
				return usagef("give either --case N or --cases A:B")
			case given:
				var err error
				if from, to, err = parseRange(cases); err != nil {
					return err
				}
			}
			if raw && to-from != 1 {
				return usagef("--raw writes one case; give --case N")
			}
			if from < 0 {
				return usagef("a case index must not be negative, got %d", from)
			}
			b := app.NewBundle()
			set := b.Fill(campaign.Settings{Options: options.values()})
			if seed != "" {
				n, err := strconv.ParseInt(seed, 10, 64)
				if err != nil {
					return usagef("--seed must be a 64-bit integer, got %q", seed)
				}
				set.Seed = &n
			}
			camp, _, _, err := a.compileSpec(c.Context(), spec, set)
			if err != nil {
				return a.knownFailure("mutate", err)
			}
			if n := camp.Planned(); to > n {
				return diag.WithHint(diag.Refused("case %d is beyond the document's %d cases (indexes are 0 to %d)", to-1, n, n-1), "mutations.cases says how many there are")
			}
			return a.mutate(camp, from, to, raw)
		},
	}
	c.Flags().StringVar(&spec, "spec", "", "the document")
	c.Flags().Int64Var(&index, "case", 0, "`INDEX` of a case, from 0")
	c.Flags().StringVar(&cases, "cases", "", "a range of cases, `A:B`")
	c.Flags().BoolVar(&raw, "raw", false, "write the bytes themselves")
	c.Flags().StringVar(&seed, "seed", "", "replace the document's rng_seed (an integer)")
	_ = c.MarkFlagRequired("spec")
	options.register(c.Flags(), a.app.Contracts)
	return c
}

// parseRange reads A:B.
func parseRange(s string) (from, to int64, err error) {
	a, b, ok := strings.Cut(s, ":")
	from, err1 := strconv.ParseInt(a, 10, 64)
	to, err2 := strconv.ParseInt(b, 10, 64)
	if !ok || err1 != nil || err2 != nil || from < 0 || to <= from {
		return 0, 0, usagef("--cases must be A:B with 0 <= A < B, got %q", s)
	}
	return from, to, nil
}

func (a *application) mutate(camp *fuzzspec.Campaign, from, to int64, raw bool) error {
	next := camp.Mutations()
	for i := from; i < to; i++ {
		m := next(i)
		if raw {
			if _, err := a.io.Out.Write(m.Input); err != nil {
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
		if _, err := a.io.Out.Write(append(line, '\n')); err != nil {
			return diag.Environment("writing the case: %w", err)
		}
	}
	return nil
}
