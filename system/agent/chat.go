package agent

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/thresh-dev/thresh/engine/agentcall"
)

// chat is how one OpenAI-compatible endpoint is asked. Newer models take no
// temperature, and their limit of tokens by another name: what one refuses is
// left out from then on.
type chat struct {
	agentcall.Chat
	completion bool // the limit goes by max_completion_tokens
	notes      []string
}

// retryDifferently reports whether a refused request can be sent again in another form.
func (c *chat) retryDifferently(r *agentcall.Reply) bool {
	if c == nil || r.End != agentcall.Refused || r.Status != http.StatusBadRequest {
		return false
	}
	switch {
	case c.MaxTokens > 0 && !c.completion && strings.Contains(r.Error, "max_completion_tokens"):
		c.completion = true
	case c.Temperature != nil && strings.Contains(r.Error, "temperature"):
		c.Temperature = nil
		c.notes = append(c.notes, "model "+c.Model+" takes no temperature, and was asked without")
	default:
		return false
	}
	return true
}

// chatDialect is how OpenAI-compatible endpoints are asked.
func chatDialect(p *agentcall.Chat) (dialect, error) {
	if d, ok := otherChat(p); ok {
		return d, nil
	}
	at := endOf(p.URL, "/chat/completions")
	k := &chat{Chat: *p}
	build := func(c *agentcall.Call, session string) (request, error) {
		var messages []agentcall.Message
		if k.System != "" {
			messages = append(messages, agentcall.Message{Role: "system", Text: k.System})
		}
		messages = append(append(messages, c.History...), agentcall.Message{Role: "user", Text: c.Prompt})
		r := chatRequest{Model: k.Model, Messages: messages, Temperature: k.Temperature, MaxTokens: k.MaxTokens, Format: c.Format, Stream: k.Stream}
		if k.completion {
			r.MaxTokens, r.MaxCompletion = 0, k.MaxTokens
		}
		body, err := json.Marshal(r)
		if err != nil {
			return request{}, fmt.Errorf("write the request: %w", err)
		}
		q := request{method: http.MethodPost, url: at}
		q.setHeaders(k.Headers, c.Headers, session)
		q.send(body, "application/json")
		return q, nil
	}
	return dialect{retries: p.Retries, build: build, read: reader{chat: true}, chat: k}, nil
}

type chatRequest struct {
	Model         string              `json:"model"`
	Messages      []agentcall.Message `json:"messages"`
	Temperature   *float64            `json:"temperature,omitempty"`
	MaxTokens     int                 `json:"max_tokens,omitempty"`
	MaxCompletion int                 `json:"max_completion_tokens,omitempty"`
	Format        json.RawMessage     `json:"response_format,omitempty"`
	Stream        bool                `json:"stream,omitempty"`
}
