package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/crash"
	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/system/program"
)

// execution is an agent that is started for each call.
type execution struct {
	lead
	open    process.Opener
	runner  process.Runner
	limit   time.Duration // the runner's time limit
	path    string        // the program
	dir     string
	env     []string
	answer  agentcall.Path
	current *agentcall.Call // for the command line
	calls   int64
}

// promptMark is the placeholder for the prompt in a command line.
const promptMark = "{prompt}"

func openCommand(l lead, extra []string, open process.Opener) (agentcall.Agent, error) {
	p := l.plan.Command
	answer, err := agentcall.ParsePath(p.ResponsePath)
	if err != nil {
		return nil, fmt.Errorf("the response path: %w", err)
	}
	dir, err := filepath.Abs(p.Dir)
	if err != nil {
		return nil, fmt.Errorf("find the folder %s: %w", p.Dir, err)
	}
	path, err := program.Lookup("agent", p.Argv[0], dir)
	if err != nil {
		return nil, err
	}
	env := append(append(os.Environ(), p.Env...), extra...)
	return &execution{lead: l, open: open, path: path, dir: dir, env: env, answer: answer}, nil
}

// inArguments reports whether the prompt is in the arguments instead of standard input.
func (x *execution) inArguments() bool {
	return strings.Contains(strings.Join(x.plan.Command.Argv[1:], "\x00"), promptMark)
}

// ready opens the runner for a time limit.
func (x *execution) ready(ctx context.Context, limit time.Duration) error {
	if x.runner != nil && x.limit == limit {
		return nil
	}
	if x.runner != nil {
		if err := x.runner.Close(); err != nil {
			return err
		}
		x.runner = nil
	}
	runner, err := x.open(ctx, process.Plan{
		Command: x.command, PerCase: true, Input: "input/prompt.txt", Stdin: x.plan.Command.Template != "" || !x.inArguments(),
		Timeout: limit, Limits: process.Limits{Output: x.plan.MaxReply}, Executor: process.Spawn,
	}, x.lane, x.lane+1, true)
	if err != nil {
		return err
	}
	x.runner, x.limit = runner, limit
	return nil
}

func (x *execution) command(process.Paths) process.Command {
	c := process.Command{Path: x.path, Dir: x.dir, Env: x.env, Argv: []string{x.plan.Command.Argv[0]}}
	for _, a := range x.plan.Command.Argv[1:] {
		if x.current != nil {
			a = strings.ReplaceAll(a, promptMark, x.current.Prompt)
		}
		c.Argv = append(c.Argv, a)
	}
	if x.current != nil && len(x.current.Env) > 0 {
		c.Env = append(append([]string(nil), c.Env...), x.current.Env...)
	}
	return c
}

// input returns the program's standard input.
func (x *execution) input(c *agentcall.Call) string {
	if p := x.plan.Command; p.Template != "" {
		text, _ := filled(p.Template, p.Fields, c)
		return text
	}
	return c.Prompt
}

// filled fills a template with a call's values, and returns its form.
func filled(template string, fields bool, c *agentcall.Call) (string, agentcall.Form) {
	t := agentcall.ParseTemplate(template)
	v := agentcall.Values{Prompt: c.Prompt, Session: c.Session, History: c.History}
	if fields {
		v.Fields = agentcall.Fields(c.Prompt)
	}
	if t.Form() == agentcall.FormJSON {
		return t.JSON(v), agentcall.FormJSON
	}
	return t.Text(v, agentcall.EscapeNone), t.Form()
}

// Call implements agentcall.Agent.
func (x *execution) Call(ctx context.Context, c agentcall.Call) (agentcall.Reply, error) {
	if err := x.check(&c); err != nil {
		return agentcall.Reply{}, err
	}
	if strings.ContainsRune(c.Prompt, 0) && x.inArguments() {
		return agentcall.Reply{}, errors.New("a prompt with a NUL cannot be an argument; let the agent read it from standard input")
	}
	done, err := x.shared.acquire(ctx)
	if err != nil {
		return agentcall.Reply{}, err
	}
	defer done()
	if err := x.ready(ctx, c.Timeout); err != nil {
		return agentcall.Reply{}, err
	}
	x.current = &c
	defer func() { x.current = nil }()
	x.calls++
	res, err := x.runner.Run(ctx, process.Case{Index: x.calls, RunID: fmt.Sprintf("call-%d", x.calls), Input: []byte(x.input(&c))})
	if ctx.Err() != nil {
		return agentcall.Reply{}, ctx.Err()
	}
	if errors.Is(err, process.ErrGone) {
		err = fmt.Errorf("%w: %w", agentcall.ErrGone, err)
	}
	if err != nil {
		return agentcall.Reply{}, fmt.Errorf("run the agent %s: %w", x.plan.Command.Argv[0], err)
	}
	return x.judge(&res, c.Timeout), nil
}

// judge converts a program's result to a reply.
func (x *execution) judge(res *process.Result, limit time.Duration) agentcall.Reply {
	text := strings.TrimRight(string(res.Stdout), "\r\n")
	said := strings.ToValidUTF8(string(res.Stderr), "�")
	r := agentcall.Reply{End: agentcall.Answered, Attempts: 1, Latency: res.Elapsed, Size: int64(len(res.Stdout)),
		Text: strings.ToValidUTF8(text, "�"), Printed: strings.ToValidUTF8(said[max(0, len(said)-tailSize):], ""), Status: res.ExitCode}
	switch {
	case res.OutputLimit:
		return fail(r, agentcall.TooLarge, "the program wrote more than %d bytes", x.plan.MaxReply)
	case res.Status == process.TimedOut:
		return fail(r, agentcall.TimedOut, "no whole reply within %s", limit)
	case res.Status == process.Signaled:
		return fail(r, agentcall.Died, "the program was ended by signal %d", res.Signal)
	case res.ExitCode != 0:
		last, end := lastLine(said), agentcall.Refused
		if cause := crash.Analyze(crash.Death{ExitCode: res.ExitCode, Stderr: res.Stderr}); cause.Uncaught {
			end = agentcall.Raised
			if !strings.HasPrefix(last, cause.Kind) { // the end of a stack, of which the title says more
				last = cause.Title
			}
		}
		return fail(r, end, "%s", strings.TrimSuffix(fmt.Sprintf("exit code %d: %s", res.ExitCode, last), ": "))
	case !utf8.ValidString(text):
		return fail(r, agentcall.Malformed, "the output is not UTF-8")
	}
	if x.plan.Command.ResponsePath == "" {
		return r
	}
	root, err := agentcall.ParseReply([]byte(text))
	if err != nil {
		return fail(r, agentcall.Malformed, "the output is not JSON: %v", err)
	}
	r.Value = agentcall.JSON(root)
	r.Tools, r.Tokens = agentcall.Observe(root)
	if complaint := agentcall.Complaint(root); complaint != "" {
		return fail(r, agentcall.Reported, "%s", complaint)
	}
	r.Text = agentcall.Extract(root, x.answer)
	return r
}

// lastLine returns the last nonblank line of a text.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	line := strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
	return strings.ToValidUTF8(line[:min(len(line), told)], "")
}

// Reset implements agentcall.Agent. Every call is a new process; state kept elsewhere can only be
// reset through a URL.
func (x *execution) Reset(ctx context.Context, limit time.Duration) error {
	if x.plan.Reset.URL == "" {
		return nil
	}
	t := newTransport()
	defer t.CloseIdleConnections()
	return postReset(ctx, t, "", x.plan.Reset.URL, limit)
}

// Forgets implements agentcall.Agent.
func (x *execution) Forgets() bool { return true }

// Notes implements agentcall.Agent.
func (x *execution) Notes() []string {
	if x.runner == nil {
		return x.notes()
	}
	return append(x.notes(), x.runner.Notes()...)
}

// Close implements agentcall.Agent.
func (x *execution) Close() error {
	var err error
	if x.runner != nil {
		err = x.runner.Close()
	}
	return errors.Join(err, x.lead.close())
}
