package cli_test

import (
	"bufio"
	"context"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The program itself, over its standard input and output.
func TestMCPOverStdio(t *testing.T) {
	g := &agent{t: t, dir: t.TempDir()}
	cmd := child(t, "thresh", "mcp")
	cmd.Dir = g.dir
	s, err := g.client().Connect(t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	must(t, err)
	g.session = s
	tools, err := s.ListTools(t.Context(), nil)
	must(t, err)
	names := map[string]bool{}
	for _, x := range tools.Tools {
		names[x.Name] = true
		if x.Description == "" || x.InputSchema == nil {
			t.Errorf("tool %s has no description or no schema", x.Name)
		}
	}
	for _, want := range strings.Fields(`fresnel_fir_compile fresnel_fir_status fresnel_fir_fuzz_start fresnel_fir_fuzz_status fresnel_fir_findings
		fresnel_fir_coverage fresnel_fir_abort fresnel_fir_analytics load_dut replay explain_finding check_spec run_spec run_status run_findings`) {
		if !names[want] {
			t.Errorf("there is no tool %s", want)
		}
	}
	if o := g.call("fresnel_fir_status", nil); o.text("state") != "idle" {
		t.Errorf("status: %v", o)
	}
	must(t, s.Close()) // which waits for the process
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d once the client has left", code)
	}
}

// overHTTP starts the program on a free port, with the token "secret-of-this-test", and
// returns its address.
func overHTTP(t *testing.T) string {
	t.Helper()
	cmd := child(t, "thresh", "mcp", "--http", "127.0.0.1:0")
	cmd.Dir = t.TempDir()
	cmd.Env = append(cmd.Env, "THRESH_MCP_TOKEN=secret-of-this-test")
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		must(t, cmd.Process.Signal(os.Interrupt))
		if err := cmd.Wait(); err != nil {
			t.Errorf("thresh mcp after an interrupt: %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	return strings.TrimSpace(line)
}

// bearer adds the token to requests.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func TestMCPOverHTTP(t *testing.T) {
	address := overHTTP(t)
	g := &agent{t: t}
	s, err := g.client().Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: address, HTTPClient: &http.Client{Transport: bearer("secret-of-this-test")}}, nil)
	must(t, err)
	defer s.Close()
	g.session = s
	if o := g.call("fresnel_fir_status", nil); o.text("state") != "idle" {
		t.Errorf("status: %v", o)
	}
	for _, c := range []struct {
		name, host, origin, token, query string
		want                             int
	}{
		{"no token", "", "", "", "", http.StatusUnauthorized},
		{"a wrong token", "", "", "secre", "", http.StatusUnauthorized},
		{"a wrong token in the address", "", "", "", "?token=no", http.StatusUnauthorized},
		{"another site's page", "", "https://example.org", "secret-of-this-test", "", http.StatusForbidden},
		{"a page of no site", "", "null", "secret-of-this-test", "", http.StatusForbidden},
		{"a name pointed at this machine", "example.org", "", "secret-of-this-test", "", http.StatusForbidden},
		{"a page of this machine", "", "http://localhost:6274", "secret-of-this-test", "", http.StatusOK},
		{"the token in the address", "", "", "", "?token=secret-of-this-test", http.StatusOK},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+c.query, strings.NewReader(body))
			must(t, err)
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			if c.host != "" {
				r.Host = c.host
			}
			if c.origin != "" {
				r.Header.Set("Origin", c.origin)
			}
			if c.token != "" {
				r.Header.Set("Authorization", "Bearer "+c.token)
			}
			res, err := http.DefaultClient.Do(r)
			must(t, err)
			defer res.Body.Close()
			if res.StatusCode != c.want {
				t.Errorf("status %d, want %d", res.StatusCode, c.want)
			}
		})
	}
}

// conformance is the version of the official suite, and of the Node.js that it
// needs, both from npm.
var conformance = []string{"--yes", "--package=node@22", "--package=@modelcontextprotocol/conformance@0.1.16", "conformance", "server"}

// TestMCPConformance holds the server to the official suite: the scenarios that
// ask for nothing but what every server has. The others want tools, prompts and
// resources of the suite's own example server.
func TestMCPConformance(t *testing.T) {
	if os.Getenv("THRESH_TEST_LONG") == "" {
		t.Skip("fetches the suite from npm: set THRESH_TEST_LONG=1 to run it")
	}
	npx, err := exec.LookPath("npx")
	if err != nil {
		t.Skip("the suite comes from npm, and there is no npx here")
	}
	all, err := exec.CommandContext(t.Context(), npx, append(conformance[:len(conformance)-1:len(conformance)-1], "list", "--server")...).CombinedOutput()
	must(t, err)
	page, err := os.ReadFile("../../docs/mcp.md")
	must(t, err)
	for _, m := range regexp.MustCompile(`(?m)^ +- ([a-z0-9-]+) \[`).FindAllStringSubmatch(string(all), -1) {
		if !strings.Contains(string(page), "`"+m[1]+"`") {
			t.Errorf("docs/mcp.md does not say what becomes of the scenario %s", m[1])
		}
	}
	address := overHTTP(t) + "?token=secret-of-this-test"
	for _, scenario := range []string{
		"server-initialize", "ping", "logging-set-level", "completion-complete", "tools-list", "resources-list", "resources-subscribe", "resources-unsubscribe",
		"prompts-list", "server-sse-multiple-streams", "dns-rebinding-protection",
	} {
		t.Run(scenario, func(t *testing.T) {
			cmd := exec.CommandContext(context.Background(), npx, append(conformance[:len(conformance):len(conformance)], "--url", address, "--scenario", scenario)...)
			cmd.Dir = t.TempDir()
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v:\n%s", err, out)
			}
		})
	}
}
