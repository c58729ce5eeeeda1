package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/system/command/internal/aflserver"
	"github.com/thresh-dev/thresh/system/command/internal/forkline"
)

// compare runs a case in its own process and returns what it compares. A case that ends its server
// twice has no comparisons; once may be chance.
func (a *aflExecutor) compare(ctx context.Context, runID string, input []byte, limit time.Duration) ([]process.Comparison, error) {
	list, err := a.hear(ctx, runID, input, limit)
	if errors.Is(err, aflserver.ErrServerDied) {
		list, err = a.hear(ctx, runID, input, limit)
	}
	if errors.Is(err, aflserver.ErrServerDied) {
		return nil, nil
	}
	return list, err
}

// hear is one attempt of compare.
func (a *aflExecutor) hear(ctx context.Context, runID string, input []byte, limit time.Duration) ([]process.Comparison, error) {
	if a.plan.Listen == "" && !a.features.Cmplog && (!a.features.Compares || a.work == nil) || a.deaf || len(input) > a.maxInput() {
		return nil, nil
	}
	a.cpu.pin()
	defer a.cpu.unpin()
	if err := a.prepareCase(ctx, runID, input); err != nil {
		return nil, err
	}
	if a.listener == nil {
		err := a.listen()
		if err != nil && a.plan.Listen != "" {
			return nil, fmt.Errorf("start %s: %w", a.plan.Listen, err)
		}
		if err != nil {
			a.deaf = true
			a.note("the program's comparisons cannot be read: " + err.Error())
			return nil, nil
		}
	}
	if a.server.SharedInput() && !a.listener.SharedInput() {
		if err := a.prepare(ctx, runID, input); err != nil {
			return nil, err
		}
	}
	if a.listener.Counts() {
		a.listener.Bound(a.budget, limit)
		limit = min(max(2*limit, leastWait), a.plan.Timeout)
	} else { // the case ended in time without a listener
		a.listener.Bound(0, 0)
		limit = a.plan.Timeout
	}
	a.abort = a.listener.Kill
	a.dog.watch(forkline.Longest(limit) + serverTimeout)
	_, late, err := a.listener.Run(input, limit)
	_, _, cancelled := a.dog.unwatch()
	a.abort = nil
	a.out.markWritten()
	a.err.markWritten()
	if cancelled {
		return nil, ctx.Err()
	}
	if errors.Is(err, aflserver.ErrServerDied) {
		_ = a.listener.Close() // the server is gone
		a.listener = nil
	}
	if err != nil {
		return nil, fmt.Errorf("run a case to read its comparisons: %w", err)
	}
	if _, err := a.reaper.hunt(0); err != nil || late {
		return nil, err
	}
	path := []byte(a.image.paths.InputPath)
	return slices.DeleteFunc(a.listener.Comparisons(), func(c process.Comparison) bool {
		return partOfPath(c.A, path) || partOfPath(c.B, path)
	}), nil
}

// partOfPath reports whether an operand is part of the input's path, which differs between lanes
// and runs. A mere name from the path does not count.
func partOfPath(operand, path []byte) bool {
	text, _, _ := bytes.Cut(operand, []byte{0})
	at := bytes.IndexByte(text, '/')
	if at < 0 {
		return false
	}
	rest := text[at:] // an option may precede the path
	return bytes.Contains(path, text) || len(rest) > 1 && bytes.HasPrefix(path, rest)
}

// listen starts the fork server that reports comparisons: the program's own, or that of another
// build, run in the program's place.
func (a *aflExecutor) listen() (err error) {
	command, features, bounds := a.image.command, a.features, a.limits
	features.Counted = a.work != nil
	if other := a.plan.Listen; other != "" {
		if features, err = aflserver.Detect(other); err != nil {
			return err
		}
		if !features.Cmplog && !(features.Counted && features.Compares) {
			return errors.New("it was not built with AFL_LLVM_CMPLOG=1 afl-clang-fast")
		}
		own, _, err := limits(a.plan.Limits, other, nil)
		if err != nil {
			return err
		}
		bounds = append(own, a.limits[a.own-1:]...)
		command.Path, command.Argv = other, slices.Concat([]string{other}, command.Argv[1:])
		command.Env = command.Env[:len(command.Env)-len(a.image.host)]
	}
	features.Persistent = false // state left by earlier cases must not show
	a.listener, err = a.serve(&command, aflserver.Config{Features: features, Limits: bounds, Listen: true})
	return err
}
