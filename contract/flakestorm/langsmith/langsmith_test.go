package langsmith

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Runs are fetched with the tools below them, page after page.
func TestLangSmithRuns(t *testing.T) {
	root := `{"id":"r1","trace_id":"r1","name":"agent","run_type":"chain","inputs":{"input":"Where is it?"},"error":"boom"}`
	tool := `{"id":"t1","parent_run_id":"r1","trace_id":"r1","name":"search","run_type":"tool","outputs":{"output":"found"}}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Key") != "sesame" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		var q struct {
			Cursor string
			Trace  string
			Error  *bool
		}
		switch r.URL.Path {
		case "/api/v1/runs/r1":
			_, _ = w.Write([]byte(root))
		case "/api/v1/sessions":
			_, _ = w.Write([]byte(`[{"id":"p1"}]`))
		case "/api/v1/runs/query":
			if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
				t.Error(err)
			}
			switch {
			case q.Trace == "" && q.Error != nil && *q.Error:
				_, _ = w.Write([]byte(`{"runs":[` + root + `],"cursors":{}}`))
			case q.Trace == "r1" && q.Cursor == "":
				_, _ = w.Write([]byte(`{"runs":[` + tool + `],"cursors":{"next":"2"}}`))
			default:
				_, _ = w.Write([]byte(`{"runs":[],"cursors":{}}`))
			}
		default:
			http.NotFound(w, r)
		}
	}))
	defer s.Close()
	env := func(name string) string {
		return map[string]string{"LANGSMITH_API_KEY": "sesame", "LANGSMITH_ENDPOINT": s.URL}[name]
	}
	for _, l := range []Wanted{{Run: "r1"}, {Project: "support", Status: "error", Limit: 200}} {
		list, err := l.Fetch(t.Context(), env)
		if err != nil || len(list) != 1 || list[0].Input != "Where is it?" || list[0].Expected != "boom" || len(list[0].Tools) != 1 || list[0].Tools[0].Body != "found" {
			t.Errorf("%+v: %+v %v", l, list, err)
		}
	}
	if _, err := (&Wanted{Run: "r1"}).Fetch(t.Context(), func(string) string { return "" }); err == nil || !strings.Contains(err.Error(), "LANGSMITH_API_KEY") {
		t.Errorf("without a key: %v", err)
	}
	if _, err := (&Wanted{Project: "p", Status: "warning", Limit: 1}).Fetch(t.Context(), env); err == nil {
		t.Error("an unknown status is taken")
	}
}
