package agent

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/system/python"
)

// equip makes the agent's process run in a Python environment with its packages.
func (a *Agents) equip(ctx context.Context, p *agentcall.Plan) error {
	setting := ""
	if p.Python != nil {
		setting = p.Python.Plan.Python
	}
	dir, err := python.Environment(ctx, setting, p.Packages.File, p.Packages.Text, a.note)
	if err != nil {
		return err
	}
	bin := filepath.Join(dir, "bin")
	*p = p.Process(func(argv, env []string) ([]string, []string) {
		env = append(slices.Clone(env), "VIRTUAL_ENV="+dir, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		if len(argv) > 0 && filepath.Base(argv[0]) == argv[0] && exists(filepath.Join(bin, argv[0])) {
			argv = append([]string{filepath.Join(bin, argv[0])}, argv[1:]...)
		}
		return argv, env
	})
	if p.Python != nil {
		x := *p.Python
		x.Plan.Python = filepath.Join(bin, "python")
		p.Python = &x
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
