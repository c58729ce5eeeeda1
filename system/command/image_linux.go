package command

import (
	"slices"
	"strings"
	"unsafe"

	"github.com/thresh-dev/thresh/port/process"
)

// image is a command in the form that execve takes. Usually only the run id changes between cases;
// then set overwrites just its bytes.
type image struct {
	plan  *process.Plan
	paths process.Paths

	// words holds the arguments and the environment as C strings; they must not move while a child
	// may read them.
	path       []byte
	dir        []byte // the command's own directory; nil: the run folder
	words      [][]byte
	argv, envp []uintptr
	command    process.Command

	// spots are the occurrences of the run id in words, if the command is a template, that is,
	// depends on the run id only there.
	spots    [][]byte
	idLen    int
	template bool
	holdID   string

	// file is set for a harness, which takes the input file as an argument even if the command does
	// not name it.
	file bool
	host []string // variables that make it serve cases and count its edges
}

// commandOf returns the command for a run id.
func (im *image) commandOf(runID string) process.Command {
	p := im.paths
	p.RunID = runID
	c := im.plan.Command(p)
	if im.file && !slices.ContainsFunc(c.Argv[1:], func(a string) bool { return strings.Contains(a, p.InputPath) }) {
		c.Argv = append(slices.Clip(c.Argv), p.InputPath)
	}
	c.Env = append(slices.Clip(c.Env), im.host...)
	return c
}

func newImage(plan *process.Plan, paths process.Paths) *image {
	im := &image{plan: plan, paths: paths}
	im.build(paths.RunID)
	return im
}

func cstring(s string) []byte { return append([]byte(s), 0) }

// set changes the image to a run id.
func (im *image) set(runID string) {
	if runID == im.holdID && !im.plan.PerCase {
		return
	}
	if im.template && len(runID) == im.idLen {
		for _, spot := range im.spots {
			copy(spot, runID)
		}
		im.holdID = runID
		return
	}
	im.build(runID)
}

// build makes the image from scratch and determines whether it is a template.
func (im *image) build(runID string) {
	c := im.commandOf(runID)
	im.command, im.holdID, im.idLen = c, runID, len(runID)
	im.path, im.dir = cstring(c.Path), nil
	if c.Dir != "" {
		im.dir = cstring(c.Dir)
	}
	im.words = im.words[:0]
	for _, list := range [][]string{c.Argv, c.Env} {
		for _, s := range list {
			im.words = append(im.words, cstring(s))
		}
	}
	im.argv = pointers(im.argv[:0], im.words[:len(c.Argv)])
	im.envp = pointers(im.envp[:0], im.words[len(c.Argv):])
	im.findSpots(runID, c)
}

// findSpots compares the command with those for two other run ids of the same length. Only the run
// id may differ.
func (im *image) findSpots(runID string, c process.Command) {
	im.spots, im.template = im.spots[:0], false
	if im.plan.PerCase || runID == "" {
		return
	}
	at := func(id string) []string {
		o := im.commandOf(id)
		if o.Path != c.Path || len(o.Argv) != len(c.Argv) || len(o.Env) != len(c.Env) {
			return nil
		}
		return append(append([]string{}, o.Argv...), o.Env...)
	}
	idA, idB := strings.Repeat("\x01", len(runID)), strings.Repeat("\x02", len(runID))
	a, b := at(idA), at(idB)
	if a == nil || b == nil {
		return
	}
	for i, w := range im.words {
		if strings.ReplaceAll(a[i], idA, idB) != b[i] ||
			strings.ReplaceAll(a[i], idA, runID) != string(w[:len(w)-1]) {
			im.spots = im.spots[:0]
			return
		}
		for from := 0; ; {
			j := strings.Index(a[i][from:], idA)
			if j < 0 {
				break
			}
			im.spots = append(im.spots, w[from+j:from+j+len(runID)])
			from += j + len(runID)
		}
	}
	im.template = true
}

func pointers(list []uintptr, words [][]byte) []uintptr {
	for _, w := range words {
		list = append(list, uintptr(unsafe.Pointer(&w[0])))
	}
	return append(list, 0)
}

func address(list []uintptr) uintptr { return uintptr(unsafe.Pointer(&list[0])) }
