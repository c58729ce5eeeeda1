package draft

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/lazy"
	"github.com/thresh-dev/thresh/engine/seq"
)

// Page describes a Markdown page.
type Page struct {
	Path   string
	Tests  bool // it has test blocks, or transcripts that run
	Blocks int  // number of transcripts that do not run
	Line   int  // of the first of them
	// Run is the page with these transcripts made tests; nil: the user did not ask for that.
	Run []byte
	// Links are the absolute paths of files that its commands name.
	Links []string
	// Missing are programs that were not found, each with the line of a block that needs it.
	Missing []struct {
		Name string
		Line int
	}
}

var (
	pageFence = lazy.Pattern("^[ \\t]*(`{3,}|~{3,})[ \\t]*([\\w-]*)(.*)$")
	// shown are the fence words of blocks that show commands and output.
	shown = []string{"", "console", "shell-session", "shellsession", "sh-session", "terminal", "shell", "sh", "bash", "text"}
	// between matches the separators of commands in a line.
	between = lazy.Pattern(`\|\|?|&&?|;`)
	// writers are commands that change the files they name.
	writers = strings.Fields("cd chmod chown cp curl dd git install ln make mkdir mv npm pip rm rmdir rsync sed tar tee touch truncate unzip wget")
	program = lazy.Pattern(`^[A-Za-z0-9][\w.+-]*$`)
)

// ReadPage finds the transcripts in a page that nothing runs. found reports whether a program
// exists; file returns the path to link for a word that names a file, or "".
func (p *Page) ReadPage(text []byte, yes bool, found func(program string) bool, file func(name string) string) {
	lines := bytes.Split(text, []byte("\n"))
	var written []string // what a command would change if it were linked
	for i := 0; i < len(lines); i++ {
		m := pageFence().FindSubmatch(bytes.TrimRight(lines[i], "\r"))
		if m == nil {
			continue
		}
		open, end := i, i+1
		for end < len(lines) && (len(bytes.Trim(lines[end], " \t\r"+string(m[1][:1]))) > 0 || bytes.Count(lines[end], m[1][:1]) < len(m[1])) {
			end++
		}
		i = end
		block := lines[open+1 : min(end, len(lines))]
		first := slices.IndexFunc(block, func(l []byte) bool { return len(bytes.TrimSpace(l)) > 0 })
		if first < 0 || !bytes.HasPrefix(bytes.TrimSpace(block[first]), []byte("$ ")) || m[1][0] != '`' ||
			len(bytes.TrimSpace(m[3])) > 0 || !slices.Contains(shown, string(m[2])) {
			continue
		}
		if p.Blocks++; p.Blocks == 1 {
			p.Line = open + 1
		}
		var needs []string
		for _, l := range block {
			command, ok := bytes.CutPrefix(bytes.TrimSpace(l), []byte("$ "))
			if !ok {
				continue
			}
			for _, part := range between().Split(string(command), -1) {
				words := strings.Fields(part)
				if len(words) > 0 && program().MatchString(words[0]) && !found(words[0]) && !slices.Contains(needs, words[0]) {
					needs = append(needs, words[0])
				}
				writes := strings.Contains(part, ">") || len(words) > 0 && slices.Contains(writers, words[0])
				for _, w := range words {
					if f := file(w); f != "" && writes {
						written = append(written, f)
					} else if f != "" && !slices.Contains(p.Links, f) {
						p.Links = append(p.Links, f)
					}
				}
			}
		}
		indent := lines[open][:bytes.Index(lines[open], m[1])]
		fence := string(indent) + string(m[1]) + "console run loose"
		if needs != nil {
			fence += " needs=" + strings.Join(needs, ",")
			p.Missing = append(p.Missing, struct {
				Name string
				Line int
			}{strings.Join(needs, ", "), open + 1})
		}
		lines[open] = []byte(fence)
	}
	p.Links = slices.DeleteFunc(p.Links, func(l string) bool { return slices.Contains(written, l) })
	if yes {
		p.Run = bytes.Join(lines, []byte("\n"))
	}
}

// clash returns a file that the page names and an already linked one of the same name; "" if there
// is no clash.
func (p *Page) clash(linked []Option) (mine, other string) {
	for _, l := range p.Links {
		for _, o := range linked {
			if o.Value != l && filepath.Base(o.Value) == filepath.Base(l) {
				return l, o.Value
			}
		}
	}
	return "", ""
}

// DraftPages runs the pages that have tests; each transcript that nothing runs yet becomes a
// question. If no page in dir has tests and the user allowed running them, the pages are copied to
// the folder out with their transcripts made tests.
func DraftPages(path string, folder bool, pages []Page, dir, out string) *Draft {
	d := &Draft{Format: "spectest", Document: path}
	tests := 0
	for _, p := range pages {
		if p.Tests {
			tests++
		}
	}
	for _, p := range pages {
		if tests == 0 && p.Run != nil && p.Blocks > 0 {
			if l, other := p.clash(d.Options); l != "" {
				d.Questions = append(d.Questions, Question{At: fmt.Sprintf("%s:%d", p.Path, p.Line),
					Ask: fmt.Sprintf("does it mean %s? Another page names %s, and a run links only one file of each name. Try this page alone.", l, other)})
				continue
			}
			name, err := filepath.Rel(dir, p.Path)
			if err != nil {
				name = filepath.Base(p.Path)
			}
			d.Folder, d.Document = out, "."
			d.Files = append(d.Files, campaign.File{Name: name, Data: p.Run})
			d.why("%s: a copy whose console blocks are run, each page in its own folder.", name)
			for _, l := range p.Links {
				if o := (Option{"link", l}); !slices.Contains(d.Options, o) {
					d.Options = append(d.Options, o)
				}
			}
			for _, b := range p.Missing {
				d.Questions = append(d.Questions, Question{At: fmt.Sprintf("%s:%d", filepath.Join(out, name), b.Line), Ask: fmt.Sprintf("%s is not on PATH, so the block is skipped: where is it?", b.Name)})
			}
			continue
		}
		if p.Blocks > 0 {
			d.Questions = append(d.Questions, Question{At: fmt.Sprintf("%s:%d", p.Path, p.Line),
				Ask: fmt.Sprintf("may the commands of %s be run? Then begin each with ```console run.", diag.Plural(p.Blocks, "console block"))})
		}
	}
	if links := d.Options; len(links) > 0 {
		names := seq.Map(links, func(o Option) string { return filepath.Base(o.Value) })
		d.why("Linked, as commands name them: %s.", strings.Join(names, ", "))
	}
	d.why("%d of %d pages have tests.", tests, len(pages))
	if folder || d.Folder != "" {
		d.option("case-file-pattern", "*.md")
		d.option("recursive", "")
	}
	return d
}
