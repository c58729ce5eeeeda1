package mcp

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"
)

// What is not a message is answered and passed over; what is goes on to the session.
func TestLines(t *testing.T) {
	ask := func(version string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + version + `"}}`
	}
	ping := `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	for name, c := range map[string]struct {
		in      string
		through []string
		answers []string // how they begin, as far as they are of interest
	}{
		"messages":             {ask("2024-11-05") + "\r\n\n" + ping, []string{ask("2024-11-05"), ping}, nil},
		"half a message":       {`{"jsonrpc":"2.0","id":9,"method":` + "\n" + ping + "\n", []string{ping}, []string{`{"error":{"code":-32700`}},
		"no JSON":              {"hello\n" + ping + "\n", []string{ping}, []string{`{"error":{"code":-32700`}},
		"two on a line":        {ping + ping + "\n", nil, []string{`{"error":{"code":-32700`}},
		"no version":           {`{"id":12345678901234567890,"method":"ping"}` + "\n", nil, []string{`"id":12345678901234567890,`}},
		"neither call nor not": {`{"jsonrpc":"2.0","id":"a"}` + "\n" + `{"jsonrpc":"2.0"}` + "\n" + `7` + "\n", []string{`{"jsonrpc":"2.0","id":"a"}`}, []string{`"id":null,`, `"id":null,`}},
		"an id of no kind":     {`{"jsonrpc":"2.0","id":{},"method":"ping"}` + "\n", nil, []string{`"id":null,`}},
		"a batch":              {ask("2025-03-26") + "\n[" + ping + "]\n", []string{ask("2025-03-26"), "[" + ping + "]"}, nil},
		"a batch too late":     {ask("2025-06-18") + "\n[" + ping + "]\n" + ping, []string{ask("2025-06-18"), ping}, []string{`batches of messages are not supported`}},
		"an empty batch":       {"[]\n", nil, []string{`batches of messages`}},
		"a batch of one id":    {"[" + ping + "," + ping + "]\n", nil, []string{`used twice`}},
		"a batch of no call":   {"[1]\n", nil, []string{`-32600`}},
		"too long":             {`"` + strings.Repeat("x", MaxMessage) + `"` + "\n" + ping + "\n", []string{ping}, []string{`at most`}},
	} {
		var out bytes.Buffer
		through, err := io.ReadAll(&lines{in: bufio.NewReader(strings.NewReader(c.in)), out: &out})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := strings.Split(strings.TrimSuffix(string(through), "\n"), "\n"); strings.Join(got, "\n") != strings.Join(c.through, "\n") {
			t.Errorf("%s: the session gets %q", name, got)
		}
		answers := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if len(c.answers) == 0 && out.Len() > 0 || len(c.answers) > 0 && len(answers) != len(c.answers) {
			t.Errorf("%s: answers %q", name, answers)
		}
		for i, want := range c.answers {
			if i < len(answers) && !strings.Contains(answers[i], want) {
				t.Errorf("%s: %q, want %s", name, answers[i], want)
			}
		}
	}
}
