package spectest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/contract/spectest/stage"
	"github.com/thresh-dev/thresh/port/process"
)

// service is a background block.
type service struct {
	act    *act
	cancel context.CancelFunc
	ended  chan struct{}
	late   bool // nothing listened when the wait ended
	result process.Result
	err    error
}

// serve starts a background block and waits until it accepts connections.
func (p *pageRun) serve(ctx context.Context, a *act) error {
	serving, cancel := context.WithCancel(ctx)
	s := &service{act: a, cancel: cancel, ended: make(chan struct{})}
	l, err := p.x.openLane(serving, laneKind{limit: 24 * time.Hour, shell: p.shellOf(a) == nil})
	if err != nil {
		cancel()
		return err
	}
	run, err := p.shell(l, a, a.steps, false)
	if err != nil {
		cancel()
		return errors.Join(err, l.runner.Close())
	}
	p.serving = append(p.serving, s)
	go func() {
		defer close(s.ended)
		s.result, s.err = run(serving)
		s.result.Stdout = bytes.Clone(s.result.Stdout)
		if err := l.runner.Close(); s.err == nil {
			s.err = err
		}
	}()
	if a.ready == "" {
		return nil
	}
	waiting, stop := context.WithTimeout(ctx, a.timeout)
	defer stop()
	go func() {
		select {
		case <-s.ended:
			stop()
		case <-waiting.Done():
		}
	}()
	port, _ := variable(p.own, "PORT")
	err = stage.Ready(waiting, strings.ReplaceAll(a.ready, "$PORT", port))
	s.late = err != nil
	return ctx.Err()
}

// backgroundFailure is the failure of a background block that ended early or did not listen in
// time.
func (p *pageRun) backgroundFailure() *Failure {
	for _, s := range p.serving {
		why := ""
		if s.late {
			why = fmt.Sprintf("nothing listened at %s within %s", s.act.ready, s.act.timeout)
		}
		select {
		case <-s.ended:
			if s.err == nil && (s.late || s.result.ExitCode != 0 || s.result.Status != process.Exited) {
				why = fmt.Sprintf("the background block ended with exit status %d: %s", s.result.ExitCode, strings.Join(p.lines(s.result.Stdout), "\n"))
			}
		default:
		}
		if why != "" {
			return &Failure{Category: Runtime, Path: "background", Line: s.act.line, Message: strings.TrimSuffix(why, ": ")}
		}
	}
	return nil
}

// stop ends the background blocks.
func (p *pageRun) stop() error {
	var errs []error
	for _, s := range p.serving {
		s.cancel()
		<-s.ended
		if s.err != nil && !errors.Is(s.err, context.Canceled) {
			errs = append(errs, s.err)
		}
	}
	p.serving = nil
	return errors.Join(errs...)
}
