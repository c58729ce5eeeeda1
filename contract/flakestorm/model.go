package flakestorm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/agentcall"
)

// endpoint says how to call a model behind an OpenAI-compatible server.
func (c *Campaign) endpoint(e *config.Endpoint) (agentcall.Plan, error) {
	key, name, ok := config.Key(e.APIKey, c.getenv)
	if !ok {
		return agentcall.Plan{}, diag.WithHint(diag.Environment("the variable %s is not set", name), "export "+name)
	}
	zero := 0.0
	chat := &agentcall.Chat{URL: e.BaseURL, Model: e.Name, Temperature: &zero, Retries: 2}
	if key != "" {
		chat.Headers = [][2]string{{"Authorization", "Bearer " + key}}
	}
	return agentcall.Plan{Chat: chat}, nil
}

// writer says how to call the model of the section model.
func (c *Campaign) writer() (agentcall.Plan, error) {
	m := &c.cfg.Model
	key, name, ok := config.Key(m.APIKey, c.getenv)
	switch {
	case !ok:
		return agentcall.Plan{}, diag.WithHint(diag.Environment("model.api_key: the variable %s is not set", name), "export "+name)
	case key == "" && m.Provider != "ollama" && m.BaseURL == "":
		return agentcall.Plan{}, diag.WithHint(diag.Environment("model.api_key: provider %s needs a key", m.Provider), "api_key: ${NAME} names the variable that holds it")
	}
	temperature := m.Temperature
	if c.cfg.Advanced.Seed != nil {
		temperature = 0
	}
	model, _ := json.Marshal(m.Name) // a string cannot fail
	base := strings.TrimRight(m.BaseURL, "/")
	http := func(url, template, path string, headers ...[2]string) agentcall.Plan {
		return agentcall.Plan{HTTP: &agentcall.HTTP{URL: url, Method: "POST", Template: template, ResponsePath: path, Headers: headers, Retries: 2}}
	}
	switch m.Provider {
	case "ollama":
		return http(base+"/api/generate", fmt.Sprintf(`{"model":%s,"prompt":"{prompt}","stream":false,"options":{"temperature":%g,"num_predict":%d}}`, model, temperature, maxTokens), "response"), nil
	case "anthropic":
		base = cmp.Or(base, "https://api.anthropic.com")
		return http(base+"/v1/messages", fmt.Sprintf(`{"model":%s,"max_tokens":%d,"temperature":%g,"messages":[{"role":"user","content":"{prompt}"}]}`, model, maxTokens, min(temperature, 1)), "content[0].text",
			[2]string{"x-api-key", key}, [2]string{"anthropic-version", "2023-06-01"}), nil
	case "google":
		base = cmp.Or(base, "https://generativelanguage.googleapis.com")
		return http(base+"/v1beta/models/"+m.Name+":generateContent",
			fmt.Sprintf(`{"contents":[{"parts":[{"text":"{prompt}"}]}],"generationConfig":{"temperature":%g,"maxOutputTokens":%d}}`, temperature, maxTokens), "candidates[0].content.parts[0].text",
			[2]string{"x-goog-api-key", key}), nil
	}
	base = cmp.Or(base, "https://api.openai.com/v1")
	chat := &agentcall.Chat{URL: base, Model: m.Name, Temperature: &temperature, MaxTokens: maxTokens, Retries: 2}
	if key != "" {
		chat.Headers = [][2]string{{"Authorization", "Bearer " + key}}
	}
	return agentcall.Plan{Chat: chat}, nil
}

const (
	maxTokens    = 1024
	writeTimeout = 2 * time.Minute
)

// CheckModel asks the model that writes mutations for one word.
func (c *Campaign) CheckModel(ctx context.Context) error {
	return c.withWriter(ctx, func(a agentcall.Agent) error {
		r, err := a.Call(ctx, agentcall.Call{Prompt: "Answer with the word: ready", Timeout: writeTimeout})
		if err == nil && !r.OK() {
			err = errors.New(r.Error)
		}
		return err
	})
}

// NeedsModel reports whether an LLM writes the mutations.
func (c *Campaign) NeedsModel() bool { return c.written != nil }

func (c *Campaign) withWriter(ctx context.Context, use func(agentcall.Agent) error) error {
	plan, err := c.writer()
	if err != nil {
		return err
	}
	a, err := c.targets.Agents(ctx, plan, 0, nil)
	if err != nil {
		return diag.Environment("reaching the model %s of %s: %w", c.cfg.Model.Name, c.cfg.Model.Provider, err)
	}
	err = use(a)
	if cerr := a.Close(); err == nil {
		err = cerr
	}
	return err
}
