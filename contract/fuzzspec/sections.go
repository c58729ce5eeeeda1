package fuzzspec

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"syscall"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/jsontree"
)

// noCommand is the line for a document without target.command; existing tools
// say it before anything else about the target.
const noCommand = "Adapters are not shipped in OSS. Use target.command."

// operations are the mutation operators, in the contract's order.
var operations = []string{"flip_bit", "flip_byte", "truncate_tail", "append_bytes"}

func (w *walk) target(n *jsontree.Node) {
	if !w.object(n, "target") {
		return
	}
	required := []string{"agent_id", "work_root_base"}
	optional := []string{"engine", "runtime_root", "engine_policy", "run_agent_script", "timeout_s"}
	if n.Get("command") == nil {
		w.found = append(w.found, violation{line: noCommand, Diagnostic: w.at(n.Offset, diag.Diagnostic{
			Code: codeMissing, Path: "target.command", Message: "must be given, got no such field",
			Hint: w.misspelt(n, "command", slices.Concat(required, optional)),
		})})
		optional = append(optional, "command")
	} else {
		required = append(required, "command")
	}
	w.fields(n, "target", required, optional)

	t := &w.spec.Target
	t.Engine = w.optional(n, "target", "engine")
	if id, ok := w.str(n, "target", "agent_id"); ok {
		if t.AgentID = id; id == "" {
			w.refuse(n.Get("agent_id").Offset, "target.agent_id", "must not be empty", codeEmpty,
				"must be a non-empty string, got an empty string", "")
		}
	}
	base := w.absolute(n, "target", "work_root_base")
	if base != nil {
		t.WorkRootBase = *base
	}
	t.RuntimeRoot = w.absolute(n, "target", "runtime_root")
	t.EnginePolicy = w.absolute(n, "target", "engine_policy")
	t.RunAgentScript = w.absolute(n, "target", "run_agent_script")
	w.command(n.Get("command"))
	w.timeout(n.Get("timeout_s"))
	if base != nil && t.RuntimeRoot != nil {
		w.runtimeRoot(n.Get("work_root_base"), *base, *t.RuntimeRoot)
	}
}

func (w *walk) command(n *jsontree.Node) {
	const path = "target.command"
	switch {
	case n == nil:
		return
	case n.Kind != jsontree.Array:
		w.wrongType(n, path, "an array")
		return
	case len(n.Items) == 0:
		w.refuse(n.Offset, path, "must not be empty", codeEmpty, "must be a non-empty array of strings, got an empty array", "")
		return
	}
	ok := true
	for i := range n.Items {
		if item := &n.Items[i]; item.Kind != jsontree.String {
			w.refuse(item.Offset, path, "must contain strings", codeType,
				fmt.Sprintf("must be an array of strings, got %s at index %d", describe(item), i), "")
			ok = false
		} else {
			w.spec.Target.Command = append(w.spec.Target.Command, item.Text)
		}
	}
	if !ok {
		return
	}
	first := &n.Items[0]
	x, reason := ResolveExecutable(w.fsys, first.Text, w.allow)
	if reason == "" {
		return
	}
	code, message, hint := executableMessage(first, x, reason)
	w.refuse(first.Offset, "target.command[0]", reason, code, message, hint)
}

// executableMessage says for people what a reason of ResolveExecutable means.
func executableMessage(n *jsontree.Node, x Executable, reason string) (code, message, hint string) {
	got := describe(n)
	switch reason {
	case reasonRelative:
		return codeAbsolute, "must be an absolute path or a bare name, got " + got, ""
	case reasonUnresolved:
		return codeExecutable, "must be a program in " + strings.Join(searchPath, ", ") + ", got " + got,
			"give its absolute path; PATH is not consulted"
	case reasonNoFile:
		return codeExecutable, "must be a regular file that exists, got " + got, ""
	case reasonNoExec:
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

// maxTimeout is the longest timeout, in seconds, that a clock of nanoseconds
// can count.
const maxTimeout = math.MaxInt64 / 1_000_000_000

func (w *walk) timeout(n *jsontree.Node) {
	const path = "target.timeout_s"
	if n == nil {
		return
	}
	f, ok := n.Float()
	switch {
	case !ok:
		w.wrongType(n, path, "a number")
	case f <= 0:
		w.refuse(n.Offset, path, "must be greater than 0", codeRange, "must be a number greater than 0, got "+describe(n), "")
	case n.Kind == jsontree.Int && math.IsInf(f, 1):
		w.crash(n.Offset, path, "OverflowError", codeTimeout, timeoutMessage(n))
	default:
		w.spec.Target.TimeoutS = &f
	}
}

func timeoutMessage(n *jsontree.Node) string {
	return fmt.Sprintf("must be a number of seconds, at most %d, got %s", maxTimeout, describe(n))
}

func (w *walk) runtimeRoot(n *jsontree.Node, base, root string) {
	const path = "target.work_root_base"
	real, err := realPath(w.fsys, base)
	realRoot, rootErr := realPath(w.fsys, root)
	realWork, _ := realPath(w.fsys, root+"/work")
	if err != nil || rootErr != nil {
		w.crash(n.Offset, path, "ValueError", codeUnreadable, "must be a path without NUL bytes, as must target.runtime_root")
		return
	}
	for _, dir := range []struct{ name, real string }{{"runtime_root/work", realWork}, {"runtime_root", realRoot}} {
		if under(real, dir.real) {
			w.refuse(n.Offset, path, "must not be under "+dir.name, codeRuntimeRoot,
				fmt.Sprintf("must be outside target.runtime_root (%s), got %s", dir.real, real), "")
			return
		}
	}
}

func (w *walk) seed(n *jsontree.Node) {
	if !w.object(n, "seed") {
		return
	}
	w.fields(n, "seed", []string{"path"}, []string{"media_type", "sha256"})
	s := &w.spec.Seed
	if p := w.absolute(n, "seed", "path"); p != nil {
		s.Path = *p
		w.exists(n.Get("path"), *p)
	}
	s.MediaType = w.optional(n, "seed", "media_type")
	if s.SHA256 = w.optional(n, "seed", "sha256"); s.SHA256 != nil && !isDigest(*s.SHA256) {
		digest := n.Get("sha256")
		w.refuse(digest.Offset, "seed.sha256", "must be 64 hex characters", codeDigestForm,
			fmt.Sprintf("must be 64 hexadecimal digits, got %s (%d characters)", describe(digest), len([]rune(*s.SHA256))), "")
	}
}

func (w *walk) exists(n *jsontree.Node, name string) {
	var err error
	if !strings.ContainsRune(name, 0) {
		if _, err = w.fsys.Stat(name); err == nil {
			return
		}
	}
	const path = "seed.path"
	switch {
	case err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP):
		w.refuse(n.Offset, path, "path does not exist", codeSeedMissing, "must be a file that exists, got "+describe(n), "")
	case errors.Is(err, fs.ErrPermission):
		w.crash(n.Offset, path, "PermissionError", codeUnreadable, "must be a file that can be reached, got "+describe(n)+": permission denied")
	default:
		w.crash(n.Offset, path, "OSError", codeUnreadable, "must be a file that can be reached, got "+describe(n)+": "+cause(err))
	}
}

// cause is what a system call said, without the path that the message has.
func cause(err error) string {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err.Error()
	}
	return err.Error()
}

func isDigest(s string) bool {
	return len(s) == 64 && !strings.ContainsFunc(s, func(r rune) bool {
		return !('0' <= r && r <= '9' || 'a' <= r && r <= 'f' || 'A' <= r && r <= 'F')
	})
}

func (w *walk) mutations(n *jsontree.Node) {
	const path = "mutations"
	if !w.object(n, path) {
		return
	}
	w.fields(n, path, []string{"cases"}, []string{"rng_seed", "max_bytes", "max_ops_per_case", "strategies"})
	m := &w.spec.Mutations
	m.Cases = w.integer(n, path, "cases", 1, "must be greater than 0").Int()
	m.RNGSeed = w.integer(n, path, "rng_seed", math.MinInt64, "").Int()
	m.MaxBytes = w.integer(n, path, "max_bytes", 1, "must be greater than 0").Int()
	m.MaxOpsPerCase = w.integer(n, path, "max_ops_per_case", 0, "must be greater than or equal to 0").Int()
	if m.OpsGiven = m.MaxOpsPerCase != nil; !m.OpsGiven {
		m.MaxOpsPerCase = (&jsontree.Node{Kind: jsontree.Int, Text: "1"}).Int()
	}
	if list := n.Get("strategies"); list != nil {
		w.strategies(list)
	}
}

func (w *walk) strategies(n *jsontree.Node) {
	const path = "mutations.strategies"
	if n.Kind != jsontree.Array {
		w.wrongType(n, path, "an array")
		return
	}
	ops := []string{}
	for i := range n.Items {
		item := &n.Items[i]
		switch {
		case item.Kind != jsontree.String:
			w.refuse(item.Offset, path, "must contain strings", codeType,
				fmt.Sprintf("must be an array of operation names, got %s at index %d", describe(item), i), "")
		case !slices.Contains(operations, item.Text):
			hint := diag.DidYouMean(item.Text, operations)
			w.refuse(item.Offset, path, "unsupported op "+item.Text, codeStrategy,
				"must be one of "+strings.Join(operations, ", ")+", got "+describe(item), hint)
		default:
			ops = append(ops, item.Text)
		}
	}
	w.spec.Mutations.Strategies = ops
}
