package app

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/report"
	"github.com/thresh-dev/thresh/store"
)

func (a *application) reportCommand() *cobra.Command {
	var dir, format, out string
	c := &cobra.Command{
		Use:   "report [RUN]",
		Short: "Write a report of a stored run",
		Long: `Report writes a stored run in one of the report formats. RUN is a run id, a
unique beginning of one, "latest" (the default) or "latest~1".`,
		Example: `  thresh report --format html -o report.html
  thresh report latest~1 --format json | jq .verdict
  thresh report --format schema           the JSON Schema of the JSON report`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if format == "schema" {
				return a.output(out, func(w io.Writer) error { _, err := w.Write(report.Schema()); return err })
			}
			f, err := report.ByName(format)
			if err != nil {
				return diag.Refused("%w", err)
			}
			st, err := a.existingStore(dir)
			if err != nil {
				return err
			}
			defer st.Close()
			rec, err := st.Record(first(args, "latest"))
			if err != nil {
				return err
			}
			return a.output(out, func(w io.Writer) error { return f.Write(w, rec, a.runReportOptions(st, rec, f.Name, out == "-")) })
		},
	}
	registerStore(c, &dir)
	c.Flags().StringVarP(&format, "format", "f", "text", "text, json, junit, sarif, tap, jsonl, html, or schema")
	c.Flags().StringVarP(&out, "output", "o", "-", "`FILE` to write, - for standard output")
	_ = c.RegisterFlagCompletionFunc("format", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return formatNames(), cobra.ShellCompDirectiveNoFileComp
	})
	return c
}

// first is the first argument, or def.
func first(args []string, def string) string {
	if len(args) > 0 {
		return args[0]
	}
	return def
}

func formatNames() []string {
	var names []string
	for _, f := range report.Formats() {
		names = append(names, f.Name)
	}
	return names
}

func completeReport(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var out []string
	for _, f := range report.Formats() {
		out = append(out, f.Name+"=report"+f.Extension)
	}
	return out, cobra.ShellCompDirectiveNoSpace
}

// parseReport splits FORMAT=FILE.
func parseReport(arg string) (report.Format, string, error) {
	name, file, ok := strings.Cut(arg, "=")
	if !ok || file == "" {
		return report.Format{}, "", diag.WithHint(diag.Refused("--report must be FORMAT=FILE, got %q", arg), "for example --report html=report.html")
	}
	f, err := report.ByName(name)
	if err != nil {
		return f, "", diag.Refused("--report %s: %w", arg, err)
	}
	return f, file, nil
}

func (a *application) reportOptions(st *store.Store, terminal bool) report.Options {
	opt := report.Options{Width: a.io.Width, Color: terminal && a.io.color(a.io.OutTTY)}
	if st != nil {
		opt.Blob = st.Blob
	}
	return opt
}

// runReportOptions are those of a report of a whole run, which may list cases.
func (a *application) runReportOptions(st *store.Store, rec campaign.Record, format string, terminal bool) report.Options {
	opt := a.reportOptions(st, terminal)
	opt.Cases = a.cases(st, rec, format)
	return opt
}

// report writes the reports that were asked for, and the text report to
// standard output unless one of them goes there.
func (a *application) report(rec campaign.Record, reports []string, storeDir string) error {
	st, err := store.Open(storeDir)
	if err != nil {
		return err
	}
	defer st.Close()
	toStdout := false
	var failed error // the reports that can be written are, also if one cannot
	for _, r := range reports {
		f, file, err := parseReport(r)
		if err != nil {
			return err
		}
		toStdout = toStdout || file == "-"
		err = a.output(file, func(w io.Writer) error { return f.Write(w, rec, a.runReportOptions(st, rec, f.Name, file == "-")) })
		failed = errors.Join(failed, err)
	}
	if toStdout {
		return failed
	}
	f, err := report.ByName("text")
	if err != nil {
		return err
	}
	return errors.Join(failed, a.output("-", func(w io.Writer) error { return f.Write(w, rec, a.reportOptions(st, true)) }))
}

// output writes to a file, whole or not at all, or to standard output.
func (a *application) output(file string, write func(io.Writer) error) error {
	if file == "-" {
		if err := write(a.io.Out); err != nil {
			return diag.Environment("writing to standard output: %w", err)
		}
		return nil
	}
	if err := writeWholly(file, 0o644, write); err != nil {
		return diag.Environment("writing %s: %s", file, reason(err))
	}
	return nil
}

// writeWhole writes a file so that no reader ever sees a part of it.
func writeWhole(file string, data []byte, mode os.FileMode) error {
	return writeWholly(file, mode, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// writeWholly is [writeWhole] for what is written in pieces.
func writeWholly(file string, mode os.FileMode, write func(io.Writer) error) error {
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() { // a device or a pipe
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_TRUNC, mode)
		if err != nil {
			return err
		}
		return errors.Join(writeBuffered(f, write), f.Close())
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), ".thresh-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if err := writeBuffered(tmp, write); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Chmod(mode); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), file); err != nil {
		return fmt.Errorf("putting it in place: %w", err)
	}
	return nil
}

func writeBuffered(w io.Writer, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(w, 64<<10)
	if err := write(b); err != nil {
		return err
	}
	return b.Flush()
}
