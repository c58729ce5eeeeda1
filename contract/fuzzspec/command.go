package fuzzspec

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/port/process"
)

// Programs may be run from these folders alone, unless the user allows more.
// The list guards against typing mistakes; it is no sandbox, since it holds
// every shell.
var (
	systemRoots = []string{"/bin", "/usr/bin"}
	localRoots  = []string{"/usr/local/bin"}
	toolRoots   = []string{"/opt/hostedtoolcache"}
	searchPath  = []string{"/bin", "/usr/bin", "/usr/local/bin"}
)

// Placeholders that are replaced in every element of a command.
var placeholders = []string{"<run_id>", "<run_dir>", "<input_path>", "<out_dir>"}

// Expand fills in the placeholders of a command for one case. They are replaced
// one after the other, so a value may bring in a later placeholder.
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

// Environment returns the whole environment of a target: nothing is inherited.
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

// Executable is what argv[0] of a command stands for.
type Executable struct {
	Path string // what is executed: argv[0], or the place where a bare name was found
	Real string // the file that this is, with links resolved
}

// reasons why an executable is refused, in the words of existing tools.
const (
	reasonRelative   = "must be an absolute path"
	reasonUnresolved = "must resolve to an allowlisted executable"
	reasonNoFile     = "must resolve to a file"
	ReasonNoExec     = "must be executable"
	reasonNotAllowed = "executable not allowlisted"
	reasonWritable   = "must not be group/world-writable"
)

// ResolveExecutable finds the program that argv0 names and checks that it may
// be run. allow lists absolute paths that may be run wherever they are. The
// reason is empty if the program is accepted.
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

// lookPath finds a bare name on the fixed search path; the user's PATH plays no
// part in a campaign that is to run the same everywhere.
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
