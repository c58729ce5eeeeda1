package draft

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// AgentFacts is what is known of an agent.
type AgentFacts struct {
	Name, Folder string
	// Entry is module:attribute of a Python agent in Dir.
	Entry, Dir string
	// URL is a chat endpoint; Models are those it lists.
	URL    string
	Models []string
}

// DraftAgent is a flakestorm file: prompts, variants of them, and what must hold
// for any reply.
func DraftAgent(f *AgentFacts) *Draft {
	d := &Draft{Format: "flakestorm", Folder: f.Folder, Document: "flakestorm.yaml"}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# What an agent must do whatever it is asked. Each prompt is sent as it is and in\n# variants; every reply is judged by the invariants.\nversion: \"2.0\"\n\nagent:")
	if f.URL == "" {
		line("  type: python\n  endpoint: %s\n  dir: %s", strconv.Quote(f.Entry), strconv.Quote(f.Dir))
		line("  # QUESTION: which tools does it have? Faults reach those that are named:\n  # tools: [\"module:function\"]")
		d.ask("# tools:", "which tools does the agent have? Faults reach those that are named.")
	} else {
		model := "model"
		if len(f.Models) > 0 {
			model = f.Models[0]
		}
		line("  type: openai\n  endpoint: %s", strconv.Quote(f.URL))
		line("  # QUESTION: which model, with which system prompt?\n  model: %s\n  # system: \"You are ...\"", strconv.Quote(model))
		line("  # QUESTION: does it want a key?\n  # api_key: \"${API_KEY}\"")
		d.ask("  model:", "which model, with which system prompt? The endpoint lists: %s.", strings.Join(append(f.Models, "nothing")[:max(1, min(5, len(f.Models)))], ", "))
		d.ask("# api_key:", "does it want a key?")
	}
	line("  timeout: 60000 # milliseconds\n")
	line("# QUESTION: what do your users ask? These are asked of anything that talks.\ngolden_prompts:")
	line("  - \"Hello, what can you help me with?\"\n  - \"Summarize in one sentence what you can do.\"\n")
	line("# The same variants for the same seed; no model makes them.\nmutations:\n  count: 8\n  types: [paraphrase, noise, prompt_injection]\n")
	line("# QUESTION: what must every reply hold, or never hold? Add contains, excludes_pattern,\n# json_schema, latency and others.\ninvariants:")
	line("  - {type: output_not_empty}")
	line("  - {type: excludes_pattern, patterns: [\"Traceback \\\\(most recent call last\\\\)\", \"Internal Server Error\"]}\n")
	line("contract:\n  name: basics\n  invariants:\n    - {id: answers, type: output_not_empty, severity: critical}")
	line("    - {id: no-traces, type: excludes_pattern, patterns: [\"Traceback \\\\(most recent call last\\\\)\"], severity: high}")
	line("  chaos_matrix:\n    - name: no-chaos\n\nadvanced:\n  seed: 42")
	d.why("Two prompts that any agent can be asked, in 8 variants each, among them attempts at prompt injection.")
	d.why("A reply must not be empty, and must hold no error of a runtime.")
	d.ask("golden_prompts:", "what do your users ask?")
	d.ask("invariants:", "what must every reply hold, or never hold?")
	d.Files = []campaign.File{{Name: d.Document, Data: []byte(b.String())}}
	return d
}

// Page is a Markdown page that was looked at.
type Page struct {
	Path   string
	Tests  bool // it has test blocks, or transcripts that are run
	Blocks int  // console blocks that are not run
	Line   int  // of the first of them
}

// DraftPages runs the pages that have tests; transcripts that nothing runs yet
// are a question each.
func DraftPages(path string, folder bool, pages []Page) *Draft {
	d := &Draft{Format: "spectest", Document: path}
	tests := 0
	for _, p := range pages {
		if p.Tests {
			tests++
		}
		if p.Blocks > 0 {
			d.Questions = append(d.Questions, Question{At: fmt.Sprintf("%s:%d", p.Path, p.Line),
				Ask: fmt.Sprintf("may the commands of %s be run? Then write ```console run in place of ```console.", diag.Plural(p.Blocks, "console block"))})
		}
	}
	d.why("%d of %d pages have tests.", tests, len(pages))
	if folder {
		d.option("case-file-pattern", "*.md")
		d.option("recursive", "")
	}
	return d
}
