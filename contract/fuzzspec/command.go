package fuzzspec

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/port/process"
)

// Programs run only from these folders unless the user allows more. The list guards against typing
// mistakes; it is not a sandbox, since these folders contain every shell.
var (
	systemRoots = []string{"/bin", "/usr/bin"}
	localRoots  = []string{"/usr/local/bin"}
	toolRoots   = []string{"/opt/hostedtoolcache"}
	searchPath  = []string{"/bin", "/usr/bin", "/usr/local/bin"}
)

// placeholders are replaced in every element of a command.
var placeholders = []string{"<run_id>", "<run_dir>", "<input_path>", "<out_dir>"}

// Expand fills in the placeholders of a command for one case. It replaces them one after another,
// so a value may contain a later placeholder.
func Expand(command []string, p process.Paths) []string {
	values := [...]string{p.RunID, p.RunDir, p.InputPath, p.OutDir}
	argv := slices.Clone(command)
	for i := range argv {
		for k, token := range placeholders {
			argv[i] = strings.ReplaceAll(argv[i], token, values[k])
		}
	}
	return argv
}

// Environment returns the complete environment of a target: nothing is inherited.
func (s *Spec) Environment(p process.Paths) map[string]string {
	env := map[string]string{
		"LLMFUZZ_RUN_ID":     p.RunID,
		"LLMFUZZ_RUN_DIR":    p.RunDir,
		"LLMFUZZ_INPUT_PATH": p.InputPath,
		"LLMFUZZ_OUT_DIR":    p.OutDir,
	}
	maps.Copy(env, s.Execution.EnvOverrides)
	return env
}

// Executable is the program that argv[0] of a command names.
type Executable struct {
	Path string // what runs: argv[0], or the path where a bare name was found
	Real string // the same file with links resolved
}

// Reasons for rejecting an executable, as existing tools word them.
const (
	reasonRelative   = "must be an absolute path"
	reasonUnresolved = "must resolve to an allowlisted executable"
	reasonNoFile     = "must resolve to a file"
	ReasonNoExec     = "must be executable"
	reasonNotAllowed = "executable not allowlisted"
	reasonWritable   = "must not be group/world-writable"
)

// ResolveExecutable finds the program that argv0 names and checks that it may run. allow lists
// absolute paths that may run wherever they are. The reason is empty if the program is accepted.
func ResolveExecutable(fsys FS, argv0 string, allow []string) (x Executable, reason string) {
	explicit := strings.ContainsAny(argv0, `/\`)
	switch {
	case explicit && !strings.HasPrefix(argv0, "/"):
		return x, reasonRelative
	case strings.ContainsRune(argv0, 0):
		return x, reasonUnresolved
	case explicit:
		x.Path = argv0
	default:
		if x.Path = lookPath(fsys, argv0); x.Path == "" {
			return x, reasonUnresolved
		}
	}
	var err error
	if x.Real, err = realPath(fsys, x.Path); err != nil {
		return x, reasonUnresolved
	}
	info, err := fsys.Stat(x.Real)
	if err != nil || !info.Mode().IsRegular() {
		return x, reasonNoFile
	}
	if !fsys.Executable(x.Real) {
		return x, ReasonNoExec
	}
	if slices.ContainsFunc(allow, func(a string) bool {
		a = NormalizePath(a)
		real, err := realPath(fsys, a)
		return a == NormalizePath(x.Path) || a == x.Real || err == nil && real == x.Real
	}) {
		return x, ""
	}
	inside := func(roots []string) bool {
		return slices.ContainsFunc(roots, func(root string) bool {
			real, err := realPath(fsys, root)
			return err == nil && isWithin(x.Real, real)
		})
	}
	switch {
	case inside(systemRoots):
		return x, ""
	case inside(localRoots):
		if info.Mode().Perm()&0o022 != 0 {
			return x, reasonWritable
		}
		return x, ""
	case explicit && inside(toolRoots):
		return x, ""
	}
	return x, reasonNotAllowed
}

// lookPath finds a bare name on the fixed search path. It ignores the user's PATH, so that a
// campaign runs the same everywhere.
func lookPath(fsys FS, name string) string {
	if name == "" {
		return ""
	}
	for _, dir := range searchPath {
		p := path.Join(dir, name)
		if info, err := fsys.Stat(p); err == nil && !info.IsDir() && fsys.Executable(p) {
			return p
		}
	}
	return ""
}
