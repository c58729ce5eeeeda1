package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/store"
)

// scoreHistory is how a configuration has scored, run by run.
type scoreHistory struct {
	Name string      `json:"name"`
	Runs []scoredRun `json:"runs"` // oldest first
}

type scoredRun struct {
	store.TrendPoint
	Parts []campaign.ScorePart `json:"parts"`
}

// part is the score of a phase; nil: it did not run.
func (r *scoredRun) part(name string) *float64 {
	for i := range r.Parts {
		if r.Parts[i].Name == name {
			return &r.Parts[i].Score
		}
	}
	return nil
}

// phases are those that the score is made of: scores of others are no measure
// for it.
func (r *scoredRun) phases() string {
	text := ""
	for _, p := range r.Parts {
		text += p.Name + " "
	}
	return text
}

func (a *application) flakeHistory() *cobra.Command {
	var dir string
	var limit int
	var asJSON bool
	c := &cobra.Command{
		Use:   "history [NAME]",
		Short: "The scores of a configuration, run by run",
		Long: `History prints the resilience score of every stored run of a configuration, how it
changed since the last run of the same phases, and the scores of these, oldest run
first. NAME is a configuration as
thresh list names it; without one, all are shown.`,
		Example: "  thresh flakestorm history\n  thresh flakestorm history flakestorm.yaml --limit 5 --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if limit < 1 {
				return usagef("--limit must be at least 1, got %d", limit)
			}
			st, err := a.app.ExistingStore(dir)
			if err != nil {
				return err
			}
			defer st.Close()
			list, err := histories(st, first(args, ""), limit)
			if err != nil {
				return err
			}
			if asJSON {
				enc := json.NewEncoder(a.io.Out)
				enc.SetIndent("", "  ")
				return enc.Encode(list)
			}
			return a.showHistories(list)
		},
	}
	registerStore(c, &dir)
	c.Flags().IntVar(&limit, "limit", 20, "the newest so many runs of each")
	c.Flags().BoolVar(&asJSON, "json", false, "JSON instead of a table")
	return c
}

// histories are those of one configuration, or of all.
func histories(st *store.Store, name string, limit int) ([]scoreHistory, error) {
	const contract = "flakestorm"
	trends := []store.SpecTrend{}
	if name == "" {
		all, _, err := st.Trends(0, limit)
		if err != nil {
			return nil, err
		}
		trends = slices.DeleteFunc(all, func(t store.SpecTrend) bool { return t.Contract != contract })
	} else {
		t, err := st.Trend(contract, flakestorm.CampaignName(name), limit)
		if err != nil {
			return nil, err
		}
		if len(t.Points) == 0 {
			return nil, diag.WithHint(diag.Refused("no run of the configuration %q is stored", name), "thresh list shows the runs and what they are of")
		}
		trends = append(trends, t)
	}
	list := []scoreHistory{}
	for _, t := range trends {
		h := scoreHistory{Name: t.Name}
		for _, p := range t.Points {
			rec, err := st.Outline(p.RunID)
			if err != nil {
				return nil, err
			}
			r := scoredRun{TrendPoint: p, Parts: []campaign.ScorePart{}}
			for _, c := range rec.Campaigns {
				if c.Contract == contract && c.Name == t.Name {
					r.Parts = append(r.Parts, c.Parts...)
				}
			}
			h.Runs = append(h.Runs, r)
		}
		list = append(list, h)
	}
	return list, nil
}

func (a *application) showHistories(list []scoreHistory) error {
	if len(list) == 0 {
		fmt.Fprintln(a.io.Err, "no run of a flakestorm configuration is stored")
		return nil
	}
	for i, h := range list {
		if i > 0 {
			fmt.Fprintln(a.io.Out)
		}
		fmt.Fprintln(a.io.Out, printable(h.Name))
		w := tabwriter.NewWriter(a.io.Out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "RUN\tSTARTED\tVERDICT\tSCORE\tCHANGE\tMUTATION\tCHAOS\tCONTRACT\tREPLAY\tFINDINGS")
		before := make(map[string]float64) // the score of the last run of the same phases
		for _, r := range h.Runs {
			change := "-"
			if r.Score != nil {
				if last, ok := before[r.phases()]; ok {
					change = fmt.Sprintf("%+.1f", 100*(*r.Score-last))
				}
				before[r.phases()] = *r.Score
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s", r.RunID, r.Created.Local().Format(time.DateTime), orDash(r.Verdict), percent(r.Score), change)
			for _, phase := range []string{flakestorm.PhaseMutation, flakestorm.PhaseChaos, flakestorm.PhaseContract, flakestorm.PhaseReplay} {
				fmt.Fprintf(w, "\t%s", percent(r.part(phase)))
			}
			fmt.Fprintf(w, "\t%d\n", r.Findings)
		}
		if err := w.Flush(); err != nil {
			return diag.Environment("writing the history: %w", err)
		}
	}
	return nil
}

func percent(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100**v)
}
