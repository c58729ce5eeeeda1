package flakestorm

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/contract/flakestorm/record"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/fault"
	"github.com/thresh-dev/thresh/engine/secret"
)

// quiet is how long a session must be without calls to count as ended.
const quiet = 30 * time.Second

// recorder writes the sessions of agents when they end.
type recorder struct {
	listen, to, output string
	sample             float64
	most               int
	all                bool
	hide               []string

	d        campaign.Desk
	patterns []*regexp.Regexp
	secrets  *secret.Redactor
	shapes   map[string]bool
	seen, written,
	alike, left int
	failed error
}

func (k *Contract) tapeCommand() campaign.Command {
	r := recorder{shapes: make(map[string]bool)}
	c := campaign.Command{
		Use:     "record [-- COMMAND...]",
		Summary: "Record an agent's calls of models and tools as replay files",
		Long: `Record runs COMMAND behind a proxy, or listens for an agent that runs elsewhere,
and writes each session as a replay file: what was asked, and what models and tools
answered. thresh flakestorm replay run FOLDER replays them with no network.

With --listen, point the agent's HTTP_PROXY at the address and have it trust the
certificate that is named, or use the address in place of the model's, with http or
https (--to names the real one). Stop with Ctrl-C.

A session begins when a model is asked what a user says, and continues with the same
traceparent or with the results of calls that the model asked for. Of sessions with
the same order of calls the first is written, and none if the folder has one (--all:
every one). Authorisation headers are never written; keys, tokens and values of
variables named for secrets are replaced, and so is what --redact matches.`,
		Example: `  thresh record -- python3 agent.py "Where is my order 4711?"
  thresh record -o sessions --sample 0.1 --redact '[\w.]+@[\w.]+' -- ./serve
  thresh record --listen 127.0.0.1:8900 --to https://api.openai.com
  thresh flakestorm replay run sessions`,
		Most: -1, Declared: true,
	}
	c.Flags = func(fs campaign.Flags) {
		fs.StringVar(&r.listen, "listen", "", "take the calls of agents that run elsewhere at this `ADDRESS`")
		fs.StringVar(&r.to, "to", "", "with --listen: the `URL` to forward calls to")
		fs.StringVarP(&r.output, "output", "o", "sessions", "`FOLDER` for the replay files")
		fs.Float64Var(&r.sample, "sample", 1, "record this share of the sessions, 0 to 1")
		fs.IntVar(&r.most, "max-sessions", 1000, "most sessions to write")
		fs.BoolVar(&r.all, "all", false, "also write sessions with the same order of calls as an earlier one")
		fs.StringArrayVar(&r.hide, "redact", nil, "replace what this regular `EXPRESSION` matches; repeatable")
	}
	c.Run = func(ctx context.Context, d campaign.Desk, args []string) error {
		r.d = d
		return r.run(ctx, k.targets, args)
	}
	return c
}

func (r *recorder) run(ctx context.Context, t Targets, argv []string) (err error) {
	switch {
	case (len(argv) > 0) == (r.listen != ""):
		return diag.WithHint(diag.Refused("thresh record needs either a command or --listen"), "thresh record -- python3 agent.py")
	case r.to != "" && r.listen == "":
		return diag.Refused("--to is the address that --listen forwards to; it needs --listen")
	case !(r.sample > 0 && r.sample <= 1) || r.most < 1:
		return diag.Refused("--sample must be above 0 and at most 1, --max-sessions at least 1")
	}
	for _, text := range r.hide {
		p, err := regexp.Compile(text)
		if err != nil {
			return diag.Refused("--redact %q is not a regular expression: %w", text, err)
		}
		r.patterns = append(r.patterns, p)
	}
	var known []config.Pair
	for _, v := range os.Environ() {
		name, value, _ := strings.Cut(v, "=")
		known = append(known, config.Pair{Key: name, Value: value})
	}
	r.secrets = redactor(secretPairs(known))
	if err := errors.Join(r.d.MakeFolder(r.output), r.recall()); err != nil {
		return err
	}
	in, err := t.Faults(context.WithoutCancel(ctx))
	if err != nil {
		return diag.Environment("opening the proxy that records: %w", err)
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	port, err := in.Port(r.listen)
	if err != nil {
		return diag.Environment("listening at %s: %w", r.listen, err)
	}
	calls := make(chan fault.Exchange, 256)
	cell, err := port.Enter(fault.Plan{Capture: recordable, Sink: func(e fault.Exchange) { calls <- e }})
	if err != nil {
		return err
	}
	began := time.Now()
	tape := &record.Tape{Alone: len(argv) > 0, Done: r.done}
	taped := make(chan struct{})
	go func() {
		defer close(taped)
		tick := time.NewTicker(quiet / 10)
		defer tick.Stop()
		for {
			select {
			case e, more := <-calls:
				if !more {
					tape.End(time.Since(began))
					return
				}
				tape.Add(e)
			case <-tick.C:
				if !tape.Alone {
					tape.End(time.Since(began) - quiet)
				}
			}
		}
	}()
	code := 0
	if len(argv) > 0 {
		code, err = t.Start(ctx, argv, cell.Env(nil))
	} else if err = r.printAddresses(port); err == nil {
		<-ctx.Done()
	}
	cell.Close()
	close(calls)
	<-taped
	for _, note := range append(in.Notes(), cell.Report().Notes...) {
		fmt.Fprintln(r.d.Err(), "warning:", diag.Printable(note))
	}
	if err = errors.Join(err, r.failed); err != nil {
		return err
	}
	r.summarize(tape)
	if code == 0 && r.written+r.alike == 0 {
		code = diag.ExitFindings // nothing was recorded
	}
	return exitOf(code)
}

// exitOf returns the error for an exit code; nil for 0.
func exitOf(code int) error {
	if code == 0 {
		return nil
	}
	return diag.ExitError(code)
}

// printAddresses says how agents reach the proxy.
func (r *recorder) printAddresses(port fault.Port) error {
	w := r.d.Err()
	fmt.Fprintf(w, "listening at %s; Ctrl-C ends the recording\n", port.Proxy())
	if r.to != "" {
		if _, err := port.Gateway("", r.to); err != nil {
			return diag.Refused("--to: %w", err)
		}
		fmt.Fprintf(w, "  forwards to %s\n", r.to)
	}
	fmt.Fprintf(w, "  as a proxy: HTTPS_PROXY=%s HTTP_PROXY=%s SSL_CERT_FILE=%s\n", port.Proxy(), port.Proxy(), port.CAFile())
	return nil
}

// recall learns the shapes of the sessions that are already in the folder.
func (r *recorder) recall() error {
	files, _, err := r.d.Files(r.output)
	for _, path := range files {
		doc, unread := r.d.Document(path)
		if err = errors.Join(err, unread); unread != nil {
			continue
		}
		if s, _ := config.DecodeSession(path, doc.Data, config.Options{}); len(s.Trace) > 0 {
			r.shapes[record.Shape(&s)] = true
		}
	}
	return err
}

// done writes a session that has ended.
func (r *recorder) done(s config.Session) {
	r.seen++
	shape := record.Shape(&s)
	s.CapturedAt = time.Now().UTC().Format(time.RFC3339)
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", r.seen, s.ID))
	switch {
	case float64(binary.BigEndian.Uint64(sum[:]))/(1<<64) >= r.sample, r.written >= r.most:
		r.left++
		return
	case r.shapes[shape] && !r.all:
		r.alike++
		return
	}
	if r.shapes[shape] = true; r.all {
		s.ID = fmt.Sprintf("%s-%d", s.ID, r.seen)
	}
	text := r.secrets.Bytes(record.Format(s))
	for _, p := range r.patterns {
		text = p.ReplaceAllLiteral(text, []byte(fault.Hidden))
	}
	path := filepath.Join(r.output, record.FileName(s.ID))
	if err := campaign.WriteFile(r.d, path, text); err != nil {
		r.failed = errors.Join(r.failed, err)
		return
	}
	r.written++
	fmt.Fprintln(r.d.Out(), path)
}

// summarize prints the totals of a recording.
func (r *recorder) summarize(t *record.Tape) {
	w := r.d.Err()
	fmt.Fprintf(w, "recorded %s", diag.Plural(r.written, "session"))
	for _, x := range []struct {
		n    int
		what string
	}{{r.alike, "with the same order of calls as an earlier one"}, {r.left, "skipped by --sample or --max-sessions"}, {t.Large, "too large"}} {
		if x.n > 0 {
			fmt.Fprintf(w, "; %d %s", x.n, x.what)
		}
	}
	fmt.Fprintln(w)
	if t.Stray > 0 {
		fmt.Fprintf(w, "warning: %s could not be assigned to one session and are in none; a traceparent header identifies a session\n", diag.Plural(t.Stray, "call"))
	}
	if r.written == 0 && r.seen == 0 {
		fmt.Fprintln(w, "no model was asked through the proxy: clients that ignore HTTP_PROXY need its address as their base URL (--listen with --to)")
	} else if r.written > 0 {
		fmt.Fprintf(w, "replay: thresh flakestorm replay run %s\n", r.output)
	}
}
