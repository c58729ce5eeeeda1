package spectest

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/port/pyhost"
	"github.com/thresh-dev/thresh/system/python"
)

// The documents of a run go on with one Python host, and none sees what the
// cases of another have left behind.
func TestPythonHostIsShared(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not here")
	}
	t.Chdir(t.TempDir())
	write(t, "tool.py", []byte("import os, builtins\ndef main(argv):\n    print(getattr(builtins, 'left', 'clean'), os.environ.get('LEFT', 'clean'))\n    builtins.left = os.environ['LEFT'] = 'dirty'\n    return 0\n"))
	opened := 0
	k := New(Targets{Python: func(ctx context.Context, path string) (pyhost.Commander, error) {
		opened++
		return python.OpenCommander(ctx, path)
	}})
	ctx, cache := t.Context(), &campaign.Cache{}
	for _, name := range []string{"a.spec.md", "b.spec.md", "c.spec.md"} {
		doc := blockDocument("id: A\ntype: cli.run\nharness: {entrypoint: tool:main}\nassert: [{target: stdout, must: [{contain: [clean clean]}]}]\n")
		camps, list := k.Compile(ctx, campaign.Spec{Path: name, Data: []byte(doc)}, campaign.Settings{Options: map[string][]string{}})
		if list.HasErrors() {
			t.Fatal(list)
		}
		s := camps[0].Open(cache)
		x, err := s.Executor(ctx, campaign.Lane{Of: 1})
		if err != nil {
			t.Fatal(err)
		}
		o, err := x.Execute(ctx, &state{}, campaign.Case{})
		if err != nil && strings.Contains(err.Error(), "python3") {
			t.Skip(err)
		}
		if err != nil || o.Verdict != campaign.VerdictPass {
			t.Errorf("%s: %v %+v", name, err, o)
		}
		if err := errors.Join(x.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	}
	if opened != 1 {
		t.Errorf("%d hosts were started for three documents", opened)
	}
	if err := cache.Close(); err != nil {
		t.Error(err)
	}
}
