package mcp

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/report"
)

// Addresses of what clients read before they write a document. They end in the format's name.
const (
	schemasURI  = "thresh://schemas/"
	examplesURI = "thresh://examples/"
	startersURI = "thresh://starters/"
)

// addFormats lists what the contracts publish about their documents.
func (s *Server) addFormats() {
	add := func(uri, title, mime, about string, read func() ([]byte, error)) {
		s.mcp.AddResource(&sdk.Resource{URI: uri, Name: title, Title: title, MIMEType: mime, Description: about},
			func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
				text, err := read()
				if err != nil {
					return nil, err
				}
				return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: mime, Text: string(text)}}}, nil
			})
	}
	for _, c := range s.cfg.Contracts {
		if k, ok := c.(campaign.Formatted); ok {
			for _, f := range k.Formats() {
				if f.Schema != nil {
					add(schemasURI+f.Name, "schema of "+f.Name, "application/schema+json", "The JSON Schema of "+f.Summary+".", func() ([]byte, error) { return f.Schema(), nil })
				}
				if f.Example != nil {
					add(examplesURI+f.Name, "example of "+f.Name, "text/plain", "Every word of the language, by example: "+f.Example().Name+".", func() ([]byte, error) { return f.Example().Data, nil })
				}
			}
		}
		add(startersURI+c.Name(), "starter of "+c.Name(), "application/json", "Files that run as they are: "+c.Summary()+".", func() ([]byte, error) { return starter(c) })
	}
}

// starterFile is a file of a starter; binary content is in base64.
type starterFile struct {
	Name   string `json:"name"`
	Text   string `json:"text,omitempty"`
	Base64 string `json:"base64,omitempty"`
}

func starter(c campaign.Contract) ([]byte, error) {
	var list []starterFile
	for _, f := range c.Starter("/") {
		x := starterFile{Name: f.Name}
		if utf8.Valid(f.Data) && !bytes.ContainsRune(f.Data, 0) {
			x.Text = string(f.Data)
		} else {
			x.Base64 = base64.StdEncoding.EncodeToString(f.Data)
		}
		list = append(list, x)
	}
	text, err := json.Marshal(list)
	if err != nil {
		return nil, fmt.Errorf("encoding the starter: %w", err)
	}
	return text, nil
}

const explainFinding = `Explain this finding to the people who own the system. Say what the system did, what it should have done, and which step
shows the difference. Name the most likely cause and where to look for it. If the document is wrong rather than the system, say so.
Do not propose a change before the finding has been reproduced with the command that it names.

%s`

// addPrompts adds prompts that users of a client can start from.
func (s *Server) addPrompts() {
	say := func(about, text string) *sdk.GetPromptResult {
		return &sdk.GetPromptResult{Description: about, Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: text}}}}
	}
	for _, box := range s.boxes {
		for _, p := range box.Prompts {
			s.mcp.AddPrompt(&sdk.Prompt{
				Name: p.Name, Title: p.Title, Description: p.About,
				Arguments: []*sdk.PromptArgument{{Name: p.Argument, Description: p.ArgumentAbout, Required: true}},
			}, func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
				given, err := given(req, p.Argument, p.ArgumentAbout)
				if err != nil {
					return nil, err
				}
				return say(p.Title, fmt.Sprintf(p.Text, given)), nil
			})
		}
	}
	const id = "its id, such as F-0123456789, or RUN/ID"
	s.mcp.AddPrompt(&sdk.Prompt{
		Name: "explain-finding", Title: "Explain a finding", Description: "Explain a stored finding with its evidence.",
		Arguments: []*sdk.PromptArgument{{Name: "finding", Description: id, Required: true}},
	}, func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		named, err := given(req, "finding", id)
		if err != nil {
			return nil, err
		}
		rec, f, err := s.cfg.Store.Finding(named)
		if err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
		}
		var b bytes.Buffer
		if err := report.FindingText(&b, rec, f, report.Options{Blob: s.cfg.Store.Blob}); err != nil {
			return nil, err
		}
		return say("Explain a finding", fmt.Sprintf(explainFinding, b.String())), nil
	})
}

// given returns the argument that a prompt requires.
func given(req *sdk.GetPromptRequest, name, about string) (string, error) {
	text := strings.TrimSpace(req.Params.Arguments[name])
	if text == "" {
		return "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("the prompt %s needs the argument %s: %s", req.Params.Name, name, about)}
	}
	return text, nil
}
