package embed

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/similarity"
)

// The kinds of measures. Auto is the first available of an endpoint, if a URL is given;
// sentence-transformers, if Python can import and load it; and the lexical measure.
const (
	Auto       = "auto"
	Lexical    = "lexical"
	Endpoint   = "embeddings"
	Transforms = "sentence-transformers"
)

// Open opens a measure. It calls an endpoint once, so that an endpoint that is down or does not
// know the model is an error here. Measures that hold a process implement io.Closer.
func Open(ctx context.Context, kind, url, model, key, python string) (similarity.Measure, error) {
	switch kind {
	case Lexical:
		return similarity.Lexical{}, nil
	case Endpoint:
		return openEndpoint(ctx, url, model, key)
	case Transforms:
		return openSentences(ctx, python, model)
	case Auto, "":
		if url != "" {
			return openEndpoint(ctx, url, model, key)
		}
		m, err := openSentences(ctx, python, model)
		if err == nil {
			return m, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return similarity.Lexical{}, nil
	}
	return nil, diag.Environment("there is no measure %q of similarity; %s, %s, %s and %s are", kind, Auto, Lexical, Endpoint, Transforms)
}

// vectors caches the embeddings of recent texts: one baseline is compared with many replies.
type vectors struct {
	mu    sync.Mutex
	known map[string][]float64
	order []string
}

const rememberedTexts = 256

func (v *vectors) get(text string) ([]float64, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	e, ok := v.known[text]
	return e, ok
}

func (v *vectors) put(text string, e []float64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.known == nil {
		v.known = make(map[string][]float64)
	}
	if _, ok := v.known[text]; !ok {
		v.order = append(v.order, text)
	}
	v.known[text] = e
	if len(v.order) > rememberedTexts {
		delete(v.known, v.order[0])
		v.order = v.order[1:]
	}
}

// encoder returns vectors for texts.
type encoder interface {
	encode(ctx context.Context, texts []string) ([][]float64, error)
}

// measure compares texts with an encoder.
type measure struct {
	name string
	encoder
	vectors vectors
}

// Name implements similarity.Measure.
func (m *measure) Name() string { return m.name }

// Translate implements similarity.Measure. Thresholds are written for encoders, so it returns t.
func (m *measure) Translate(t float64) float64 { return t }

// Score implements similarity.Measure. It returns the cosine of the texts' vectors.
func (m *measure) Score(ctx context.Context, a, b string) (float64, error) {
	var wanted []string
	found := make(map[string][]float64, 2)
	for _, text := range []string{a, b} {
		if _, asked := found[text]; asked {
			continue
		}
		e, ok := m.vectors.get(text)
		if found[text] = e; !ok {
			wanted = append(wanted, text)
		}
	}
	if len(wanted) > 0 {
		list, err := m.encode(ctx, wanted)
		if err != nil {
			return 0, err
		}
		for i, text := range wanted {
			m.vectors.put(text, list[i])
			found[text] = list[i]
		}
	}
	return cosine(found[a], found[b])
}

func cosine(a, b []float64) (float64, error) {
	if len(a) != len(b) || len(a) == 0 {
		return 0, fmt.Errorf("the encoder gave vectors of %d and %d numbers", len(a), len(b))
	}
	var dot, aa, bb float64
	for i := range a {
		dot += a[i] * b[i]
		aa += a[i] * a[i]
		bb += b[i] * b[i]
	}
	c := dot / math.Sqrt(aa*bb)
	if math.IsNaN(c) || math.IsInf(c, 0) {
		return 0, fmt.Errorf("the encoder gave vectors without a direction")
	}
	return max(-1, min(c, 1)), nil
}
