package fault

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/engine/fault"
)

// BenchmarkOverhead measures what the proxy adds to a call at the median: calls
// go direct and through the proxy in turn, on connections that are kept.
func BenchmarkOverhead(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"answer":"yes"}`)
	}))
	defer server.Close()
	for _, kind := range []struct {
		name, path string
		rules      []fault.Rule
	}{
		{"tool", "/tool", []fault.Rule{{Layer: fault.Tool, Mode: fault.Error, Tool: "other"}}},
		{"tool injected", "/tool", []fault.Rule{{Layer: fault.Context, Mode: fault.IndirectInjection}}},
		{"llm", "/v1/chat/completions", []fault.Rule{{Layer: fault.LLM, Mode: fault.Truncated}}},
	} {
		b.Run(kind.name, func(b *testing.B) {
			s := open(b, nil)
			c, err := s.port.Enter(fault.Plan{Rules: kind.rules, Capture: 16 << 10})
			if err != nil {
				b.Fatal(err)
			}
			direct, through := &http.Client{Transport: &http.Transport{}}, s.client()
			defer direct.CloseIdleConnections()
			var plain, proxied []time.Duration
			one := func(client *http.Client) time.Duration {
				began := time.Now()
				if g := post(client, server.URL+kind.path, "application/json", `{"model":"m","messages":[{"role":"user","content":"hello"}]}`); g.status != 200 {
					b.Fatalf("%+v", g)
				}
				return time.Since(began)
			}
			one(direct)
			one(through)
			for b.Loop() {
				plain = append(plain, one(direct))
				proxied = append(proxied, one(through))
			}
			slices.Sort(plain)
			slices.Sort(proxied)
			b.ReportMetric(float64((proxied[len(proxied)/2] - plain[len(plain)/2]).Microseconds()), "µs-added/call")
			c.Close()
		})
	}
}
