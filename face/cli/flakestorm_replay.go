package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/contract/flakestorm"
	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/contract/flakestorm/record"
	"github.com/thresh-dev/thresh/diag"
)

func (a *application) flakeReplayRun() *cobra.Command {
	var f flakeFlags
	var live langsmithFlags
	var output string
	var then bool
	c := &cobra.Command{
		Use:   "run [PATH]",
		Short: "Replay recorded sessions: those of a file or folder, or of the configuration",
		Long: `Run asks what recorded sessions had asked and checks the replies by the sessions'
contracts. Recorded responses answer in place of the agent's tools where Thresh can
reach these. PATH is a replay file, an export of LangSmith runs, traces of
OpenTelemetry (OTLP in JSON), or a folder of such.

With --from-langsmith or --from-langsmith-project, runs are fetched into replay
files first (LANGSMITH_API_KEY, and LANGSMITH_ENDPOINT for a server of your own);
--run then replays them.`,
		Example: `  thresh flakestorm replay run replays/
  thresh flakestorm replay run --from-langsmith-project support --filter-status error -o replays --run`,
		Args: cobra.MaximumNArgs(1),
	}
	f.register(a, c)
	f.registerMinScore(c)
	live.register(c)
	c.Flags().StringVarP(&output, "output", "o", "replays", "`FOLDER` for fetched sessions")
	c.Flags().BoolVar(&then, "run", false, "replay the sessions that were fetched")
	c.RunE = func(c *cobra.Command, args []string) error {
		if live.asked() {
			sessions, err := live.fetch(c.Context(), a.io.Getenv)
			if err != nil {
				return err
			}
			paths, err := a.writeSessions(output, sessions)
			if err != nil || !then {
				return err
			}
			for _, p := range paths {
				f.options.set(flakestorm.OptReplay, p)
			}
		}
		for _, path := range args {
			f.options.set(flakestorm.OptReplay, path)
		}
		if len(args) > 0 || then {
			f.options.set(flakestorm.OptOnly, "true")
		}
		r, err := a.flakePhases(c.Context(), &f, flakestorm.PhaseReplay)
		if err != nil {
			return err
		}
		fmt.Fprintf(a.io.Out, "Replays: %d of %d hold\n", r.tally.Replay.Passed, r.tally.Replay.Total)
		return f.flakeExit(r, r.tally.Replay.Score)
	}
	return c
}

// writeSessions writes replay files and prints their names.
func (a *application) writeSessions(dir string, sessions []config.Session) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, diag.Environment("making the folder %s: %w", dir, err)
	}
	var paths []string
	for _, s := range sessions {
		path := filepath.Join(dir, record.FileName(s.ID))
		if err := app.WriteWhole(path, record.Format(s), 0o644); err != nil {
			return nil, diag.Environment("writing %s: %s", path, app.Reason(err))
		}
		fmt.Fprintln(a.io.Out, path)
		paths = append(paths, path)
	}
	return paths, nil
}

func (a *application) flakeReplayExport() *cobra.Command {
	var from, output string
	c := &cobra.Command{
		Use:     "export --from-report REPORT",
		Short:   "Turn the failures of a JSON report into replay files",
		Example: "  thresh flakestorm replay export --from-report reports/report.json",
		Long: `Export writes a replay file for every failure of a report: the input that failed,
not the prompt it was made of, and what the tools had answered. REPORT is a JSON
report of thresh (--report json=FILE), or one of flakestorm itself.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			data, err := os.ReadFile(from)
			if err != nil {
				return &diag.CodedError{Code: diag.ExitFindings, Err: fmt.Errorf("reading the report %s: %s", from, app.Reason(err))}
			}
			sessions, err := record.Export(data, flakestorm.SessionExhibit)
			if err != nil {
				return diag.Refused("%s: %w", from, err)
			}
			if len(sessions) == 0 {
				fmt.Fprintln(a.io.Err, "the report holds no failure; nothing was written")
				return nil
			}
			_, err = a.writeSessions(output, sessions)
			return err
		},
	}
	c.Flags().StringVar(&from, "from-report", "", "the JSON `REPORT`")
	c.Flags().StringVarP(&output, "output", "o", "replays", "`FOLDER` for the files")
	_ = c.MarkFlagRequired("from-report")
	return c
}

func (a *application) flakeReplayRecord() *cobra.Command {
	var path, output, id string
	c := &cobra.Command{
		Use:   "record PROMPT",
		Short: "Ask the agent once and keep what its tools answered as a replay file",
		Long: `Record asks the agent once, without faults, while its calls go through Thresh, and
writes the session as a replay file: the prompt, every tool's response and the reply.`,
		Example: `  thresh flakestorm replay record "Where is my order 4711?" -o replays`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			k, err := a.flakeCampaign(c.Context(), path, false, nil)
			if err != nil {
				return err
			}
			s, reply, err := k.Record(c.Context(), args[0])
			if err != nil {
				return diag.Environment("recording a session: %w", err)
			}
			if id != "" {
				s.ID = id
			}
			for _, what := range s.LeftOut {
				fmt.Fprintf(a.io.Err, "warning: %s is left out: a replay refuses what was asked there\n", printable(what))
			}
			if !reply.OK() {
				fmt.Fprintf(a.io.Err, "the agent gave no answer: %s: %s\n", reply.End, printable(reply.Error))
			}
			if _, err := a.writeSessions(output, []config.Session{s}); err != nil {
				return err
			}
			if !reply.OK() {
				return exitError(diag.ExitFindings)
			}
			return nil
		},
	}
	registerConfig(c, &path)
	c.Flags().StringVarP(&output, "output", "o", "replays", "`FOLDER` for the file")
	c.Flags().StringVar(&id, "id", "", "id of the session (default: made of the prompt)")
	return c
}
