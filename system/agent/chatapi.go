package agent

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/engine/agentcall"
)

// The version of Anthropic's API, and the token limit for answers, which it requires.
const (
	anthropicVersion   = "2023-06-01"
	anthropicMaxTokens = 1024
)

// endOf returns the URL with the path appended unless it already ends in it.
func endOf(at, path string) string {
	u, err := url.Parse(at)
	if err != nil || strings.HasSuffix(u.Path, path) {
		return at
	}
	u.Path = strings.TrimSuffix(u.Path, "/") + path
	return u.String()
}

// otherChat returns the dialect of a chat API other than chat completions.
func otherChat(p *agentcall.Chat) (dialect, bool) {
	var at, answer string
	fixed := p.Headers
	var body func(messages []agentcall.Message) any
	switch p.API {
	case "responses":
		at, answer = endOf(p.URL, "/responses"), "$.output[-1].content[0].text"
		body = func(m []agentcall.Message) any {
			return struct {
				Model        string              `json:"model"`
				Input        []agentcall.Message `json:"input"`
				Instructions string              `json:"instructions,omitempty"`
				Temperature  *float64            `json:"temperature,omitempty"`
				MaxTokens    int                 `json:"max_output_tokens,omitempty"`
				Stream       bool                `json:"stream,omitempty"`
			}{p.Model, m, p.System, p.Temperature, p.MaxTokens, p.Stream}
		}
	case "anthropic":
		at, answer = endOf(p.URL, "/messages"), "$.content[0].text"
		fixed = append([][2]string{{"Anthropic-Version", anthropicVersion}}, p.Headers...)
		for _, h := range p.Headers {
			if strings.EqualFold(h[0], "Anthropic-Version") {
				fixed = p.Headers
			}
		}
		most := p.MaxTokens
		if most <= 0 {
			most = anthropicMaxTokens
		}
		body = func(m []agentcall.Message) any {
			m = slices.DeleteFunc(m, func(m agentcall.Message) bool { return m.Role == "assistant" && m.Text == "" }) // the API refuses it
			return struct {
				Model       string              `json:"model"`
				MaxTokens   int                 `json:"max_tokens"`
				System      string              `json:"system,omitempty"`
				Messages    []agentcall.Message `json:"messages"`
				Temperature *float64            `json:"temperature,omitempty"`
				Stream      bool                `json:"stream,omitempty"`
			}{p.Model, most, p.System, m, p.Temperature, p.Stream}
		}
	case "ollama":
		at, answer = endOf(p.URL, "/api/chat"), "$.message.content"
		body = func(m []agentcall.Message) any {
			if p.System != "" {
				m = append([]agentcall.Message{{Role: "system", Text: p.System}}, m...)
			}
			options := map[string]any{}
			if p.Temperature != nil {
				options["temperature"] = *p.Temperature
			}
			if p.MaxTokens > 0 {
				options["num_predict"] = p.MaxTokens
			}
			return struct {
				Model    string              `json:"model"`
				Messages []agentcall.Message `json:"messages"`
				Options  map[string]any      `json:"options,omitempty"`
				Stream   bool                `json:"stream"`
			}{p.Model, m, options, p.Stream}
		}
	default:
		return dialect{}, false
	}
	build := func(c *agentcall.Call, session string) (request, error) {
		text, err := json.Marshal(body(append(append([]agentcall.Message(nil), c.History...), agentcall.Message{Role: "user", Text: c.Prompt})))
		if err != nil {
			return request{}, fmt.Errorf("write the request: %w", err)
		}
		q := request{method: http.MethodPost, url: at}
		q.setHeaders(fixed, c.Headers, session)
		q.send(text, "application/json")
		return q, nil
	}
	path, err := agentcall.ParsePath(answer)
	if err != nil {
		panic(err) // the paths above are valid
	}
	return dialect{retries: p.Retries, build: build, read: reader{answer: path}}, true
}

// chat is the state of one OpenAI-compatible endpoint. Newer models accept no temperature and
// another name for the token limit; once a model refuses a parameter, it is changed or left out.
type chat struct {
	agentcall.Chat
	completion bool // the token limit is called max_completion_tokens
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

// chatDialect returns the dialect of a chat API; OpenAI-compatible chat completions are the
// default.
func chatDialect(p *agentcall.Chat) dialect {
	if d, ok := otherChat(p); ok {
		return d
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
	return dialect{retries: p.Retries, build: build, read: reader{chat: true}, chat: k}
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
