package flakestorm_test

import (
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm"
)

// A document that lacks a section is still recognized, and the error names the section.
func TestDetect(t *testing.T) {
	for text, want := range map[string]bool{
		"agent: {endpoint: x}\ngolden_prompts: [hi]\ninvariants: [{type: completes}]\n": true,
		"agent: {endpoint: x}\ncontract: {name: c}\n":                                   true,
		"agent: {endpoint: x}\ngolden_prompt: [hi]\ninvariants: []\n":                   true,
		"golden_prompts: [hi]\ninvariants: []\n":                                        true,
		`{"agent": {}, "golden_prompts": []}`:                                           true,
		"agent: {endpoint: x}\n":                                                        false,
		"contract: {name: agent}\ninvariants: []\n":                                     false,
		"id: a\ninput: the agent said so\n":                                             false,
	} {
		if got := (*flakestorm.Contract)(nil).Detect(campaign.Spec{Data: []byte(text)}); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
	page := "# Agents\n\n```yaml\nagent: {endpoint: x}\ngolden_prompts: [hi]\n```\n"
	if (*flakestorm.Contract)(nil).Detect(campaign.Spec{Path: "docs/Agents.MD", Data: []byte(page)}) {
		t.Error("a page that shows a configuration is taken for one")
	}
}
