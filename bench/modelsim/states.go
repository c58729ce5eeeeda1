package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"syscall"
)

// All states of one model: by thresh, by a Go loop over the same model written by hand, and random
// steps of Quint's simulator. Each is a separate process, so that its processor time and memory are
// its own. The cost of starting is subtracted.

//go:embed tickets.model.star
var ticketModel string

//go:embed tickets.qnt
var ticketQuint string

const (
	mostTickets = 4
	priorities  = 5
	users       = 3
	quintRuns   = 1000
	quintSteps  = 24
)

const (
	open = iota
	working
	closed
)

// aTicket is an instance of the model. A state is a sorted list of tickets, because their identity
// does not matter.
type aTicket struct {
	state, priority, holder uint8
	held                    bool
}

type tickets struct {
	n   int
	all [mostTickets]aTicket
}

func (s tickets) sorted() tickets {
	slices.SortFunc(s.all[:s.n], func(a, b aTicket) int {
		return (int(a.state)-int(b.state))<<16 + (int(a.priority)-int(b.priority))<<8 + int(a.holder) - int(b.holder)
	})
	return s
}

// bare explores the states breadth first.
func bare(depth int) (int, error) {
	known := map[tickets]struct{}{{}: {}}
	queue := []tickets{{}}
	for ; depth > 0 && len(queue) > 0; depth-- {
		var next []tickets
		see := func(s tickets) error {
			s = s.sorted()
			for _, t := range s.all[:s.n] {
				if t.held != (t.state == working) {
					return fmt.Errorf("a ticket of state %d is held: %t", t.state, t.held)
				}
			}
			if _, is := known[s]; !is {
				known[s] = struct{}{}
				next = append(next, s)
			}
			return nil
		}
		for _, s := range queue {
			if err := s.steps(see); err != nil {
				return 0, err
			}
		}
		queue = next
	}
	return len(known), nil
}

// steps returns the states that one action leads to.
func (s tickets) steps(see func(tickets) error) error {
	if s.n < mostTickets {
		for p := range uint8(priorities) {
			to := s
			to.all[s.n], to.n = aTicket{open, p + 1, 0, false}, s.n+1
			if err := see(to); err != nil {
				return err
			}
		}
	}
	for i, t := range s.all[:s.n] {
		for u := uint8(1); u <= users; u++ {
			to := s
			switch {
			case t.state == open:
				to.all[i] = aTicket{working, t.priority, u, true}
			case t.state == working && t.holder == u:
				to.all[i] = aTicket{closed, t.priority, t.holder, false}
			case t.state == closed && u == 1:
				to.all[i] = aTicket{open, t.priority, t.holder, false}
			default:
				continue
			}
			if err := see(to); err != nil {
				return err
			}
		}
	}
	return nil
}

// goneThrough is the number of states that a process saw, with its cost.
type goneThrough struct {
	states  int
	seconds float64
	bytes   int64
}

func (a goneThrough) less(b goneThrough) goneThrough {
	return goneThrough{a.states, a.seconds - b.seconds, a.bytes - b.bytes}
}

// process runs a program that prints the number of states it saw.
func process(ctx context.Context, count *regexp.Regexp, name string, args ...string) (goneThrough, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return goneThrough{}, fmt.Errorf("%s: %w: %s", filepath.Base(name), err, out)
	}
	m := count.FindSubmatch(out)
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if m == nil || !ok {
		return goneThrough{}, fmt.Errorf("%s told no count: %s", filepath.Base(name), out)
	}
	states, err := strconv.Atoi(string(m[1]))
	if err != nil {
		return goneThrough{}, fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return goneThrough{states, used.Seconds(), int64(usage.Maxrss) << 10}, nil
}

// compareStates prints the table; quint may be empty.
func compareStates(ctx context.Context, thresh, quint string, rounds int) error {
	dir, err := os.MkdirTemp("", "states")
	if err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	defer os.RemoveAll(dir)
	model, spec := filepath.Join(dir, "tickets.model.star"), filepath.Join(dir, "tickets.qnt")
	self, err := os.Executable()
	if err := errors.Join(err, os.WriteFile(model, []byte(ticketModel), 0o600), os.WriteFile(spec, []byte(ticketQuint), 0o600)); err != nil {
		return fmt.Errorf("writing the models: %w", err)
	}
	distinct, counted := regexp.MustCompile(`(\d+) distinct`), regexp.MustCompile(`(\d+) states`)
	type row struct {
		name     string
		of       func(all bool) (goneThrough, error)
		distinct bool
		took     []goneThrough
	}
	depth := map[bool]string{false: "1", true: "200"}
	rows := []*row{
		{name: "thresh", distinct: true, of: func(all bool) (goneThrough, error) {
			return process(ctx, distinct, thresh, "fresnelfir", "states", model, "--exhaustive", depth[all])
		}},
		{name: "a bare loop in Go", distinct: true, of: func(all bool) (goneThrough, error) {
			return process(ctx, counted, self, "--bare", depth[all])
		}},
	}
	if quint != "" {
		rows = append(rows, &row{name: "quint run, at random", of: func(all bool) (goneThrough, error) {
			runs := map[bool]int{false: 1, true: quintRuns}[all]
			g, err := process(ctx, regexp.MustCompile(`average=(\d+)`), quint, "run", spec, "--backend=typescript",
				"--invariant=onlyWorkingTicketsAreHeld", "--seed=1", "--max-samples="+strconv.Itoa(runs), "--max-steps="+strconv.Itoa(quintSteps))
			g.states *= runs
			return g, err
		}})
	}
	for range rounds {
		for _, r := range rows {
			start, err := r.of(false)
			if err != nil {
				return err
			}
			all, err := r.of(true)
			if err != nil {
				return err
			}
			r.took = append(r.took, all.less(start))
		}
	}
	fmt.Println("| | states | states/s | least | most | bytes a state |\n|---|--:|--:|--:|--:|--:|")
	for _, r := range rows {
		slices.SortFunc(r.took, func(a, b goneThrough) int { return int(a.seconds*1e6 - b.seconds*1e6) })
		rate := func(i int) float64 { return float64(r.took[i].states) / r.took[i].seconds }
		n, memory := len(r.took), "keeps none"
		if r.distinct {
			memory = fmt.Sprint(r.took[n/2].bytes / int64(r.took[n/2].states))
		}
		fmt.Printf("| %s | %d | %.0f | %.0f | %.0f | %s |\n", r.name, r.took[n/2].states, rate(n/2), rate(n-1), rate(0), memory)
	}
	return nil
}
