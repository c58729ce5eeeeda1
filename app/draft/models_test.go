package draft

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// testdata/models holds what was seen of systems: recordings, modules and an
// OpenAPI service. Beside it stands the model that is drafted from it, and the one
// that is left if calls contradict its claims.
func TestDraftModels(t *testing.T) {
	files, err := filepath.Glob("testdata/models/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no facts: ", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var f ModelFacts
			d := json.NewDecoder(bytes.NewReader(text))
			d.UseNumber()
			if err := d.Decode(&f); err != nil {
				t.Fatal(err)
			}
			for _, list := range f.Sequences {
				for i := range list {
					s := &list[i]
					s.Value = whole(s.Value)
					for k, v := range s.Args {
						s.Args[k] = whole(v)
					}
					for _, state := range []State{s.Before, s.After} {
						for k, v := range state {
							state[k] = whole(v)
						}
					}
				}
			}
			checkDraft(t, "models/"+name+".txt", DraftModel(&f))
			f.Drop = map[Claim]string{}
			for i, name := range Named(f.Ops) {
				f.Drop[Claim{name, []string{"effect", "requires", "answer", ""}[i%4]}] = "contradicted"
			}
			checkDraft(t, "models/"+name+"-dropped.txt", DraftModel(&f))
		})
	}
}

// whole is a value of a call, whose numbers are integers.
func whole(v any) any {
	if n, ok := v.(json.Number); ok {
		i, err := n.Int64()
		if err != nil {
			panic(err)
		}
		return i
	}
	return v
}
