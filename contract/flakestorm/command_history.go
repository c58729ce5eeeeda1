package flakestorm

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/score"
)

// scoreHistory is how a configuration has scored, run by run.
type scoreHistory struct {
	Name string      `json:"name"`
	Runs []scoredRun `json:"runs"` // oldest first
}

type scoredRun struct {
	campaign.TrendPoint
	Parts []campaign.ScorePart `json:"parts"`
}

// part returns the score of a phase; nil: it did not run.
func (r *scoredRun) part(name string) *float64 {
	for i := range r.Parts {
		if r.Parts[i].Name == name {
			return &r.Parts[i].Score
		}
	}
	return nil
}

// phases returns the names of the phases in the score. Scores of different phases cannot be
// compared.
func (r *scoredRun) phases() string {
	text := ""
	for _, p := range r.Parts {
		text += p.Name + " "
	}
	return text
}

func historyCommand() campaign.Command {
	var limit int
	var asJSON bool
	c := campaign.Command{
		Use:     "history [NAME]",
		Summary: "List the scores of a configuration, run by run",
		Long: `History prints the resilience score of every stored run of a configuration, how it
changed since the last run of the same phases, and the scores of these, oldest run
first. NAME is a configuration as
thresh list names it; without one, all are shown.`,
		Example: "  thresh flakestorm history\n  thresh flakestorm history flakestorm.yaml --limit 5 --json",
		Most:    1,
		Run: func(ctx context.Context, d campaign.Desk, args []string) error {
			if limit < 1 {
				return diag.Refused("--limit must be at least 1, got %d", limit)
			}
			list, err := histories(d, append(args, "")[0], limit)
			if err != nil {
				return err
			}
			if asJSON {
				enc := json.NewEncoder(d.Out())
				enc.SetIndent("", "  ")
				return enc.Encode(list)
			}
			return showHistories(d, list)
		},
	}
	c.Flags = func(fs campaign.Flags) {
		fs.IntVar(&limit, "limit", 20, "number of newest runs of each")
		fs.BoolVar(&asJSON, "json", false, "JSON instead of a table")
	}
	c.Store = true
	return c
}

// histories returns the history of one configuration, or of all.
func histories(d campaign.Desk, name string, limit int) ([]scoreHistory, error) {
	if name != "" {
		name = diag.DocumentName(name)
	}
	trends, err := d.Trends(name, limit)
	if err != nil {
		return nil, err
	}
	if name != "" && len(trends) == 0 {
		return nil, diag.WithHint(diag.Refused("no run of the configuration %q is stored", name), "thresh list shows the runs and what they are of")
	}
	list := []scoreHistory{}
	for _, t := range trends {
		h := scoreHistory{Name: t.Name}
		for _, p := range t.Points {
			rec, err := d.Record(p.RunID)
			if err != nil {
				return nil, err
			}
			r := scoredRun{TrendPoint: p, Parts: []campaign.ScorePart{}}
			for _, c := range rec.Campaigns {
				if c.Contract == "flakestorm" && c.Name == t.Name {
					r.Parts = append(r.Parts, c.Parts...)
				}
			}
			h.Runs = append(h.Runs, r)
		}
		list = append(list, h)
	}
	return list, nil
}

func showHistories(d campaign.Desk, list []scoreHistory) error {
	if len(list) == 0 {
		fmt.Fprintln(d.Err(), "no run of a flakestorm configuration is stored")
		return nil
	}
	for i, h := range list {
		if i > 0 {
			fmt.Fprintln(d.Out())
		}
		fmt.Fprintln(d.Out(), diag.Printable(h.Name))
		w := tabwriter.NewWriter(d.Out(), 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "RUN\tSTARTED\tVERDICT\tSCORE\tCHANGE\tMUTATION\tCHAOS\tCONTRACT\tREPLAY\tFINDINGS")
		before := make(map[string]float64) // score of the last run with the same phases
		for _, r := range h.Runs {
			change := "-"
			if r.Score != nil {
				if last, ok := before[r.phases()]; ok {
					change = fmt.Sprintf("%+.1f", 100*(*r.Score-last))
				}
				before[r.phases()] = *r.Score
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s", r.RunID, r.Created.Local().Format(time.DateTime), cmp.Or(r.Verdict, "-"), percent(r.Score), change)
			for _, phase := range []string{PhaseMutation, PhaseChaos, PhaseContract, PhaseReplay} {
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
	return score.Percent(*v)
}
