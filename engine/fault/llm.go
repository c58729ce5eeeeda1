package fault

import (
	"net/url"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// Shape is the format of a provider's requests and answers.
type Shape string

// The shapes. Servers that copy one of them (llama.cpp, vLLM, Azure, LM Studio) are
// recognized like the original.
const (
	OpenAIChat        Shape = "openai chat"
	OpenAIResponses   Shape = "openai responses"
	OpenAICompletions Shape = "openai completions"
	AnthropicMessages Shape = "anthropic messages"
	OllamaChat        Shape = "ollama chat"
	OllamaGenerate    Shape = "ollama generate"
)

// shapes identifies shapes by the end of the path and by a key that the body must
// have. The order matters: longer ends come first.
var shapes = []struct {
	end, key string
	shape    Shape
}{
	{"/chat/completions", "messages", OpenAIChat},
	{"/completions", "prompt", OpenAICompletions},
	{"/responses", "input", OpenAIResponses},
	{"/messages", "messages", AnthropicMessages},
	{"/api/chat", "messages", OllamaChat},
	{"/api/generate", "prompt", OllamaGenerate},
}

// otherEnds are ends of paths at LLM servers that return no text.
var otherEnds = []string{
	"/models", "/embeddings", "/moderations", "/count_tokens", "/tokenize", "/detokenize",
	"/api/tags", "/api/show", "/api/embed", "/api/ps", "/api/version", "/api/pull",
}

// Request is a request for text to an LLM.
type Request struct {
	Shape  Shape
	Model  string
	Stream bool
	body   []byte
	root   *jsontree.Node
}

// Recognize returns the request for text in an HTTP request, or nil.
func Recognize(method, path string, body []byte) *Request {
	if method != "POST" {
		return nil
	}
	path = strings.TrimSuffix(path, "/")
	for _, s := range shapes {
		if !strings.HasSuffix(path, s.end) {
			continue
		}
		d, err := jsontree.Parse(body, lenient)
		if err != nil || d.Root.Get(s.key) == nil {
			return nil
		}
		r := &Request{Shape: s.shape, body: body, root: &d.Root}
		r.Model, _ = d.Root.Get("model").Str()
		stream := d.Root.Get("stream")
		r.Stream = stream != nil && stream.Bool || stream == nil && (s.shape == OllamaChat || s.shape == OllamaGenerate)
		return r
	}
	return nil
}

// lenient reads what Python's clients send, except what is nested so deeply that it
// must be an attack.
var lenient = jsontree.Options{NonFinite: true, LoneSurrogates: true, MaxDepth: 1000}

// MayAskModel reports whether, by the path alone, [Recognize] should see the body.
func MayAskModel(method, path string) bool {
	path = strings.TrimSuffix(path, "/")
	for _, s := range shapes {
		if method == "POST" && strings.HasSuffix(path, s.end) {
			return true
		}
	}
	return false
}

// ModelSide reports whether a path belongs to an LLM server but returns no text:
// lists of models, embeddings and such. Faults of tools ignore it.
func ModelSide(path string) bool {
	path = strings.TrimSuffix(path, "/")
	return slices.ContainsFunc(otherEnds, func(e string) bool { return strings.HasSuffix(path, e) })
}

// Provider returns the shape's provider: "openai", "anthropic" or "ollama".
func (s Shape) Provider() string {
	p, _, _ := strings.Cut(string(s), " ")
	return p
}

// Names returns what a rule may call the LLM: its provider, its model, its host.
func (r *Request) Names(u *url.URL) []string {
	names := []string{r.Shape.Provider()}
	if r.Model != "" {
		names = append(names, r.Model)
	}
	return append(names, strings.ToLower(u.Host), strings.ToLower(u.Hostname()))
}

// splice is a part of a text to replace.
type splice struct {
	from, to int
	text     []byte
}

// spliced returns a text with parts replaced; the parts are in order and do not
// overlap.
func spliced(text []byte, parts []splice) []byte {
	if len(parts) == 0 {
		return text
	}
	var out []byte
	at := 0
	for _, p := range parts {
		out = append(append(out, text[at:p.from]...), p.text...)
		at = p.to
	}
	return append(out, text[at:]...)
}

// replaced replaces a value by another string.
func replaced(n *jsontree.Node, text string) splice {
	return splice{n.Offset, n.End, quoted(text)}
}

func quoted(s string) []byte {
	return jsontree.Style{}.Append(nil, &jsontree.Node{Kind: jsontree.String, Text: s})
}
