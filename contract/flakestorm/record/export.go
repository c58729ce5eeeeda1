package record

import (
	"encoding/json"
	"fmt"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
)

// Export reads the failures of a JSON report: one of Thresh, in which findings hold sessions under
// the given title, or one of flakestorm itself.
func Export(data []byte, title string) ([]config.Session, error) {
	var r struct {
		Findings []struct {
			ID       string `json:"id"`
			Evidence []struct {
				Title string `json:"title"`
				Text  *struct {
					Body string `json:"body"`
				} `json:"text"`
			} `json:"evidence"`
		} `json:"findings"`
		Mutations []struct {
			Original string `json:"original_prompt"`
			Mutation struct {
				Mutated string `json:"mutated"`
				Type    string `json:"type"`
			} `json:"mutation"`
			Response *string `json:"response"`
			Passed   bool    `json:"passed"`
			Error    *string `json:"error"`
			Checks   []struct {
				Type    string `json:"check_type"`
				Passed  bool   `json:"passed"`
				Details string `json:"details"`
			} `json:"checks"`
		} `json:"mutations"`
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("not a JSON report: %w", err)
	}
	if r.Findings == nil && r.Mutations == nil {
		return nil, fmt.Errorf("not a report: it has neither findings nor mutations")
	}
	var out []config.Session
	for _, f := range r.Findings {
		for _, e := range f.Evidence {
			if e.Title != title || e.Text == nil {
				continue
			}
			s, diags := config.DecodeSession(f.ID, []byte(e.Text.Body), config.Options{})
			if diags.HasErrors() {
				return nil, fmt.Errorf("the session of finding %s: %w", f.ID, diags.Err())
			}
			s.ID = f.ID
			out = append(out, s)
		}
	}
	for i, m := range r.Mutations {
		if r.Findings != nil { // findings tell of the same failures, with the tools' answers
			break
		}
		if m.Passed || m.Mutation.Mutated == "" {
			continue
		}
		s := config.Session{
			ID: fmt.Sprintf("export-%d", i), Name: config.DisplayName(m.Mutation.Type), Source: "flakestorm_export", Input: m.Mutation.Mutated, Contract: "default",
			Expected: "the agent failed under mutation",
		}
		if m.Response != nil {
			s.Reply = *m.Response
		}
		for _, k := range m.Checks {
			if !k.Passed {
				s.Expected = k.Type + ": " + k.Details
				break
			}
		}
		if m.Error != nil && *m.Error != "" {
			s.Expected = *m.Error
		}
		out = append(out, s)
	}
	return out, nil
}
