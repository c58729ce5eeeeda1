package fresnelfir

import (
	"context"
	"fmt"
	"io"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

func conformCommand() campaign.Command {
	var of, file string
	return campaign.Command{
		Use:     "conform TRACE",
		Summary: "Replay a trace on a model, and name the first step not allowed",
		Long: `Conform replays what a system did on the model. A trace is lines of JSON, a step each:

  {"action": "place", "args": {"amount": 5}, "returns": 17}
  {"action": "refund", "args": {"order": 17, "amount": 9}, "rejected": true}

or a file in the Informal Trace Format (ITF), whose states name the action that led to
them: as action, or as Quint writes it. Arguments that a step omits may be any;
instances go by what their creation returned, or by any name that is used throughout.
Calls of observers are questions, whose answers must be the model's. A
repeat of the model that may continue does so as long as the trace does.

-o writes the steps that the model allows, with the state after each, in either format.

Exit codes: 0 the model allows all steps, 1 it does not, 2 a file was refused, 3 the
trace says too little to tell.`,
		Example: `  thresh fresnelfir conform trace.jsonl --model shop.model.star
  thresh fresnelfir conform trace.jsonl --model shop.json -o trace.itf.json
  thresh fresnelfir conform trace.itf.json --model shop.json`,
		Least: 1, Most: 1, Required: []string{"model"},
		Flags: func(fs campaign.Flags) {
			fs.StringVarP(&of, "model", "m", "", "the model `FILE`")
			traceFlag(fs, &file, "the steps that the model allows")
		},
		Run: func(ctx context.Context, d campaign.Desk, args []string) error {
			c, err := aloneCampaign(ctx, d, of)
			if err != nil {
				return err
			}
			text, err := modelFile(d, args[0])
			if err != nil {
				return err
			}
			steps, err := readTrace(text)
			if err != nil {
				return diag.Refused("%s: %w", args[0], err)
			}
			at, why, unsure, past := c.conform(steps, file != "")
			if file != "" {
				if err := d.Write(file, func(w io.Writer) error { return c.writeTrace(w, file, past) }); err != nil {
					return err
				}
			}
			return c.printConformance(d.Out(), args[0], steps, at, why, unsure)
		},
	}
}

func (c *Campaign) printConformance(out io.Writer, file string, steps []recorded, at int, why, unsure string) error {
	if at == len(steps) {
		fmt.Fprintf(out, "PASS  %s allows all %s of %s\n", c.id.Name, diag.Plural(len(steps), "step"), file)
		return nil
	}
	word, exit := "FAIL ", diag.ExitFindings
	if unsure != "" {
		word, exit, why = "ERROR", diag.ExitEnvironment, why+"; "+unsure
	}
	fmt.Fprintf(out, "%s step %d of %d, %s of %s: %s\n      %s\n", word, at+1, len(steps), steps[at].at, file, diag.Printable(steps[at].String()), diag.Printable(why))
	return diag.ExitError(exit)
}

// aloneCampaign returns the campaign of a model without its module.
func aloneCampaign(ctx context.Context, d campaign.Desk, path string) (*Campaign, error) {
	text, err := modelFile(d, path)
	if err != nil {
		return nil, err
	}
	set := d.Settings()
	set.Options = map[string][]string{optModule: {"none"}}
	list, diags := New(nil).Compile(ctx, campaign.Spec{Path: path, Data: text}, set)
	if diags.HasErrors() {
		return nil, diags
	}
	d.Warn(diags)
	c, _ := campaign.As[*Campaign](list[0])
	return c, nil
}
