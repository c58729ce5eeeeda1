package spectest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Looks returns the files that cases depend on besides the document: the files they examine, the
// programs they run with the files named in their arguments, and the Python modules of their
// functions. Some may not exist yet.
func (c *Campaign) Looks() []string {
	p, err := locate(c.doc.path, c.set.root)
	if err != nil {
		return nil // the run reports it
	}
	seen := make(map[string]bool)
	x := &executor{c: c, set: c.set, place: p}
	var cases []*Case
	for i := range c.slots {
		cases = append(cases, c.Case(int64(i)).parts()...)
	}
	for _, cs := range cases {
		switch {
		case cs.text != nil && !cs.text.self:
			seen[filepath.Join(p.dir, filepath.FromSlash(cs.text.path))] = true
		case cs.http != nil && scheme(cs.http.url) == "":
			seen[filepath.Join(p.dir, filepath.FromSlash(cs.http.url))] = true
		case cs.cli != nil && cs.fault == nil && cs.skip == "":
			x.programFiles(cs, seen)
		case cs.system != nil && cs.system.plan != nil:
			p := cs.system.plan
			file, _, _ := strings.Cut(p.Entry, ":")
			for _, word := range append([]string{file}, p.Command...) {
				if full := filepath.Join(p.Dir, word); word != "" && !filepath.IsAbs(word) && isFile(full) {
					seen[full] = true
				}
			}
		}
	}
	var list []string
	for name := range seen {
		list = append(list, name)
		// A build replaces the target of a link.
		if real, err := filepath.EvalSymlinks(name); err == nil && real != name {
			list = append(list, real)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// programFiles adds the files that a cli.run case depends on.
func (x *executor) programFiles(c *Case, seen map[string]bool) {
	if c.cli.python {
		for _, f := range []string{c.cli.entry, c.cli.before, c.cli.after} {
			module, _, _ := strings.Cut(f, ":")
			x.moduleFiles(strings.TrimSpace(module), seen)
		}
		return
	}
	if len(c.cli.command) == 0 {
		return
	}
	path, err := x.program(c)
	if err == nil || path != "" { // a program named by its path may be built later
		seen[path] = true
	}
	for _, word := range slices.Concat(c.cli.command[1:], c.cli.argv) {
		if word == "" || strings.ContainsRune(word, 0) {
			continue
		}
		if !filepath.IsAbs(word) {
			word = filepath.Join(x.cwd, word)
		}
		if isFile(word) {
			seen[word] = true
		}
	}
}

// moduleFiles adds the file of a Python module, if the first import folders have it, and the
// modules beside it, which it may import.
func (x *executor) moduleFiles(module string, seen map[string]bool) {
	if module == "" {
		return
	}
	name := filepath.Join(strings.Split(module, ".")...)
	for _, dir := range []string{x.cwd, x.dir} {
		for _, file := range []string{name + ".py", filepath.Join(name, "__init__.py")} {
			full := filepath.Join(dir, file)
			if _, err := os.Stat(full); err != nil {
				continue
			}
			beside, _ := filepath.Glob(filepath.Join(escapeGlob(filepath.Dir(full)), "*.py")) // the pattern is well formed
			for _, f := range beside {
				seen[f] = true
			}
			return
		}
	}
}

// escapeGlob makes a path match only itself.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
