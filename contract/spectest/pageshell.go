package spectest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/spectest/stage"
	"github.com/thresh-dev/thresh/engine/lazy"
	"github.com/thresh-dev/thresh/port/process"
)

// shell is a shell other than sh: PowerShell or cmd. Its script is a file. It writes the state for
// the next block, a folder and variables, to files.
type shell struct {
	programs []string // its names; the first one found is used
	options  []string // before the name of the script
	end      string   // extension of the script
	joins    string   // mark at the end of a line that continues
	script   func(s *shellScript) []stage.File
}

// shellScript holds the parts of a block's script.
type shellScript struct {
	name  string // of the script, without extension
	state string // path prefix of the state files; "": none
	input string // a file for standard input; "": none
	marks bool   // after each command
	steps []pageStep
}

var powerShell = &shell{programs: []string{"pwsh", "powershell"}, options: []string{"-NoLogo", "-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-File"}, end: ".ps1", joins: "`", script: powerShellScript}
var cmdShell = &shell{programs: []string{"cmd"}, options: []string{"/d", "/q", "/c"}, end: ".bat", joins: "^", script: cmdScript}

// The prompts of these shells as users see them.
var (
	powerShellPrompt = lazy.Pattern(`^PS(?: [^>]*)?> ?`)
	cmdPrompt        = lazy.Pattern(`^[A-Za-z]:\\[^<>|"*?]*> ?`)
)

// powerShellScript formats objects as the console does, in 80 columns, including output before a
// command throws or exits. A command counts as failed if it set $? or ended a program with another
// code than 0. The records of Write-Warning and the like contain no prefix, and an empty line of a
// program's errors has the name of a type as its text.
func powerShellScript(s *shellScript) []stage.File {
	quoted := func(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
	var b strings.Builder
	b.WriteString("\ufeff" + `$ErrorActionPreference = 'Continue'
$ProgressPreference = 'SilentlyContinue'
try { [Console]::OutputEncoding = [Text.UTF8Encoding]::new($false) } catch { }
$global:thresh_held = @()
function thresh_flush {
  if ($global:thresh_held.Count) { $global:thresh_held | Out-String -Stream -Width 80 | ForEach-Object { [Console]::Out.WriteLine($_) } }
  $global:thresh_held = @()
}
function thresh_show {
  process {
    if ($_ -is [string]) { $thresh_line = $_ }
    elseif ($_ -is [Management.Automation.ErrorRecord] -and "$($_.FullyQualifiedErrorId)" -like 'NativeCommandError*') { $thresh_line = $_.Exception.Message }
    elseif ($_ -is [Management.Automation.WarningRecord]) { $thresh_line = "WARNING: $_" }
    elseif ($_ -is [Management.Automation.VerboseRecord]) { $thresh_line = "VERBOSE: $_" }
    elseif ($_ -is [Management.Automation.DebugRecord]) { $thresh_line = "DEBUG: $_" }
    elseif ($_ -is [Management.Automation.InformationRecord]) { $thresh_line = "$_" }
    else { $global:thresh_held += , $_; return }
    thresh_flush
    [Console]::Out.WriteLine($thresh_line)
  }
  end { thresh_flush }
}
try {
`)
	for i := range s.steps {
		fmt.Fprintf(&b, "$global:LASTEXITCODE = 0; $thresh_ok = $true\ntry { . { Invoke-Expression %s } *>&1 | thresh_show } catch { thresh_flush; $_ | thresh_show; $thresh_ok = $false }\n", quoted(s.steps[i].command+"\n$thresh_ok = $?"))
		if s.marks {
			b.WriteString("[Console]::Out.Write(\"`n$([char]0x1e)$([char]0x1e)thresh:$(if ($LASTEXITCODE) { $LASTEXITCODE } elseif ($thresh_ok) { 0 } else { 1 })`n\")\n")
		}
	}
	b.WriteString("} finally {\nthresh_flush\n")
	if s.state != "" {
		fmt.Fprintf(&b, "[IO.File]::WriteAllText(%s, $PWD.ProviderPath)\n[IO.File]::WriteAllText(%s, ((Get-ChildItem Env: | ForEach-Object { $_.Name + '=' + $_.Value }) -join [char]0))\n",
			quoted(s.state+".dir"), quoted(s.state+".env"))
	}
	b.WriteString("}\n")
	return []stage.File{{Path: s.name + ".ps1", Text: b.String()}}
}

// cmdScript puts the commands in a batch file that another one calls, because a command may end it.
// Most built-in commands keep the exit code of an earlier one; (call ) clears it.
func cmdScript(s *shellScript) []stage.File {
	var b strings.Builder
	for i := range s.steps {
		command := s.steps[i].command
		if s.input != "" {
			command = "(\n" + command + "\n) < \"" + s.input + `"`
		}
		b.WriteString("(call )\n" + command + "\n")
		if s.marks {
			b.WriteString("echo.\necho " + pageMark + "%errorlevel%\n")
		}
	}
	outer := "@echo off\nchcp 65001 >nul 2>nul\ncall \"%~dp0" + s.name + "-commands.bat\" 2>&1\nset thresh_exit=%errorlevel%\n"
	if s.state != "" {
		outer += "cd > \"" + s.state + ".dir\"\nset > \"" + s.state + ".env\"\n"
	}
	lines := func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }
	return []stage.File{{Path: s.name + ".bat", Text: lines(outer + "exit %thresh_exit%\n")}, {Path: s.name + "-commands.bat", Text: lines(b.String())}}
}

// leftState is the state that such a shell leaves for the next: a folder and variables.
type leftState struct {
	dir string
	env []string
}

// shellOf is the shell of a block; nil: sh. Programs need a shell only to start them: cmd, if there
// is no sh.
func (p *pageRun) shellOf(a *act) *shell {
	if a.language.shell == nil && a.language.program != "" && runtime.GOOS == "windows" {
		if _, err := p.posixShell(); err != nil {
			return cmdShell
		}
	}
	return a.language.shell
}

// posixShell is the path of sh. On Windows it comes with Git, which puts another of its folders on
// PATH.
func (p *pageRun) posixShell() (string, error) {
	path, err := p.x.programIn("sh", p.env)
	if err == nil || runtime.GOOS != "windows" {
		return path, err
	}
	if git, err := p.x.programIn("git", p.env); err == nil {
		if path, err := p.x.programIn(filepath.Join(filepath.Dir(git), "..", "bin", "sh.exe"), p.env); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%w, nor that of Git; blocks whose prompts are PS> or C:\\> need none", err)
}

// found is the first of some programs that exists.
func (p *pageRun) found(programs []string) (path string, err error) {
	for _, name := range programs {
		if path, err = p.x.programIn(name, p.env); err == nil {
			return path, nil
		}
	}
	return "", err
}

func (p *pageRun) finds(program string) bool {
	_, err := p.x.programIn(program, p.env)
	return err == nil
}

// otherShell prepares a shell other than sh for commands of a block.
func (p *pageRun) otherShell(l *commandLane, sh *shell, a *act, steps []pageStep, more bool) (shellRun, error) {
	path, err := p.found(sh.programs)
	if err != nil {
		return nil, campaign.Fatal("the block on line %d needs %s: %w", a.line, sh.programs[0], err)
	}
	p.shells++
	s := &shellScript{name: "script-" + strconv.Itoa(p.shells), marks: !a.background, steps: slices.Clone(steps)}
	if a.stdin != "" {
		s.input = filepath.Join(p.dir, filepath.FromSlash(a.stdin))
	}
	if !a.background && (more || a.setup || len(steps) > 1) {
		s.state = filepath.Join(p.private, "state-"+strconv.Itoa(p.shells))
	}
	if a.language.program != "" {
		file := `"` + filepath.Join(p.private, blockFile(a)) + `"`
		s.steps[0].command = strings.Replace(a.language.program, "FILE", file, 1)
	}
	if err := stage.Write(p.private, sh.script(s)); err != nil {
		return nil, fmt.Errorf("writing the commands of a block: %w", err)
	}
	before := leftState{p.dir, slices.Concat(p.env, p.own)}
	if p.left != nil {
		before = *p.left
	}
	env := before.env
	for _, name := range p.vars.names() {
		env = append(env[:len(env):len(env)], name+"="+p.vars[name].text())
	}
	for _, e := range a.env {
		env = append(env[:len(env):len(env)], e[0]+"="+e[1])
	}
	l.next = func(string) process.Command {
		return process.Command{Path: path, Argv: slices.Concat([]string{path}, sh.options, []string{filepath.Join(p.private, s.name+sh.end)}), Env: env, Dir: before.dir}
	}
	return func(ctx context.Context) (process.Result, error) {
		res, err := l.run(ctx, nil)
		text := string(res.Stdout)
		if !strings.Contains(text, pageMark) {
			text += string(res.Stderr) // why the shell rejected the script
		}
		res.Stdout = []byte(strings.ReplaceAll(text, "\r\n", "\n"))
		if s.state != "" {
			err = errors.Join(err, p.readState(s.state, before, a))
		}
		return res, err
	}, nil
}

// readState reads the state that a shell left, unless it was killed. The block's own variables get
// their previous values back.
func (p *pageRun) readState(file string, before leftState, a *act) error {
	dir, err := os.ReadFile(file + ".dir")
	env, err2 := os.ReadFile(file + ".env")
	if err != nil || err2 != nil {
		return nil
	}
	now := leftState{dir: strings.TrimRight(string(dir), "\r\n")}
	own := func(name string) bool {
		return slices.ContainsFunc(a.env, func(e [2]string) bool { return e[0] == name })
	}
	end := "\r\n"
	if bytes.IndexByte(env, 0) >= 0 {
		end = "\x00"
	}
	for line := range strings.SplitSeq(string(env), end) {
		if name, _, ok := strings.Cut(line, "="); ok && name != "" && !own(name) && !strings.HasPrefix(name, "thresh_") {
			now.env = append(now.env, line)
		}
	}
	for _, e := range a.env {
		if value, had := variable(before.env, e[0]); had {
			now.env = append(now.env, e[0]+"="+value)
		}
	}
	p.left = &now
	return errors.Join(os.Remove(file+".dir"), os.Remove(file+".env"))
}
