package fresnelfir

import (
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/examples/wasmemit"
)

// What actions change of acting instances begins as the module has it: with the
// default, or else the simplest value. What nothing changes is drawn.
func TestWhatActorsBeginWith(t *testing.T) {
	user := func(field string) string {
		return `"classification": "derived", "params": [{"name": "u", "type": "User"}], "body": ["field", "u", "` + field + `"]`
	}
	asked := func(export string) string {
		return `"classification": "observer", "params": [{"name": "u", "type": "User"}], "binding": "` + export + `"`
	}
	does := func(id, guard string) string {
		return `{"id": "` + id + `", "weight": 1, "guard": ` + guard + `, "body": {"type": "call", "action": "` + id + `"}}`
	}
	sets := func(field, value string) string {
		return `{"sets": [{"target": ["actor", "` + field + `"], "value": ` + value + `}]}`
	}
	claims := `"mutates": true, "idempotent": false, "reads": [], "writes": ["User"]`
	text := document(map[string]string{
		"entities": `{"User": {"fields": {"id": {"type": "string"}, "role": {"type": "enum", "values": ["member", "guest"]},
  "credit": {"type": "int", "min": -3, "max": 3}, "plan": {"type": "enum", "values": ["free", "trial", "paid"], "default": "paid"}}}}`,
		"functions": `{"credit": {` + user("credit") + `, "returns": "int"}, "plan": {` + user("plan") + `, "returns": "User.plan"},
  "o_credit": {` + asked("credit") + `, "returns": "int"}, "o_plan": {` + asked("plan") + `, "returns": "User.plan"}}`,
		"protocols": `{"use": {"root": {"type": "repeat", "min": 0, "max": 5, "body": {"type": "alt", "branches": [
  ` + does("earn", `["and", ["eq", ["field", "actor", "role"], "member"], ["lt", ["field", "actor", "credit"], 3]]`) + `,
  ` + does("spend", `["gt", ["field", "actor", "credit"], -3]`) + `, ` + does("leave", `["eq", ["field", "actor", "plan"], "paid"]`) + `]}}}}`,
		"effects": `{"earn": ` + sets("credit", `["add", ["field", "actor", "credit"], 1]`) + `, "spend": ` + sets("credit", `["sub", ["field", "actor", "credit"], 1]`) + `,
  "leave": ` + sets("plan", `"free"`) + `}`,
		"bindings": `{"earn": ` + binding("earn", `"actor_id"`, "void", claims) + `, "spend": ` + binding("spend", `"actor_id"`, "void", claims) + `,
  "leave": ` + binding("leave", `"actor_id"`, "void", claims) + `}`,
	})
	for name, c := range map[string]struct {
		left  int64 // the plan of who left
		want  string
		steps string
	}{"sound": {}, "faulty": {1, "o_plan differs from the model after leave", "leave"}} {
		m := wasmemit.New()
		m.Memory(1, 1)
		i := wasmemit.I32
		change := func(name string, by int64) {
			f := m.Func(name, wasmemit.Params(i), nil)
			at(f)
			at(f).Memory(wasmemit.I32Load, 0).I32(int32(by)).Op(wasmemit.I32Add).Memory(wasmemit.I32Store, 0)
		}
		change("earn", 1)
		change("spend", -1)
		at(m.Func("leave", wasmemit.Params(i), nil)).I32(int32(2-c.left)).Memory(wasmemit.I32Store, 4)
		at(m.Func("credit", wasmemit.Params(i), wasmemit.Results(i))).Memory(wasmemit.I32Load, 0)
		at(m.Func("plan", wasmemit.Params(i), wasmemit.Results(i)).I32(2)).Memory(wasmemit.I32Load, 4).Op(wasmemit.I32Sub)
		camp := withModuleNamed(t, engine(t), "m.json", text, m.Bytes())
		camp.budget = 500
		s, failing := explore(t, camp, "")
		if hit, total := s.progress(camp.plan); name == "sound" && hit < total {
			t.Errorf("%d of %d reached", hit, total)
		}
		at, found := failing[c.want]
		if len(failing) > 0 != (c.want != "") || c.want != "" && !found {
			t.Errorf("%s: found %v", name, failing)
			continue
		}
		if found {
			if steps, _ := smallest(t, camp, at, c.want); !slices.Equal(steps, strings.Fields(c.steps)) {
				t.Errorf("%s: made small: %v", name, steps)
			}
		}
	}
}
