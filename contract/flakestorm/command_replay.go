package flakestorm

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/contract/flakestorm/langsmith"
	"github.com/thresh-dev/thresh/contract/flakestorm/record"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/secret"
)

func (k *Contract) replayCommand() campaign.Command {
	var f flakeFlags
	var live langsmith.Wanted
	var output string
	var then bool
	return f.running(campaign.Command{
		Use:     "run [PATH]",
		Summary: "Replay recorded sessions of a file, a folder or the configuration",
		Long: `Run asks what recorded sessions had asked and checks the replies by the sessions'
contracts. Recorded responses answer in place of the agent's tools where Thresh can
reach these. PATH is a replay file, an export of LangSmith runs, Langfuse traces or
OpenAI's stored completions, traces of OpenTelemetry (OTLP in JSON), or a folder of such.

With --from-langsmith or --from-langsmith-project, runs are fetched into replay
files first (LANGSMITH_API_KEY, and LANGSMITH_ENDPOINT for a server of your own);
--run then replays them.`,
		Example: `  thresh flakestorm replay run replays/
  thresh flakestorm replay run --from-langsmith-project support \
      --filter-status error -o replays --run`,
		Most: 1,
	}, func(fs campaign.Flags) {
		registerLangsmith(fs, &live)
		fs.StringVarP(&output, "output", "o", "replays", "`FOLDER` for fetched sessions")
		fs.BoolVar(&then, "run", false, "replay the sessions that were fetched")
	}, func(ctx context.Context, d campaign.Desk, args []string) error {
		if live.Asked() {
			sessions, err := live.Fetch(ctx, d.Getenv)
			if err != nil {
				return err
			}
			paths, err := writeSessions(d, output, sessions, nil)
			if err != nil || !then {
				return err
			}
			for _, p := range paths {
				f.o.Set(OptReplay, p)
			}
		}
		for _, path := range args {
			f.o.Set(OptReplay, path)
		}
		if len(args) > 0 || then {
			f.o.Set(OptOnly, "true")
		}
		r, err := f.phases(ctx, d, PhaseReplay)
		if err != nil {
			return err
		}
		fmt.Fprintf(d.Out(), "Replays: %d of %d hold\n", r.tally.Replay.Passed, r.tally.Replay.Total)
		return f.flakeExit(r, r.tally.Replay.Score)
	})
}

// registerLangsmith registers the flags that say which runs to fetch from LangSmith.
func registerLangsmith(fs campaign.Flags, l *langsmith.Wanted) {
	fs.StringVar(&l.Run, "from-langsmith", "", "fetch one run by its `ID`")
	fs.StringVar(&l.Project, "from-langsmith-project", "", "fetch the runs of a `PROJECT`")
	fs.StringVar(&l.Status, "filter-status", "error", "which runs of the project: error, success or all")
	fs.IntVar(&l.Limit, "limit", 200, "most runs of the project to fetch")
}

// writeSessions writes replay files without secrets and prints their names.
func writeSessions(d campaign.Desk, dir string, sessions []config.Session, secrets *secret.Redactor) ([]string, error) {
	if err := d.MakeFolder(dir); err != nil {
		return nil, err
	}
	var paths []string
	for _, s := range sessions {
		path := filepath.Join(dir, record.FileName(s.ID))
		if err := campaign.WriteFile(d, path, secrets.Bytes(record.Format(s))); err != nil {
			return nil, err
		}
		fmt.Fprintln(d.Out(), path)
		paths = append(paths, path)
	}
	return paths, nil
}

func exportCommand() campaign.Command {
	var from, output string
	c := campaign.Command{
		Use:     "export --from-report REPORT",
		Summary: "Turn the failures of a JSON report into replay files",
		Example: "  thresh flakestorm replay export --from-report reports/report.json",
		Long: `Export writes a replay file for every failure of a report: the input that failed,
not the prompt it was made of, and what the tools had answered. REPORT is a JSON
report of thresh (--report json=FILE), or one of flakestorm itself.`,
		Run: func(ctx context.Context, d campaign.Desk, _ []string) error {
			data, err := d.Settings().Read(from)
			if err != nil {
				return &diag.CodedError{Code: diag.ExitFindings, Err: fmt.Errorf("reading the report %s: %s", from, diag.Reason(err))}
			}
			sessions, err := record.Export(data, SessionExhibit)
			if err != nil {
				return diag.Refused("%s: %w", from, err)
			}
			if len(sessions) == 0 {
				fmt.Fprintln(d.Err(), "the report holds no failure; nothing was written")
				return nil
			}
			_, err = writeSessions(d, output, sessions, nil)
			return err
		},
	}
	c.Flags = func(fs campaign.Flags) {
		fs.StringVar(&from, "from-report", "", "the JSON `REPORT`")
		fs.StringVarP(&output, "output", "o", "replays", "`FOLDER` for the files")
	}
	c.Required = []string{"from-report"}
	return c
}

func (k *Contract) recordCommand() campaign.Command {
	var path, output, id string
	c := campaign.Command{
		Use:     "record PROMPT",
		Summary: "Record one session of the agent as a replay file",
		Long: `Record asks the agent once, without faults, while its calls go through Thresh, and
writes the session as a replay file: the prompt, every tool's response and the reply.`,
		Example: `  thresh flakestorm replay record "Where is my order 4711?" -o replays`,
		Least:   1, Most: 1,
		Run: func(ctx context.Context, d campaign.Desk, args []string) error {
			x, err := k.compiled(ctx, d, path, false)
			if err != nil {
				return err
			}
			s, reply, err := x.Record(ctx, args[0])
			if err != nil {
				return diag.Environment("recording a session: %w", err)
			}
			if id != "" {
				s.ID = id
			}
			for _, what := range s.LeftOut {
				fmt.Fprintf(d.Err(), "warning: %s is skipped: a replay refuses what was asked there\n", diag.Printable(what))
			}
			if !reply.OK() {
				fmt.Fprintf(d.Err(), "the agent gave no answer: %s: %s\n", reply.End, diag.Printable(x.hidden.String(reply.Error)))
			}
			if _, err := writeSessions(d, output, []config.Session{s}, x.hidden); err != nil {
				return err
			}
			if !reply.OK() {
				return diag.ExitError(diag.ExitFindings)
			}
			return nil
		},
	}
	c.Files = configFiles()
	c.Flags = func(fs campaign.Flags) {
		registerConfig(fs, &path)
		fs.StringVarP(&output, "output", "o", "replays", "`FOLDER` for the file")
		fs.StringVar(&id, "id", "", "id of the session (default: made from the prompt)")
	}
	return c
}
