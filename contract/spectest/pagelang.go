package spectest

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/lazy"
)

// language describes how to run the blocks of a language: each as a file, by a command, or with
// prompts, by one interpreter for all blocks of the page.
type language struct {
	names   []string // the first word of a fence
	program string   // the command; FILE stands for the block's file. "": the blocks have prompts
	end     string   // extension of the file
	prompt  string
	more    string                // the prompt of continuation lines
	prompts func() *regexp.Regexp // for prompts that vary
	shell   *shell                // nil: sh
}

// languages are the built-in languages.
var languages = []language{
	{names: []string{"console"}, prompt: "$ ", more: ">"},
	{names: []string{"pycon"}, prompt: ">>> ", more: "...", prompts: lazy.Pattern(`^>>>(?: |$)`)},
	{names: []string{"python", "py"}, program: "python3 FILE", end: ".py"},
	{names: []string{"sh"}, program: "sh FILE", end: ".sh"},
	{names: []string{"bash"}, program: "bash FILE", end: ".sh"},
	{names: []string{"zsh"}, program: "zsh FILE", end: ".zsh"},
	{names: []string{"fish"}, program: "fish FILE", end: ".fish"},
	{names: []string{"powershell", "pwsh", "ps1"}, program: "& FILE", end: ".ps1", shell: powerShell},
	{names: []string{"bat", "cmd"}, program: "call FILE", end: ".bat", shell: cmdShell},
	{names: []string{"javascript", "js"}, program: "node FILE", end: ".js"},
	{names: []string{"typescript", "ts"}, program: "node FILE", end: ".ts"},
	{names: []string{"ruby", "rb"}, program: "ruby FILE", end: ".rb"},
	{names: []string{"perl"}, program: "perl FILE", end: ".pl"},
	{names: []string{"php"}, program: "php FILE", end: ".php"},
	{names: []string{"lua"}, program: "lua FILE", end: ".lua"},
	{names: []string{"r"}, program: "Rscript FILE", end: ".R"},
	{names: []string{"julia"}, program: "julia FILE", end: ".jl"},
	{names: []string{"go"}, program: "go run FILE", end: ".go"},
	{names: []string{"awk"}, program: "awk -f FILE", end: ".awk"},
	{names: []string{"jq"}, program: "jq -n -f FILE", end: ".jq"},
	{names: []string{"sql"}, program: "sqlite3 :memory: < FILE", end: ".sql"},
}

// showsRuns reports whether a text has a line that opens a block to run. It looks for the word
// first: regular expressions are slow, and most of a long text does not contain it.
func showsRuns(text []byte, release func()) bool {
	for from, piece := range pieces(text, release) {
		for at := from; at < from+len(piece); at = lineEnd(text, at) {
			i := bytes.Index(text[at:min(from+len(piece)+2, len(text))], []byte("run"))
			if i < 0 {
				break
			}
			if at += i; consoleRun().Match(line(text, lineStart(text, at))) {
				return true
			}
		}
	}
	return false
}

// consoleRun matches a line that opens a block to run.
var consoleRun = lazy.Pattern("^[ \t]*(?:```+|~~~+)[ \t]*[A-Za-z][A-Za-z0-9_+.-]*[ \t]+run\\b")

// languageOf returns the language of a block to run; nil if the words after the fence do not ask
// for a run, or if no program is known for the language.
func (p *page) languageOf(words []string) *language {
	if len(words) < 2 || words[1] != "run" {
		return nil
	}
	for _, list := range [][]language{p.languages, languages} {
		for i := range list {
			if slices.Contains(list[i].names, words[0]) {
				return &list[i]
			}
		}
	}
	return nil
}

// interpreter adds a language, or replaces the program of one.
func (p *page) interpreter(name, program string) error {
	if !strings.Contains(program, " FILE") {
		return fmt.Errorf("%q does not name FILE, the file that the block becomes", program)
	}
	p.languages = append(p.languages, language{names: []string{name}, program: program, end: "." + name})
	return nil
}

// unknownLanguage is the warning for a block that should run but cannot.
func (p *page) unknownLanguage(name string) (message, hint string) {
	var names []string
	for _, list := range [][]language{p.languages, languages} {
		for i := range list {
			names = append(names, list[i].names...)
		}
	}
	return fmt.Sprintf("the block is not run: no program is known for %s", name),
		cmp.Or(diag.DidYouMean(name, names), "name one under interpreters in front matter, such as {"+name+": COMMAND FILE}")
}

// A block with prompts is a session, not a program, whatever its fence says.
var (
	pythonSession     = &languages[1]
	powerShellSession = &language{prompt: "PS> ", more: ">>", prompts: powerShellPrompt, shell: powerShell}
	cmdSession        = &language{prompt: `C:\> `, more: "More?", prompts: cmdPrompt, shell: cmdShell}
)

// prompted returns the language of a block according to its first prompt.
func (l *language) prompted(text []byte) *language {
	text = bytes.TrimLeft(text, " \t\r\n")
	console := l.prompt == "$ "
	switch {
	case l.names[0] == "python" && bytes.HasPrefix(text, []byte(pythonSession.prompt)):
		return pythonSession
	case (console || l.shell == powerShell) && powerShellPrompt().Match(text):
		return powerShellSession
	case (console || l.shell == cmdShell) && cmdPrompt().Match(text):
		return cmdSession
	}
	return l
}

// command returns the command of a line that begins with a prompt.
func (l *language) command(line string) (string, bool) {
	prompt := l.prompt
	if l.prompts != nil {
		prompt = l.prompts().FindString(line)
	}
	if prompt == "" {
		return line, false
	}
	return strings.CutPrefix(line, prompt)
}

// joins is the mark at the end of a line that continues on the next.
func (l *language) joins() string {
	if l.shell != nil {
		return l.shell.joins
	}
	return `\`
}

// programs are the alternative programs for the blocks of a language.
func (l *language) programs() []string {
	program, _, _ := strings.Cut(l.program, " ")
	switch {
	case l.shell != nil:
		return l.shell.programs
	case l == pythonSession:
		return []string{"python3"}
	case program == "":
		return nil
	}
	return []string{program}
}

// blockFile is the path of a program's file relative to the parent of the page's folder. A program
// imports modules beside it, so its file is among those of the page, but hidden; Go ignores hidden
// files and imports by module.
func blockFile(a *act) string {
	name := "block-" + strconv.Itoa(a.line) + a.language.end
	if a.language.end == ".go" {
		return name
	}
	return hiddenBlock + name
}

// hiddenBlock precedes the file names of programs.
const hiddenBlock = "page/."

// programSteps returns the single step of a block that is a program. The next fence is its output
// if its language is output.
func (d *document) programSteps(f block, a *act) []pageStep {
	a.File.Text = body(d.text[f.start:f.end], f.indent)
	file := fmt.Sprintf(`"$%s/%s"`, tempVariable, blockFile(a))
	return []pageStep{{command: strings.Replace(a.language.program, "FILE", file, 1), line: a.line, language: a.language, unseen: true}}
}

// output reads a fence as the output of the program above it.
func (d *document) output(f block, s *pageStep) {
	s.unseen, s.indent, s.from, s.to = false, f.indent, f.start, f.start
	for at := f.start; at < f.end; at = lineEnd(d.text, at) {
		d.printed(s, f.indent, at)
	}
}

// displayText is a step as a reader sees it.
func (s *pageStep) displayText() string {
	if s.language.program != "" {
		return strings.NewReplacer("$"+tempVariable+"/"+hiddenBlock, "", "$"+tempVariable+"/", "", `"`, "").Replace(s.command)
	}
	return s.language.prompt + s.command
}
