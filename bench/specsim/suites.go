package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// fileCase is a case of type text.file with three groups.
const fileCase = "## FILE-%[1]d\n\n```yaml spec-test\nid: FILE-%[1]d\ntype: text.file\npath: subject.txt\nassert:\n" +
	"  - target: text\n    must:\n      - contain: [\"alpha\", \"beta\"]\n      - regex: [\"version: [0-9]+\"]\n" +
	"  - target: text\n    cannot:\n      - contain: [\"ERROR\"]\n" +
	"  - target: text\n    can:\n      - contain: [\"nope\"]\n      - evaluate:\n          - [\"contains\", \"alpha\"]\n```\n\n"

// commandCase is a case that starts a program and checks its output.
const commandCase = "## RUN-%[1]d\n\n```yaml spec-test\nid: RUN-%[1]d\ntype: cli.run\nharness: {entrypoint: /bin/echo}\nargv: [\"hello %[1]d\"]\n" +
	"assert:\n  - target: stdout\n    must:\n      - contain: [\"hello %[1]d\"]\n```\n\n"

// transcript is a block of a page that runs the same command.
const transcript = "```console run\n$ /bin/echo hello %[1]d\nhello %[1]d\n```\n\n"

// shellsOwn uses the shell's own echo instead of the program.
func shellsOwn(text string) string { return strings.ReplaceAll(text, "/bin/echo", "echo") }

// groups returns the contenders that are compared with each other, and what is missing.
func groups(dir, thresh, testscript string, cases, many int) (list [][]contender, missing []string, err error) {
	if thresh, err = exec.LookPath(thresh); err == nil {
		thresh, err = filepath.Abs(thresh)
	}
	if err != nil {
		return nil, nil, err
	}
	subject := "alpha\nbeta\nversion: 12\n" + strings.Repeat(strings.Repeat("x", 99)+"\n", 10)
	put := func(name, text string) {
		if err == nil {
			err = write(filepath.Join(dir, name), text)
		}
	}
	var one, command, page, block strings.Builder
	var paths, own []string
	for i := range cases {
		fmt.Fprintf(&one, fileCase, i)
		fmt.Fprintf(&command, commandCase, i)
		fmt.Fprintf(&page, transcript, i)
		fmt.Fprintf(&block, "$ echo hello %[1]d\nhello %[1]d\n", i)
		paths = append(paths, fmt.Sprintf("pages/p%05d.md", i))
		put(paths[i], fmt.Sprintf(transcript, i))
		own = append(own, fmt.Sprintf("own/p%05d.md", i))
		put(own[i], fmt.Sprintf(shellsOwn(transcript), i))
		put(fmt.Sprintf("files/f%05d.spec.md", i), fmt.Sprintf(fileCase, i))
	}
	put("one/a.spec.md", one.String())
	put("command/a.spec.md", command.String())
	put("page/a.spec.md", page.String())
	put("ownpage/a.spec.md", shellsOwn(page.String()))
	put("block/a.spec.md", "```console run\n"+block.String()+"```\n")
	for _, folder := range []string{"one", "files", "many", "tenth", "spread", "list", "failing"} {
		put(folder+"/subject.txt", subject)
	}
	document := func(name string, n int, form string) {
		if err == nil {
			err = writeCases(filepath.Join(dir, name), n, form)
		}
	}
	document("tenth/a.spec.md", many/10, fileCase)
	document("many/a.spec.md", many, fileCase)
	documents := min(spread, many)
	for i := range documents {
		document(fmt.Sprintf("spread/f%05d.spec.md", i), many/documents, fileCase)
	}
	document("list/a.spec.yaml", many, listed(fileCase))
	document("failing/a.spec.md", many, strings.Replace(fileCase, `"beta"`, `"gamma %[1]d"`, 1))
	if err != nil {
		return nil, nil, err
	}
	run := func(name, folder string, n int) contender {
		return contender{name: "thresh run, " + name, cases: n, argv: []string{thresh, "run", folder, "--quiet", "--report", "json=report.json"}, dir: dir}
	}
	failing := run("text.file, as many that all fail", "failing", many)
	failing.fails = true
	list = [][]contender{
		{{name: "thresh --version", cases: 1, argv: []string{thresh, "--version"}, dir: dir}},
		{run("text.file, one document", "one", cases), run("text.file, a document each", "files", cases)},
		{
			run("text.file, a long document", "tenth", many/10), run("text.file, one ten times as long", "many", many),
			run(fmt.Sprintf("text.file, as many in %d documents", documents), "spread", many/documents*documents), run("text.file, as many in one YAML list", "list/a.spec.yaml", many),
			failing,
		},
	}
	each := run("transcripts, a page each", "pages", cases) // pages are named: a folder's documents have cases
	each.argv = slices.Replace(each.argv, 2, 3, paths...)
	eachOwn := run("transcripts, a page each, the shell's own echo", "own", cases)
	eachOwn.argv = slices.Replace(eachOwn.argv, 2, 3, own...)
	commands := []contender{
		{name: "bare Go loop, a temporary folder a case", cases: cases, alone: func(ctx context.Context) error { return bare(ctx, dir, cases) }},
		run("cli.run, /bin/echo", "command", cases),
		run("transcripts, one page", "page/a.spec.md", cases),
		run("transcripts, one page, the shell's own echo", "ownpage/a.spec.md", cases),
		run("transcripts, one page of one block, the shell's own echo", "block/a.spec.md", cases),
		each,
		eachOwn,
	}
	peers, missing, err := peers(dir, testscript, cases)
	return append(list, append(commands, peers...)), missing, err
}

// spread is the maximum number of documents for many cases.
const spread = 1000

// listed is the form of a case as an item of a YAML list.
func listed(form string) string {
	_, text, _ := strings.Cut(form, "spec-test\n")
	text, _, _ = strings.Cut(text, "```")
	return "- " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
}

// writeCases writes a document of n cases, one at a time: the peak memory of this process counts as
// a peak of the programs that it starts.
func writeCases(path string, n int, form string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	for i := range n {
		fmt.Fprintf(w, form, i) // the error persists until Flush
	}
	return errors.Join(w.Flush(), f.Close())
}

// bare starts a program for each case in a temporary folder, as many at once as there are
// processors.
func bare(ctx context.Context, dir string, cases int) error {
	work := make(chan int)
	errs := make([]error, runtime.NumCPU())
	var wg sync.WaitGroup
	for w := range errs {
		wg.Go(func() {
			for i := range work {
				if err := bareCase(ctx, dir, fmt.Sprintf("hello %d", i)); err != nil {
					errs[w] = err
				}
			}
		})
	}
	for i := range cases {
		work <- i
	}
	close(work)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func bareCase(ctx context.Context, dir, word string) error {
	temp, err := os.MkdirTemp(dir, "bare-")
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "/bin/echo", word)
	cmd.Dir = temp
	out, err := cmd.Output()
	if err != nil || !bytes.Contains(out, []byte(word)) {
		return fmt.Errorf("echo printed %q: %w", out, err)
	}
	return os.RemoveAll(temp)
}

// peers are other runners, each with the same commands in its own notation.
func peers(dir, testscript string, cases int) (list []contender, missing []string, err error) {
	put := func(name, text string) {
		if err == nil {
			err = write(filepath.Join(dir, name), text)
		}
	}
	var cram, bats strings.Builder
	for i := range cases {
		fmt.Fprintf(&cram, "  $ /bin/echo hello %[1]d\n  hello %[1]d\n\n", i)
		fmt.Fprintf(&bats, "@test \"echo %[1]d\" {\n  run /bin/echo hello %[1]d\n  [ \"$output\" = \"hello %[1]d\" ]\n}\n", i)
		put(fmt.Sprintf("testscript/t%05d.txtar", i), fmt.Sprintf("exec /bin/echo hello %[1]d\nstdout 'hello %[1]d'\n", i))
		form := "  $ /bin/echo hello %[1]d\n  hello %[1]d\n"
		put(fmt.Sprintf("cramfiles/t%05d.t", i), fmt.Sprintf(form, i))
		put(fmt.Sprintf("cramown/t%05d.t", i), fmt.Sprintf(shellsOwn(form), i))
	}
	put("cram/one.t", cram.String())
	put("cramshell/one.t", shellsOwn(cram.String()))
	put("bats/one.bats", bats.String())
	if path, lerr := exec.LookPath("cram"); lerr == nil {
		list = append(list, contender{name: "cram, one file, one shell", cases: cases, argv: []string{path, "-q", "cram"}, dir: dir},
			contender{name: "cram, one file, one shell, its own echo", cases: cases, argv: []string{path, "-q", "cramshell"}, dir: dir},
			contender{name: "cram, a file each", cases: cases, argv: []string{path, "-q", "cramfiles"}, dir: dir},
			contender{name: "cram, a file each, the shell's own echo", cases: cases, argv: []string{path, "-q", "cramown"}, dir: dir})
	} else {
		missing = append(missing, "cram (not installed)")
	}
	if path, lerr := exec.LookPath("bats"); lerr == nil {
		list = append(list, contender{name: "bats, one file", cases: cases, argv: []string{path, "bats/one.bats"}, dir: dir})
	} else {
		missing = append(missing, "bats (not installed)")
	}
	if testscript == "" {
		return list, append(missing, "testscript (not built)"), err
	}
	scripts, gerr := filepath.Glob(filepath.Join(dir, "testscript", "*.txtar"))
	if err == nil {
		err = gerr
	}
	list = append(list, contender{name: "testscript, a file each", cases: cases, argv: append([]string{testscript}, scripts...), dir: dir})
	return list, missing, err
}
