package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/run"
	"github.com/thresh-dev/thresh/store"
)

// trial executes a case in a process of its own, so that a target that kills the process that
// started it does not end the run. self returns a command of this program.
func trial(self func(args ...string) *exec.Cmd) func(context.Context, run.Trial) (bool, error) {
	if self == nil || os.Getenv(trialVariable) != "" {
		return nil
	}
	return func(ctx context.Context, t run.Trial) (killed bool, err error) {
		args := []string{TryVerb, "--store", t.Store.Dir(), "--campaign", strconv.Itoa(t.Campaign)}
		if !t.Start {
			args = append(args, "--case", strconv.FormatInt(t.Case.Index, 10))
		}
		if t.Case.Payload != nil {
			blob, err := t.Store.PutBlob(t.Case.Payload)
			if err != nil {
				return false, fmt.Errorf("storing the input of case %d: %w", t.Case.Index, err)
			}
			args = append(args, "--input", blob)
		}
		cmd := self(append(args, t.RunID)...)
		cmd.Env = append(os.Environ(), trialVariable+"=1")
		// The process dies with this thread, so the thread must outlive it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		ownProcessGroup(cmd)
		if err := cmd.Start(); err != nil {
			return false, fmt.Errorf("starting a process for case %d: %w", t.Case.Index, err)
		}
		over := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() }) // the process may have ended already
		defer over()
		err = cmd.Wait()
		var exit *exec.ExitError
		if ctx.Err() != nil || !errors.As(err, &exit) {
			return false, ctx.Err()
		}
		return exit.ExitCode() == -1, nil
	}
}

// trialVariable is set in the process that tries a case. That process starts no further trials: a
// program that embeds Thresh may give the verb another meaning.
const trialVariable = "THRESH_TRIAL"

// TryVerb is the verb that executes one case of a stored run and prints nothing.
const TryVerb = "try-case"

// Try executes one case of campaign k of a stored run, so that another process can see whether this
// one survives it. With a negative index it only opens a lane. input is the blob of the explicit
// payload; "": none.
func (a *App) Try(ctx context.Context, st *store.Store, runID string, k int, index int64, input string) error {
	j, err := st.OpenJournal(runID)
	if err != nil {
		return err
	}
	defer j.Close()
	c, _, _, err := a.Stored(ctx, st.Blob, j.Manifest())
	if err != nil {
		return err
	}
	if k < 0 || k >= len(c.Campaigns) {
		return diag.Refused("run %s has no campaign %d", runID, k)
	}
	x := c.Campaigns[k]
	if index < 0 {
		exec, err := campaign.Solo(ctx, x, campaign.Lane{Of: 1})
		if err != nil {
			return diag.Environment("starting the target: %w", err)
		}
		return exec.Close()
	}
	at, state, err := run.CaseAt(ctx, x, k, j, index)
	if err != nil {
		return diag.Refused("%w", err)
	}
	if input != "" {
		if at.Payload, err = st.Blob(input); err != nil {
			return fmt.Errorf("reading the input of case %d: %w", index, err)
		}
		if at.Payload == nil {
			at.Payload = []byte{}
		}
	}
	exec, err := campaign.Solo(ctx, x, campaign.Lane{Of: 1, Cold: true})
	if err != nil {
		return diag.Environment("starting the target: %w", err)
	}
	_, err = exec.Execute(ctx, state, at)
	return errors.Join(err, exec.Close())
}
