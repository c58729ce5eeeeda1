package fuzzspec

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/big"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/doctree"
)

// noCommand is the line for a document without target.command; existing tools report it before
// anything else about the target.
const noCommand = "Adapters are not shipped in OSS. Use target.command."

// stringAt reports whether a key has a string; any other value has already been reported.
func stringAt(s *doctree.Section, key string) bool {
	_, ok := s.Node(key).Str()
	return ok
}

func optional(s *doctree.Section, key string) *string {
	if text := s.Text(key); stringAt(s, key) {
		return &text
	}
	return nil
}

// besideKeys are the paths that may be relative to the document, with "./", so that promoted
// documents can be moved and shared.
var besideKeys = []string{"seed.path", "target.work_root_base"}

// absolute returns a field that must be an absolute path if it is present.
func (w *walk) absolute(s *doctree.Section, key string) *string {
	text := optional(s, key)
	if text == nil {
		return nil
	}
	if w.beside != "" && strings.HasPrefix(*text, "./") && slices.Contains(besideKeys, s.At(key)) {
		path := filepath.Join(w.beside, *text)
		return &path
	}
	if n := s.Node(key); !strings.HasPrefix(*text, "/") {
		w.refuse(n.Pos, s.At(key), reasonRelative, codeAbsolute, "must be an absolute path, got "+w.Describe(n), "")
		return nil
	}
	path := NormalizePath(*text)
	return &path
}

func (w *walk) target(s *doctree.Section) {
	t := &w.spec.Target
	t.Engine = optional(s, "engine")
	t.AgentID = s.Text("agent_id")
	base := w.absolute(s, "work_root_base")
	if base != nil {
		t.WorkRootBase = *base
	}
	t.RuntimeRoot = w.absolute(s, "runtime_root")
	t.EnginePolicy = w.absolute(s, "engine_policy")
	t.RunAgentScript = w.absolute(s, "run_agent_script")
	w.command(s)
	w.timeout(s.Node("timeout_s"))
	if base != nil && t.RuntimeRoot != nil {
		w.runtimeRoot(s.PosOf("work_root_base"), *base, *t.RuntimeRoot)
	}
}

func (w *walk) command(s *doctree.Section) {
	list := s.Texts("command")
	w.spec.Target.Command = list
	n := s.Node("command")
	if n == nil || len(list) == 0 || len(list) < len(n.Items()) {
		return
	}
	first := &n.Items()[0]
	x, reason := ResolveExecutable(w.fsys, campaign.Settings{Self: w.self}.Program(first.Text), w.allow)
	if reason == "" {
		return
	}
	code, message, hint := executableMessage(w.Describe(first), x, reason)
	if first.Text == campaign.Self && x.Real != "" {
		hint = strings.ReplaceAll(hint, x.Real, campaign.Self)
	}
	w.refuse(first.Pos, "target.command[0]", reason, code, message, hint)
}

// executableMessage explains a reason of ResolveExecutable.
func executableMessage(got string, x Executable, reason string) (code, message, hint string) {
	switch reason {
	case reasonRelative:
		return codeAbsolute, "must be an absolute path or a bare name, got " + got, ""
	case reasonUnresolved:
		return codeExecutable, "must be a program in " + strings.Join(searchPath, ", ") + ", got " + got,
			"give its absolute path; PATH is not consulted"
	case reasonNoFile:
		return codeExecutable, "must be a regular file that exists, got " + got, ""
	case ReasonNoExec:
		return codeExecutable, "must be an executable file, got " + got, "chmod +x " + x.Real
	case reasonWritable:
		return codeNotAllowed, "must be a file that group and others cannot write, got " + got, "chmod go-w " + x.Real
	}
	message = "must be a program under " + strings.Join(slices.Concat(systemRoots, localRoots, toolRoots), ", ") + ", got " + got
	if x.Real != x.Path {
		message += ", which is " + x.Real
	}
	return codeNotAllowed, message, "allow it with --allow-exec " + x.Real
}

func (w *walk) timeout(n *doctree.Node) {
	const path = "target.timeout_s"
	if n == nil {
		return
	}
	f, ok := n.Float()
	switch {
	case !ok:
		number := doctree.Number(0, maxTimeout)
		w.Is(n, path, &number)
	case f <= 0:
		w.refuse(n.Pos, path, "must be greater than 0", codeRange, "must be a number greater than 0, got "+w.Describe(n), "")
	case n.Kind == doctree.Int && math.IsInf(f, 1):
		w.crash(n.Pos, path, "OverflowError", codeTimeout, w.timeoutMessage(n))
	default:
		w.spec.Target.TimeoutS = &f
	}
}

func (w *walk) timeoutMessage(n *doctree.Node) string {
	return fmt.Sprintf("must be a number of seconds, at most %d, got %s", int64(maxTimeout), w.Describe(n))
}

func (w *walk) runtimeRoot(at doctree.Pos, base, root string) {
	const path = "target.work_root_base"
	real, err := realPath(w.fsys, base)
	realRoot, rootErr := realPath(w.fsys, root)
	realWork, _ := realPath(w.fsys, root+"/work")
	if err != nil || rootErr != nil {
		w.crash(at, path, "ValueError", codeUnreadable, "must be a path without NUL bytes, as must target.runtime_root")
		return
	}
	for _, dir := range []struct{ name, real string }{{"runtime_root/work", realWork}, {"runtime_root", realRoot}} {
		if isWithin(real, dir.real) {
			w.refuse(at, path, "must not be under "+dir.name, codeRuntimeRoot,
				fmt.Sprintf("must be outside target.runtime_root (%s), got %s", dir.real, real), "")
			return
		}
	}
}

func (w *walk) seed(s *doctree.Section) {
	x := &w.spec.Seed
	if p := w.absolute(s, "path"); p != nil {
		x.Path = *p
		w.exists(s.Node("path"), *p)
	}
	x.MediaType = optional(s, "media_type")
	if x.SHA256 = optional(s, "sha256"); x.SHA256 != nil && !isDigest(*x.SHA256) {
		w.refuse(s.PosOf("sha256"), "seed.sha256", "must be 64 hex characters", codeDigestForm,
			fmt.Sprintf("must be 64 hexadecimal digits, got %s (%d characters)", w.Describe(s.Node("sha256")), len([]rune(*x.SHA256))), "")
	}
}

func (w *walk) exists(n *doctree.Node, name string) {
	var err error
	if !strings.ContainsRune(name, 0) {
		if _, err = w.fsys.Stat(name); err == nil {
			return
		}
	}
	const path = "seed.path"
	switch {
	case err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP):
		w.refuse(n.Pos, path, "path does not exist", codeSeedMissing, "must be a file that exists, got "+w.Describe(n), "")
	case errors.Is(err, fs.ErrPermission):
		w.crash(n.Pos, path, "PermissionError", codeUnreadable, "must be a file that can be reached, got "+w.Describe(n)+": permission denied")
	default:
		w.crash(n.Pos, path, "OSError", codeUnreadable, "must be a file that can be reached, got "+w.Describe(n)+": "+cause(err))
	}
}

// cause is the message of a system call without the path.
func cause(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

func isDigest(s string) bool {
	return len(s) == 64 && !strings.ContainsFunc(s, func(r rune) bool {
		return !('0' <= r && r <= '9' || 'a' <= r && r <= 'f' || 'A' <= r && r <= 'F')
	})
}

func (w *walk) mutations(s *doctree.Section) {
	m := &w.spec.Mutations
	m.Cases, m.RNGSeed, m.MaxBytes, m.MaxOpsPerCase = s.Big("cases"), s.Big("rng_seed"), s.Big("max_bytes"), s.Big("max_ops_per_case")
	if m.OpsGiven = m.MaxOpsPerCase != nil; !m.OpsGiven {
		m.MaxOpsPerCase = big.NewInt(1)
	}
	ops := s.Texts("strategies")
	if n := s.Node("strategies"); n != nil && n.Kind == doctree.Seq {
		m.Strategies = append([]string{}, ops...)
	}
}
