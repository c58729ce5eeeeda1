package app

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/app/draft"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/lazy"
	"github.com/thresh-dev/thresh/system/program"
	"github.com/thresh-dev/thresh/system/python"
)

// defined matches what a Python module defines at its top level that may be callable.
var defined = lazy.Pattern(`(?m)^(?:(?:async )?def|class) ([A-Za-z]\w*)|^([a-z]\w*)(?: *:[^=\n]+)? *= *\S`)

// couldBe is the error for a Python file given without the name of its agent.
func couldBe(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return diag.Refused("%s: %s", file, Reason(err))
	}
	name, hint := "NAME", ""
	if names := definedIn(text); len(names) > 0 {
		name, hint = names[0], "; it defines "+strings.Join(names, ", ")
	}
	return diag.WithHint(diag.Refused("%s is an agent or a program; say which", file),
		fmt.Sprintf("an agent: thresh try %s:%s%s\n        a program: thresh try python3 %s %s", file, name, hint, file, draft.Mark))
}

// definedIn returns the first names in a module that may be the agent.
func definedIn(text []byte) (names []string) {
	for _, m := range defined().FindAllSubmatch(text, 8) {
		names = append(names, string(m[1])+string(m[2]))
	}
	return names
}

// lookAtText is the Python program that reads the text of a module.
//
//go:embed look.py
var lookAtText string

// lookAtAgent finds the module of a Python agent, and reads it.
func (a *App) lookAtAgent(ctx context.Context, thing *draft.Thing, folder string) (*draft.AgentFacts, error) {
	file, name, _ := strings.Cut(thing.Words[0], ":")
	abs, err := filepath.Abs(file)
	if err != nil {
		return nil, diag.Environment("finding %s: %w", file, err)
	}
	text, err := os.ReadFile(abs)
	if err != nil {
		return nil, diag.Refused("%s: %s", file, Reason(err))
	}
	module := strings.TrimSuffix(filepath.Base(abs), ".py")
	f := &draft.AgentFacts{Folder: folder, Entry: module + ":" + name, Dir: fromDraft(folder, filepath.Dir(abs))}
	interpreter, err := python.Interpreter("")
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	out, err := exec.CommandContext(limited, interpreter, "-I", "-c", lookAtText, abs, module, name).Output()
	var failed *exec.ExitError
	switch {
	case errors.As(err, &failed):
		return nil, diag.Refused("%s:%s", file, bytes.TrimSpace(failed.Stderr))
	case err != nil:
		return nil, diag.Environment("reading %s with Python: %w", file, err)
	}
	var names struct{ Bound []string }
	if err := errors.Join(json.Unmarshal(out, &f.Text), json.Unmarshal(out, &names)); err != nil {
		return nil, diag.Environment("reading %s with Python: %w", file, err)
	}
	if first, _, _ := strings.Cut(name, "."); names.Bound != nil && !slices.Contains(names.Bound, first) {
		err := diag.Refused("%s defines no %s", file, first)
		if near := definedIn(text); len(near) > 0 {
			err = diag.WithHint(err, "it defines "+strings.Join(near, ", "))
		}
		return nil, err
	}
	return f, nil
}

// lookAtChat asks a chat endpoint for its models.
func (a *App) lookAtChat(ctx context.Context, thing *draft.Thing, folder string) (*draft.AgentFacts, error) {
	at := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(thing.Words[0], "/"), "/chat/completions"), "/")
	f := &draft.AgentFacts{Folder: folder, URL: at}
	if u, err := url.Parse(at); err == nil {
		ip := net.ParseIP(u.Hostname())
		f.Near = u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	}
	limited, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	q, err := http.NewRequestWithContext(limited, http.MethodGet, at+"/models", http.NoBody)
	if err != nil {
		return nil, diag.Refused("%s is not an address", thing.Words[0])
	}
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		return nil, diag.WithHint(diag.Environment("the chat endpoint %s is unreachable: %w", at, program.Plain(err)), "start it, or give its address")
	}
	defer answer.Body.Close()
	f.Denied = answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden
	var list struct{ Data []struct{ ID string } }
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err == nil && json.Unmarshal(text, &list) == nil { // without a list, the draft asks the user
		for _, m := range list.Data {
			f.Models = append(f.Models, m.ID)
		}
	}
	return f, nil
}

// lookAtPages finds what can be run in Markdown pages.
func (a *App) lookAtPages(t *Try, thing *draft.Thing, out string) (*draft.Draft, error) {
	if err := t.fits(thing, "spectest"); err != nil { // a wrong format is reported before anything that the pages lack
		return nil, err
	}
	path := thing.Words[0]
	files, folder, dir := []string{path}, IsFolder(path), filepath.Dir(path)
	if folder {
		dir = path
		var err error
		if files, _, err = FilesIn(path); err != nil {
			return nil, err
		}
	}
	var pages []draft.Page
	tests := 0
	for _, f := range files {
		if filepath.Ext(f) != ".md" {
			continue
		}
		doc, err := a.Document(f)
		if err != nil {
			return nil, diag.Refused("%s: %s", f, Reason(err))
		}
		p := draft.Page{Path: f, Tests: doc.Contract != nil && doc.Contract.Name() == "spectest"}
		p.ReadPage(doc.Data, t.Yes, onPath, func(word string) string { return linkable(word, ".", filepath.Dir(f)) })
		if p.Tests {
			tests++
		}
		pages = append(pages, p)
	}
	d := draft.DraftPages(path, folder, pages, dir, out)
	switch {
	case len(pages) == 0:
		return nil, diag.WithHint(diag.Refused("%s holds no Markdown page", path), "thresh try --help lists what else can be tried")
	case d.Folder != "": // the documents are copies
	case tests == 0 && len(d.Questions) > 0:
		all := []string{"to run them in copies of the pages, with links to the files that they name, here or beside them: --yes"}
		for _, q := range d.Questions {
			all = append(all, fmt.Sprintf("%s: %s", q.At, q.Ask))
		}
		return nil, diag.WithHint(diag.Refused("%s has no tests yet", path), strings.Join(all, "\n        "))
	case tests == 0:
		return nil, diag.WithHint(diag.Refused("%s has neither tests nor console blocks that could become tests", path), "thresh init spectest writes a starter page")
	}
	return d, nil
}

// shellWords lists words of a shell that are not programs.
var shellWords = strings.Fields("alias bg case cd command declare do done echo else eval exec exit export false fg fi for function if jobs kill let local printf " +
	"popd pushd pwd read return set shift source test then time trap true type ulimit umask unalias unset until wait while")

func onPath(name string) bool {
	_, err := exec.LookPath(name)
	return err == nil || slices.Contains(shellWords, name) || strings.Contains(name, "=")
}

// linkable returns what a word of a command names in the first folder that has it: the absolute
// path of the word's first element; "" if it names nothing. A word without a slash or an extension
// is not looked up, because it may mean anything.
func linkable(word string, folders ...string) string {
	local := filepath.Clean(strings.Trim(word, `"'`))
	if !strings.ContainsAny(word, "/.") || !filepath.IsLocal(local) || local == "." {
		return ""
	}
	first, _, _ := strings.Cut(local, string(filepath.Separator))
	for _, folder := range folders {
		if _, err := os.Stat(filepath.Join(folder, local)); err != nil {
			continue
		}
		if abs, err := filepath.Abs(filepath.Join(folder, first)); err == nil {
			return abs
		}
	}
	return ""
}
