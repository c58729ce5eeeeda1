package spectest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/secret"
)

// stepper shows each block of a page and each case of a document before it runs, asks whether to
// run it, and shows the result. A nil stepper asks nothing.
type stepper struct {
	c        *Campaign
	out, err io.Writer
	lines    <-chan string // the user's answers; closed at the end of input
	free     bool          // run the rest without asking
	over     bool          // run nothing more
	did      [3]int        // numbers of held, failed and skipped steps
}

// stepHelp lists the possible answers.
const stepHelp = "[Enter] runs it, s skips it, c runs the rest, q quits"

// answers sends the lines of a reader, each when it is asked for, so that waiting for one can be
// interrupted.
func answers(ctx context.Context, r io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(r); s.Scan(); {
			select {
			case lines <- strings.ToLower(strings.TrimSpace(s.Text())):
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}

// ask shows lines of the document and reports whether they should run.
func (s *stepper) ask(ctx context.Context, what string, from, to int) (bool, error) {
	if s == nil {
		return true, nil
	}
	if s.over {
		s.did[2]++
		return false, nil
	}
	fmt.Fprintf(s.out, "%s:%d: %s\n", s.c.name, from, diag.Printable(what))
	for n := from; n <= min(to, s.c.doc.lines.count); n++ {
		s.show("  | ", s.c.doc.source(n))
	}
	for !s.free {
		fmt.Fprint(s.err, stepHelp+"? ")
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case l, more := <-s.lines:
			switch {
			case !more || l == "c" || l == "continue":
				s.free = true
			case l == "" || l == "r" || l == "run":
				return true, nil
			case l == "s" || l == "skip":
				s.did[2]++
				fmt.Fprint(s.out, "  skipped\n\n")
				return false, nil
			case l == "q" || l == "quit":
				s.did[2]++
				s.over = true
				return false, nil
			}
		}
	}
	return true, nil
}

// skipCase reports a case of a chain that does not run because an earlier one failed.
func (s *stepper) skipCase(cs *Case) {
	if s != nil {
		s.did[2]++
		fmt.Fprintf(s.out, "%s:%d: %s  not run: a case before it failed\n\n", s.c.name, cs.From, cs.label())
	}
}

// show writes lines, each after a mark.
func (s *stepper) show(mark, text string) {
	if text == "" {
		fmt.Fprintln(s.out, strings.TrimRight(mark, " "))
	}
	for l := range strings.Lines(text) {
		fmt.Fprintln(s.out, mark+strings.TrimRight(diag.Printable(l), "\n"))
	}
}

// showEnd shows the result of a block or a case.
func (s *stepper) showEnd(f *Failure) {
	if f == nil {
		s.did[0]++
		fmt.Fprint(s.out, "  holds\n\n")
		return
	}
	s.did[1]++
	fmt.Fprint(s.out, "  fails\n\n")
}

// ended shows the observation of a case and why it failed. The request as sent replaces the curl
// command line.
func (s *stepper) ended(cs *Case, f *Failure, notes evidence, hidden *secret.Redactor) {
	if s == nil {
		return
	}
	f, notes = hide(hidden, f, notes)
	sent := (&campaign.Outcome{Evidence: notes}).Attached(sentNote) != nil
	for _, n := range notes {
		if n.Name == "request" && sent {
			continue
		}
		fmt.Fprintf(s.out, "  %s:\n", n.Name)
		s.show("    ", clipped(string(n.Data), maxShown))
	}
	if f != nil {
		s.show("  ", s.c.explain(cs, f, campaign.Outcome{Evidence: f.evidence(notes)}))
	}
	s.showEnd(f)
}

// maxShown is the number of bytes shown of each output.
const maxShown = 4 << 10

// printed shows the output of a block's commands and how it differs from the page. The failure is
// one that happened before any command ran.
func (s *stepper) printed(p *pageRun, from int, f *Failure) {
	if s == nil {
		return
	}
	if len(p.serving) > 0 && from == len(p.done) && f == nil {
		fmt.Fprintln(s.out, "  runs in the background")
	}
	failed := f
	for i := from; i < len(p.done); i++ {
		r := &p.done[i]
		s.show("  ", strings.ReplaceAll(r.step.displayText(), "\n", "\n> "))
		if len(r.printed) > 0 {
			s.show("  ", clipped(strings.Join(r.printed, "\n"), maxShown))
		}
		if r.code != 0 {
			fmt.Fprintf(s.out, "  [exit %d]\n", r.code)
		}
		if r.holds(p.c.page.rules) {
			continue
		}
		what, diff := p.differs(r)
		if r.why == "" {
			what = "expected the command " + what
		}
		fmt.Fprintf(s.out, "  %s:%d: %s\n", s.c.name, r.step.line, what)
		if diff != "" {
			s.show("  ", diff)
		}
		failed = &Failure{}
	}
	if f != nil {
		s.show("  ", f.summary())
	}
	s.showEnd(failed)
}

// step runs the cases of the document one at a time and asks before each. It stores no run and
// confirms no failure.
func (c *Campaign) step(ctx context.Context, s *stepper) (err error) {
	session := c.open(nil)
	defer func() { err = errors.Join(err, session.Close()) }()
	x, err := session.executor(campaign.Lane{Of: 1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	if err := x.setUp(ctx); err != nil {
		return err
	}
	s.c, x.step = c, s
	for i := range c.slots {
		cs := x.caseAt(int64(i))
		if cs.page != nil || cs.steps != nil { // their blocks and cases ask separately
			before := s.did
			f, _, err := x.attempt(ctx, cs)
			if err != nil {
				return err
			}
			if f != nil && before[1] == s.did[1] {
				s.show("", f.summary())
				s.showEnd(f)
			}
			continue
		}
		what := cs.label() + "  " + cs.Type
		if cs.skip != "" {
			what += ", skipped: " + cs.skip
		}
		run, err := s.ask(ctx, what, cs.From, cs.To)
		if err != nil {
			return err
		}
		if !run || cs.skip != "" {
			continue
		}
		f, notes, err := x.attempt(ctx, cs)
		if err != nil {
			return err
		}
		s.ended(cs, f, notes, x.set.hidden)
	}
	return nil
}

// steps implements thresh run --step.
func (k *Contract) steps(ctx context.Context, d campaign.Desk, paths []string) error {
	camps, err := k.campaigns(ctx, d, paths)
	if err != nil {
		return err
	}
	s := &stepper{out: d.Out(), err: d.Err(), lines: answers(ctx, d.In())}
	for _, c := range camps {
		if err := c.step(ctx, s); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintf(d.Out(), "%s: %d held, %d failed, %d skipped\n", diag.Plural(s.did[0]+s.did[1]+s.did[2], "step"), s.did[0], s.did[1], s.did[2]); err != nil {
		return diag.Environment("writing to standard output: %w", err)
	}
	switch {
	case s.did[1] > 0:
		return diag.ExitError(diag.ExitFindings)
	case s.over:
		return diag.ExitError(diag.ExitInterrupted)
	}
	return nil
}
