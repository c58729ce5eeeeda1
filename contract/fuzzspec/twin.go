package fuzzspec

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/crash"
	"github.com/thresh-dev/thresh/port/process"
)

// twinName is the attachment with the report of another build on an input.
const twinName = "twin"

// valgrind is the program that can replace a twin: it runs the program itself.
const valgrind = "valgrind"

// twinReport is the report of another build of the program on an input.
type twinReport struct {
	Title    string            `json:"title"`
	Severity campaign.Severity `json:"severity"`
	Report   string            `json:"report"`
}

// loadTwins finds the other builds that the settings name. Their contents are part of the
// campaign's identity.
func (s *settings) loadTwins(fsys FS, set campaign.Settings) (identity []string, option string, err error) {
	for i, p := range []*string{&s.twin, &s.also, &s.cmplog} {
		option := []string{optTwin, optAlso, optCmplog}[i]
		if *p == "" {
			continue
		}
		if *p == valgrind && option != optCmplog {
			if *p = lookPath(fsys, valgrind); *p == "" {
				return nil, option, errors.New("valgrind is not installed in /bin, /usr/bin or /usr/local/bin")
			}
		}
		if !set.Stored && !fsys.Executable(*p) {
			return nil, option, errors.New(*p + " is not a program that can be run")
		}
		sum, err := set.Digest(*p)
		if err != nil {
			return nil, option, err
		}
		identity = append(identity, option+" "+sum)
	}
	return identity, "", nil
}

// twinPlan describes how to run another build: like the program, but with its own file.
func (c *Campaign) twinPlan(program string) process.Plan {
	p := c.plan()
	own := p.Command
	p.Command = func(at process.Paths) process.Command {
		cmd := own(at)
		if path.Base(program) == valgrind {
			cmd.Argv = slices.Concat([]string{program, "-q", "--error-exitcode=99", cmd.Path}, cmd.Argv[1:])
		} else {
			cmd.Argv = slices.Concat([]string{program}, cmd.Argv[1:])
		}
		cmd.Path = program
		return cmd
	}
	p.Executor, p.Coverage, p.Listen, p.Calibrate = process.Spawn, false, "", nil
	return p
}

// ask runs an input on another build, which it starts on first use, and returns the crash that it
// reports; false: it reports none.
func (x *executor) ask(ctx context.Context, program string, s *state, pc process.Case) (campaign.Outcome, bool, error) {
	r := x.others[program]
	if r == nil {
		var err error
		if r, err = x.c.open(ctx, x.c.twinPlan(program), 0, 1, true); err != nil {
			return campaign.Outcome{}, false, err
		}
		if x.others == nil {
			x.others = map[string]process.Runner{}
		}
		x.others[program] = r
	}
	pc.Confirm = true
	res, err := r.Run(ctx, pc)
	if err != nil {
		return campaign.Outcome{}, false, err
	}
	o, err := x.c.judge(s, &res, pc.Input, pc.RunID, stackReader(ctx, r, pc))
	if err != nil || o.Kind != kindCrash {
		return o, false, err
	}
	o.Evidence = append(o.Evidence, campaign.Attachment{Name: "stderr", Data: bytes.Clone(res.Stderr[max(0, len(res.Stderr)-maxEvidence):])})
	return o, true, nil
}

// runOtherBuilds adds to a failing case what other builds report on its input. A case that only ran
// too long or wrote too much takes the crash of --also, if there is one; a finding that runs again
// gets the report of --twin.
func (x *executor) runOtherBuilds(ctx context.Context, s *state, pc process.Case, o *campaign.Outcome) error {
	c := x.c
	if c.set.also != "" && (o.Kind == kindTimeout || o.Kind == kindFlood) {
		other, crashed, err := x.ask(ctx, c.set.also, s, pc)
		if err != nil {
			return err
		}
		if crashed {
			other.Title = path.Base(c.set.also) + ": " + other.Title + " (the program itself: " + o.Title + ")"
			other.Cause = slices.Concat([]string{"also"}, other.Cause)
			other.Input, other.Elapsed = o.Input, o.Elapsed
			*o = other
		}
	}
	if c.set.twin == "" || !x.cold {
		return nil
	}
	other, crashed, err := x.ask(ctx, c.set.twin, s, pc)
	if err != nil || !crashed {
		return err
	}
	data, err := json.Marshal(twinReport{other.Title, other.Severity, steady(string(bytes.ToValidUTF8(other.Attached("stderr"), nil)))})
	o.Evidence = append(o.Evidence, campaign.Attachment{Name: twinName, Data: data})
	return err
}

// twinOf returns the report of a finding's twin.
func twinOf(o campaign.Outcome) (r twinReport, ok bool) {
	data := o.Attached(twinName)
	return r, len(data) > 0 && json.Unmarshal(data, &r) == nil
}

// Refine implements [campaign.Refiner]: the title of the outcome shown, whose message may differ
// from the first one's, in the program's own words, with the report of a twin, which may be more
// severe.
func (c *Campaign) Refine(title string, severity campaign.Severity, o campaign.Outcome) (string, campaign.Severity) {
	title = steady(crash.Restore(cmp.Or(o.Title, title), o.Attached("stderr"), o.Attached("stdout")))
	if r, ok := twinOf(o); ok {
		tool := path.Base(c.set.twin)
		return title + "; " + tool + " reports " + strings.TrimPrefix(r.Title, tool+": "), max(severity, r.Severity)
	}
	return title, severity
}
