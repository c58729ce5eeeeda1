package fresnelfir

import (
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/engine/wasmemit"
	"github.com/thresh-dev/thresh/examples/fresnelfir/bank"
	"github.com/thresh-dev/thresh/examples/fresnelfir/queue"
)

// bare is an example of which the model says nothing that observers answer: only
// the claims of the bindings are left.
func bare(t testing.TB, name string) string {
	t.Helper()
	var b strings.Builder
	for line := range strings.Lines(readExample(t, name)) {
		if !strings.Contains(line, `"classification": "derived"`) && !strings.Contains(line, `"models":`) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// What bindings claim is held against modules of which the model knows nothing else.
func TestClaims(t *testing.T) {
	g := engine(t)
	for _, c := range []struct {
		name   string
		file   string
		module []byte
		title  string
		want   string
	}{
		{"an action that mutates nothing changes what observers see", "queue.json", queue.Module(queue.PeekRemoves),
			"peek changes what observers see, though it mutates nothing", "open push peek"},
		{"an idempotent action changes more when called twice", "bank.json", bank.Module(bank.FreezeToggles),
			"freeze changes what observers see, though it is idempotent and was called twice", "open open_other freeze"},
		{"an answer changes by itself", "bank.json", bank.Module(bank.AuditCounts),
			"audit answers otherwise though nothing that it reads was written", "open open_other audit audit"},
		{"a sound module", "bank.json", bank.Module(bank.None), "", ""},
	} {
		camp := withModuleNamed(t, g, c.file, bare(t, c.file), c.module)
		camp.budget = 1000
		_, failing := explore(t, camp, "")
		if c.title == "" {
			if len(failing) > 0 {
				t.Errorf("%s: %v", c.name, failing)
			}
			continue
		}
		at, found := failing[c.title]
		if !found {
			t.Errorf("%s: not found; found %v", c.name, failing)
			continue
		}
		if steps, _ := smallest(t, camp, at, c.title); !slices.Equal(steps, strings.Fields(c.want)) {
			t.Errorf("%s: made small: %v, want %s", c.name, steps, c.want)
		}
	}
}

// An observer that counts its calls is told as such, not as the fault of the
// action before.
func TestObserverThatChangesItself(t *testing.T) {
	m := wasmemit.New()
	asked := m.Global(wasmemit.I32, true, 0)
	one, two := wasmemit.Params(wasmemit.I32), wasmemit.Params(wasmemit.I32, wasmemit.I32)
	m.Func("queue_open", nil, one).I32(1)
	m.Func("queue_push", two, one).I32(0)
	for _, name := range []string{"queue_pop", "queue_peek", "queue_back"} {
		m.Func(name, one, one).I32(1)
	}
	m.Func("queue_size", one, one).GlobalGet(asked).I32(1).Op(wasmemit.I32Add).GlobalSet(asked).GlobalGet(asked)
	c := withModuleNamed(t, engine(t), "queue.json", bare(t, "queue.json"), m.Bytes())
	c.budget = 500
	_, failing := explore(t, c, "")
	for title := range failing {
		if strings.HasPrefix(title, "peek changes") {
			t.Error(title)
		}
	}
	if _, found := failing["an observer answers otherwise when it is asked again"]; !found {
		t.Errorf("not found; found %v", failing)
	}
}
