package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/diag"
)

// maxTrace is the largest size of a trace, in bytes.
const maxTrace = 256 << 20

func (a *application) judgeCommand() *cobra.Command {
	var job app.JudgeJob
	var asJSON bool
	c := &cobra.Command{
		Use:   "judge FILE < trace.json",
		Short: "Try judges on a trace, without a run",
		Long: `Judge reads judges from a file and a trace from standard input, and prints the
verdict of each: pass, fail or unknown, with its reason. The file holds a list of
judges, or one under judges, invariants or contract.invariants: the invariants of
flakestorm v2, rules over a trace, trees of assertions (assert) and spec-lang
expressions (evaluate). The trace is a list of events, or a mapping with events,
prompt, reply, latency_ms, tokens and baseline. docs/judges.md has the details.

Exit codes: 0 all judges pass, 1 one fails, 2 the file or the trace was refused,
3 none fails but one could not be decided.`,
		Example: `  thresh judge judges.yaml < trace.json
  thresh judge flakestorm.yaml --json < trace.json
  echo "I cannot help with that" | thresh judge judges.yaml --text`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			text, err := io.ReadAll(io.LimitReader(a.io.In, maxTrace+1))
			if err != nil {
				return diag.Environment("reading standard input: %w", err)
			}
			if len(text) > maxTrace {
				return diag.Refused("the trace is longer than %d MiB", maxTrace>>20)
			}
			job.File, job.Trace = args[0], text
			list, problems, err := a.app.Judge(c.Context(), job)
			a.warn(problems)
			if err != nil {
				return err
			}
			if problems.HasErrors() {
				return exitError(diag.ExitRefused)
			}
			return a.showJudged(list, asJSON)
		},
	}
	c.Flags().BoolVar(&job.Text, "text", false, "standard input is the text of a reply, not a trace")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object for each judge")
	c.Flags().StringVar(&job.Model, "system", "", "the model that judges of type llm_judge ask: a system `FILE`, such as one of kind chat")
	return c
}

func (a *application) showJudged(list []app.Judged, asJSON bool) error {
	code := diag.ExitOK
	width := 0
	for _, j := range list {
		width = max(width, len(j.ID))
	}
	for _, j := range list {
		line := fmt.Sprintf("%-7s  %-*s  %s", j.Verdict, width, j.ID, j.Reason)
		if asJSON {
			text, err := json.Marshal(j)
			if err != nil {
				return err
			}
			line = string(text)
		}
		if _, err := fmt.Fprintln(a.io.Out, printable(line)); err != nil {
			return diag.Environment("writing to standard output: %w", err)
		}
		switch {
		case j.Verdict == "fail":
			code = diag.ExitFindings
		case j.Verdict == "unknown" && code == diag.ExitOK:
			code = diag.ExitEnvironment
		}
	}
	if code != diag.ExitOK {
		return exitError(code)
	}
	return nil
}
