package clitest

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/face/cli"
	"github.com/thresh-dev/thresh/internal/golden"
)

// Commands runs the command lines of testdata/commands.txt, which begin with "$ " (thresh itself is
// not written), in a copy of the folder testdata/commands. Below each command the file has its
// output (" "), its standard error ("! "), the files it wrote except the store ("> ") and its exit
// ("= "). Words may be in single quotes, and a final "< FILE" is standard input. The flag -update
// rewrites the file.
func Commands(t *testing.T) {
	file, err := filepath.Abs("testdata/commands.txt")
	check(t, err)
	text, err := os.ReadFile(file)
	check(t, err)
	dir := t.TempDir()
	check(t, os.CopyFS(dir, os.DirFS("testdata/commands")))
	t.Chdir(dir)
	before := files(t)
	for name, data := range before {
		if filepath.Ext(name) == ".json" {
			check(t, os.WriteFile(name, []byte(strings.ReplaceAll(data, place, filepath.ToSlash(dir))), 0o644))
		}
	}
	var got strings.Builder
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "$ ") || strings.HasPrefix(line, "# ") {
			got.WriteString(line)
		}
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			continue
		}
		before = files(t)
		var said strings.Builder
		code := call(t, strings.TrimSpace(command), marks{&said, "  "}, marks{&said, "! "})
		after, to := files(t), marks{&said, "> "}
		for _, file := range slices.Sorted(maps.Keys(after)) {
			if data, was := before[file]; !was || data != after[file] {
				fmt.Fprintf(to, "%s\n%s\n", file, strings.TrimSuffix(after[file], "\n"))
			}
		}
		if code != 0 {
			fmt.Fprintf(marks{&said, "= "}, "exit %d\n", code)
		}
		got.WriteString(rate.ReplaceAllString(strings.ReplaceAll(said.String(), filepath.ToSlash(dir), place), ", N$1"))
	}
	golden.Check(t, file, got.String())
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// place stands for the folder in JSON documents and in output.
const place = "{dir}"

// rate matches a number that depends on the machine.
var rate = regexp.MustCompile(`, \d+( [a-z ]+ a second)`)

var word = regexp.MustCompile(`'[^']*'|\S+`)

// call runs a command line.
func call(t *testing.T, line string, out, errs io.Writer) int {
	line, input, _ := strings.Cut(line, " < ")
	var in []byte
	if input != "" {
		var err error
		in, err = os.ReadFile(input)
		check(t, err)
	}
	words := []string{"thresh"}
	for _, w := range word.FindAllString(line, -1) {
		words = append(words, strings.Trim(w, "'"))
	}
	return cli.Main(words, cli.Stdio{In: bytes.NewReader(in), Out: out, Err: errs, Getenv: func(string) string { return "" }})
}

// files are the files of the folder, without the store.
func files(t *testing.T) map[string]string {
	all := map[string]string{}
	check(t, filepath.WalkDir(".", func(name string, x fs.DirEntry, err error) error {
		if err == nil && x.Name() == ".thresh" {
			return fs.SkipDir
		}
		if err != nil || !x.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(name)
		all[filepath.ToSlash(name)] = string(data)
		return err
	}))
	return all
}

// marks is a stream that marks its lines.
type marks struct {
	to   *strings.Builder
	mark string
}

func (m marks) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		m.to.WriteString(strings.TrimRight(m.mark+strings.ToValidUTF8(line, "\uFFFD"), " \n") + "\n")
	}
	return len(p), nil
}
