package embed

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/similarity"
)

const (
	// requestLimit is the time limit of a request.
	requestLimit = 60 * time.Second
	// maxAnswer is how many bytes of an answer are read.
	maxAnswer = 16 << 20
)

// endpoint is an embeddings server.
type endpoint struct {
	url, model, key string
	client          *http.Client
}

// openEndpoint determines the interface from the URL: with /api/embed or ending in /api it is
// Ollama's own, otherwise OpenAI's.
func openEndpoint(ctx context.Context, base, model, key string) (similarity.Measure, error) {
	if base == "" {
		return nil, diag.WithHint(diag.Environment("compare texts by an embeddings endpoint: it has no URL"), "set its base URL, such as http://localhost:11434/v1")
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return nil, diag.Environment("compare texts by an embeddings endpoint: %q is not a URL", base)
	}
	model = cmp.Or(model, "all-minilm")
	switch path := strings.TrimSuffix(u.Path, "/"); {
	case strings.HasSuffix(path, "/embeddings"), strings.HasSuffix(path, "/api/embed"):
		u.Path = path
	case strings.HasSuffix(path, "/api"):
		u.Path = path + "/embed"
	default:
		u.Path = path + "/embeddings"
	}
	e := &endpoint{u.String(), model, key, &http.Client{}}
	m := &measure{name: "embeddings " + model + " at " + u.Host, encoder: e}
	if _, err := m.Score(ctx, "a", "b"); err != nil {
		return nil, diag.Environment("compare texts by the embeddings endpoint %s: %w", base, err)
	}
	return m, nil
}

func (e *endpoint) encode(ctx context.Context, texts []string) ([][]float64, error) {
	body, err := json.Marshal(struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}{e.model, texts})
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	limited, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	q, err := http.NewRequestWithContext(limited, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	q.Header.Set("Content-Type", "application/json")
	if e.key != "" {
		q.Header.Set("Authorization", "Bearer "+e.key)
	}
	answer, err := e.client.Do(q)
	if err != nil {
		if ctx.Err() == nil && limited.Err() != nil {
			err = fmt.Errorf("no answer within %s", requestLimit)
		}
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	if answer.StatusCode/100 != 2 {
		return nil, fmt.Errorf("status %d: %s", answer.StatusCode, strings.TrimSpace(strings.ToValidUTF8(string(text[:min(len(text), 300)]), "�")))
	}
	return parse(text, len(texts))
}

// parse reads an answer of either interface.
func parse(text []byte, want int) ([][]float64, error) {
	var answer struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float64 `json:"embedding"`
		} `json:"data"`
		Embeddings [][]float64 `json:"embeddings"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, fmt.Errorf("the answer is not a list of embeddings: %w", err)
	}
	list := answer.Embeddings
	if len(answer.Data) > 0 {
		list = make([][]float64, want)
		for _, d := range answer.Data {
			if d.Index < 0 || d.Index >= want || list[d.Index] != nil {
				return nil, errors.New("the answer's embeddings are not those of the texts")
			}
			list[d.Index] = d.Embedding
		}
	}
	if len(list) != want {
		return nil, fmt.Errorf("the answer has %d embeddings for %d texts", len(list), want)
	}
	return list, nil
}
