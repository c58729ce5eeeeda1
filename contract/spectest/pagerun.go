package spectest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/spectest/stage"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/lazy"
	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/port/sut"
)

// ran is the result of one step of a page.
type ran struct {
	step    *pageStep
	printed []string
	code    int
	why     string // why it was cut off: too slow, too much output
	lacks   string // the value that it should have passed on
}

// holds reports whether the result of a step matches the page.
func (r *ran) holds(rules redactions) bool {
	return r.why == "" && r.lacks == "" && r.ended() && (r.step.unseen || rules.matched(r.step.want, r.printed))
}

// ended reports whether a step ended with the exit code on the page.
func (r *ran) ended() bool { return r.code == r.step.exit || r.step.anyExit }

// pageRun is one run of a page.
type pageRun struct {
	x       *executor
	c       *Case
	folder  *stage.Folder
	dir     string     // start folder of commands
	private string     // for the shell's state between blocks
	env     []string   // shared by the pages of a document
	own     []string   // variables of this page
	state   string     // file with the state of the last sh; "": none yet
	left    *leftState // of the last shell other than sh
	shells  int        // number of shells so far
	done    []ran
	skipped []string // why blocks did not run, with their lines
	omitted int      // commands in skipped blocks
	serving []*service
	untyped string     // message about input that the terminal of the running block did not take
	vars    variables  // captured by blocks
	python  sut.System // the Python session; nil: none yet
	step    *stepper
}

// runPage runs the steps of a page in order, and continues after a failed one. It returns the steps
// that ran.
func (x *executor) runPage(ctx context.Context, c *Case) (steps []ran, skipped []string, failure *Failure, err error) {
	p, f, err := x.openPage(ctx, c)
	if err != nil || f != nil {
		return nil, nil, f, err
	}
	defer func() {
		err = errors.Join(err, p.close())
		failure, _ = hide(p.vars.redactor(true), failure, nil)
	}()
	p.step = x.step
	f, err = p.play(x.bound(ctx, p.folder.Top, "", nil), c.page.acts)
	if over := x.files.end(); over != nil {
		f, err = over, nil
	}
	if err != nil || f != nil {
		return p.done, p.skipped, f, err
	}
	serving := p.backgroundFailure()
	if err := p.stop(); err != nil {
		return nil, nil, nil, err
	}
	if f = p.failure(); f == nil {
		f = serving
	} else if serving != nil { // it may explain the failure
		text := *f.steps + fmt.Sprintf("%s:%d: %s\n", x.c.name, serving.Line, serving.Message)
		f.steps = &text
	}
	return p.done, p.skipped, f, nil
}

// folderKey is the name under which a folder is cached for later pages of the run.
const folderKey = "spectest folder"

// openPage prepares the folder of a page.
func (x *executor) openPage(ctx context.Context, c *Case) (p *pageRun, f *Failure, err error) {
	var dir *stage.Folder
	if kept, ok := x.session.cache.Take(folderKey); ok {
		dir = kept.(*stage.Folder) // nothing else is put there
	} else if dir, err = stage.NewFolder(x.c.contract.targets.Scratch); err != nil {
		return nil, nil, err
	}
	p = &pageRun{x: x, c: c, dir: dir.Page, private: dir.Top, folder: dir}
	defer func() {
		if err != nil || f != nil {
			err = errors.Join(err, p.close())
		}
	}()
	for _, l := range c.page.link {
		if !filepath.IsAbs(l) {
			l = filepath.Join(x.dir, l)
		}
		if err := stage.Link(p.dir, l); err != nil {
			return nil, &Failure{Category: Runtime, Path: "link", Message: err.Error(), Line: c.From}, nil
		}
	}
	err = p.environment(ctx)
	return p, nil, err
}

// play runs blocks of a page and writes its files, in the order of the page.
func (p *pageRun) play(ctx context.Context, acts []act) (*Failure, error) {
	number := 0
	for i := range acts {
		a := &acts[i]
		if a.steps == nil {
			if err := stage.Write(p.dir, []stage.File{a.File}); err != nil {
				return &Failure{Category: Runtime, Path: "file", Message: diag.Reason(err), Line: a.line}, nil
			}
			continue
		}
		number++
		if why := a.missing(p.finds, p.x.c.contract.getenv); why != "" {
			p.skipped = append(p.skipped, fmt.Sprintf("the block on line %d: %s", a.line, why))
			p.omitted += len(a.steps)
			continue
		}
		if run, err := p.step.ask(ctx, fmt.Sprintf("block %d of %d", number, p.c.page.blocks()), a.line, a.to); err != nil {
			return nil, err
		} else if !run {
			p.omitted += len(a.steps)
			continue
		}
		done := len(p.done)
		p.x.files.isAt(a.line)
		over, f, err := p.block(ctx, a, i+1 < len(acts))
		if err == nil {
			p.step.printed(p, done, f)
		}
		if err != nil || f != nil || over {
			return f, err
		}
	}
	return nil, nil
}

// environment sets the variables of the page's commands: those of the caller, plus those that make
// programs print the same everywhere.
func (p *pageRun) environment(ctx context.Context) error {
	fixed := [][2]string{
		{"NO_COLOR", "1"}, {"TERM", "dumb"}, {"COLUMNS", "80"}, {"LINES", "24"}, {"TZ", "UTC"}, {"LC_ALL", "C.UTF-8"}, {"LANGUAGE", ""}, {"CDPATH", ""},
	}
	p.own = []string{tempVariable + "=" + p.private, "PAGE=" + filepath.Join(p.x.dir, filepath.Base(p.x.c.doc.path))}
	if p.c.page.serves {
		port, err := p.x.c.contract.targets.FreePort(ctx)
		if err != nil {
			return err
		}
		p.own = append(p.own, "PORT="+port)
	}
	for _, kv := range p.x.c.contract.environ() {
		name, _, _ := strings.Cut(kv, "=")
		if allow := p.x.c.set.allow; name == "" || allow != nil && !slices.Contains(allow, name) {
			continue
		}
		_, own := variable(p.own, name)
		if !own && !slices.ContainsFunc(fixed, func(f [2]string) bool { return f[0] == name }) {
			p.env = append(p.env, kv)
		}
	}
	for _, name := range p.x.c.set.vars.names() {
		fixed = append(fixed, [2]string{name, p.x.c.set.vars[name].text()})
	}
	for _, f := range fixed {
		p.env = append(p.env, f[0]+"="+f[1])
	}
	return nil
}

// block runs the commands of a block in one shell. If a command ends the shell, the rest continue
// in a new one with the folder and the exported variables of the old. over means that the page has
// ended.
func (p *pageRun) block(ctx context.Context, a *act, more bool) (over bool, f *Failure, err error) {
	if a.background {
		return false, nil, p.serve(ctx, a)
	}
	if a.language == pythonSession {
		return p.converse(ctx, a)
	}
	if a.language.program != "" {
		if err := stage.Write(p.private, []stage.File{{Path: blockFile(a), Text: a.Text}}); err != nil {
			return true, nil, fmt.Errorf("writing the program of a block: %w", err)
		}
		defer func() { err = errors.Join(err, os.Remove(filepath.Join(p.private, blockFile(a)))) }()
	}
	for first := 0; first < len(a.steps); {
		l, err := p.x.commandLane(ctx, laneKind{limit: a.timeout, shell: p.shellOf(a) == nil})
		if err != nil {
			return true, nil, err
		}
		run, err := p.shell(l, a, a.steps[first:], more)
		if err != nil {
			return true, nil, err
		}
		res, err := run(ctx)
		if err != nil {
			return true, nil, err
		}
		mark, text := []byte("\n"+pageMark), res.Stdout
		for first < len(a.steps) {
			out, rest, ended := bytes.Cut(text, mark)
			r := ran{step: &a.steps[first]}
			first++
			if ended {
				code, after, _ := bytes.Cut(rest, []byte("\n"))
				r.code, _ = strconv.Atoi(string(code)) // as the shell writes it
				text = after
			} else if r.code = res.ExitCode; res.Status == process.Signaled {
				r.code = 128 + res.Signal
			}
			r.printed = p.captured(r.step, p.lines(out))
			if ended && first == len(a.steps) {
				r.lacks = p.capture(a, validText(out))
			}
			switch {
			case ended:
			case res.Status == process.TimedOut:
				r.why = fmt.Sprintf("the block did not end within %s and was killed", a.timeout) + p.untyped
			case res.OutputLimit || res.StdoutSize > maxOutput:
				r.why = fmt.Sprintf("the block printed more than %d MiB", maxOutput>>20)
			}
			if ended && first == len(a.steps) && p.untyped != "" {
				r.why = "the block ended" + p.untyped
			}
			if p.done = append(p.done, r); r.why != "" || r.lacks != "" {
				return true, nil, nil
			}
			if !ended {
				break
			}
		}
	}
	return false, nil, nil
}

// pageMark separates the outputs of commands.
const pageMark = "\x1e\x1ethresh:"

// evaluated matches the prefix that some shells give to messages of eval.
var evaluated = lazy.Pattern(`(?m)^sh: (\d+): eval: `)

// lines splits an output into lines. It replaces the name of the page's folder, which differs from
// run to run.
func (p *pageRun) lines(out []byte) []string {
	text := evaluated().ReplaceAllString(strings.ReplaceAll(validText(out), p.dir, "<folder>"), "sh: $1: ")
	text = strings.ReplaceAll(text, "<folder>"+strings.TrimPrefix(hiddenBlock, "page")+"block-", "block-")
	text = strings.ReplaceAll(text, p.private+string(filepath.Separator), "")
	if r := p.x.c.set.hidden; r != nil {
		text = string(r.Template([]byte(text)))
	}
	text = strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\n \t")
	if text == "" {
		return nil
	}
	list := strings.Split(text, "\n")
	for i := range list {
		list[i] = strings.TrimRight(list[i], " \t")
	}
	return list
}

// maxScript is the maximum length of a script argument; Linux allows 128 KiB.
const maxScript = 100 << 10

// shellRun runs a prepared shell until it or its commands end. A background block's runs beside the
// rest of the page, and changes nothing of it.
type shellRun func(context.Context) (process.Result, error)

// shell prepares one shell for commands of a block.
func (p *pageRun) shell(l *commandLane, a *act, steps []pageStep, more bool) (shellRun, error) {
	p.untyped = ""
	if sh := p.shellOf(a); sh != nil {
		return p.otherShell(l, sh, a, steps, more)
	}
	p.shells++
	script, state := p.script(a, steps, more)
	var tty *stage.Terminal
	var err error
	if t := a.terminal; t != nil {
		if tty, err = stage.OpenTerminal(t.columns, t.rows, maxOutput, t.keys); err != nil {
			return nil, err
		}
		script = "exec 0<>'" + tty.Path + "' 1>&0\n" + script
	}
	if len(script) > maxScript {
		name := fmt.Sprintf("script-%d", p.shells)
		if err := stage.Write(p.private, []stage.File{{Path: name, Text: script}}); err != nil {
			return nil, fmt.Errorf("writing the commands of a block: %w", err)
		}
		script = ". " + shellWord(filepath.Join(p.private, name))
	}
	argv := []string{"sh", "-c", script, "sh"}
	if where, _ := variable(p.env, "PATH"); l.shell == "" || l.where != where {
		if l.shell, err = p.posixShell(); err != nil {
			return nil, campaign.Fatal("transcripts need a shell: %w", err)
		}
		l.where = where
	}
	l.next = func(string) process.Command {
		return process.Command{Path: l.shell, Argv: argv, Env: p.env, Dir: p.dir}
	}
	return func(ctx context.Context) (process.Result, error) {
		res, err := l.run(ctx, nil)
		p.keepState(state)
		if tty == nil {
			return res, err
		}
		seen, left, fault := tty.Close()
		if len(left) > 0 {
			p.untyped = fmt.Sprintf(" and has not printed %q, which keys wait for", left[0].After)
		}
		res.Stdout, res.StdoutSize = screened(seen, a.terminal.rows), int64(len(seen))
		return res, errors.Join(err, fault)
	}, nil
}

// keepState takes over the state file that a shell left for the next. Each shell writes its own
// file: some file systems flush a file that is truncated and rewritten.
func (p *pageRun) keepState(state string) {
	if state == "" {
		return
	}
	if _, err := os.Stat(state); err != nil {
		return // the shell was killed
	}
	if p.state != "" && len(p.serving) == 0 { // a background block may not have read it yet
		_ = os.Remove(p.state) // Clear removes it anyway
	}
	p.state = state
}

func shellWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// script is the input of the shell: the commands, each evaluated separately so that its messages
// give its own line numbers, with a mark after each. state is the file for the shell's state.
func (p *pageRun) script(a *act, steps []pageStep, more bool) (text, state string) {
	var b strings.Builder
	b.WriteString("exec 2>&1\n")
	export := func(name, value string) { fmt.Fprintf(&b, "export %s=%s\n", name, shellWord(value)) }
	for _, e := range p.own {
		name, value, _ := strings.Cut(e, "=")
		export(name, value)
	}
	if p.state != "" {
		b.WriteString(". " + shellWord(p.state) + "\n")
	}
	for _, name := range p.vars.names() {
		export(name, p.vars[name].text())
	}
	keep := ""    // writes the state
	restore := "" // undoes the block's own variables, which may hide exported ones
	for i, e := range slices.Concat(a.terminal.env(), a.env) {
		fmt.Fprintf(&b, "thresh_had_%[1]d=${%[2]s+x} thresh_was_%[1]d=${%[2]s-}\n", i, e[0])
		export(e[0], e[1])
		restore += fmt.Sprintf("if [ \"$thresh_had_%[1]d\" ]; then %[2]s=$thresh_was_%[1]d; else unset %[2]s; fi; ", i, e[0])
	}
	if !a.background && (more || a.setup || len(steps) > 1) {
		state = filepath.Join(p.private, "state-"+strconv.Itoa(p.shells))
		keep = restore + "{ export -p; echo 'cd \"$PWD\"'; } > " + shellWord(state)
		b.WriteString("trap " + shellWord("thresh_exit=$?; [ \"$thresh_kept\" ] || { "+keep+"; }; exit $thresh_exit") + " EXIT\n")
	}
	for i := range steps {
		command := steps[i].command
		if a.stdin != "" {
			command = "eval " + shellWord(command) + " < " + shellWord(filepath.Join(p.dir, a.stdin))
		}
		b.WriteString("eval " + shellWord(command))
		if !a.background {
			b.WriteString("\nprintf '\\n" + pageMark + "%d\\n' $?")
		}
		b.WriteByte('\n')
	}
	if keep != "" { // a command may have set its own trap
		b.WriteString("thresh_exit=$? thresh_kept=1; " + keep + "; exit $thresh_exit\n")
	}
	return b.String(), state
}
