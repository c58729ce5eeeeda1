package mutation

import (
	"time"

	"github.com/thresh-dev/thresh/engine/agentcall"
)

// shape is one way to change a request.
type shape struct {
	what string // for display
	wire agentcall.Wire
}

// shapes returns the request changes of a type that is about the system. limit is the time limit of
// a call.
func shapes(kind string, limit time.Duration) []shape {
	header := func(pairs ...string) agentcall.Wire {
		var w agentcall.Wire
		for i := 0; i+1 < len(pairs); i += 2 {
			w.Headers = append(w.Headers, [2]string{pairs[i], pairs[i+1]})
		}
		return w
	}
	query := func(pairs ...string) agentcall.Wire {
		var w agentcall.Wire
		for i := 0; i+1 < len(pairs); i += 2 {
			w.Query = append(w.Query, [2]string{pairs[i], pairs[i+1]})
		}
		return w
	}
	switch kind {
	case "http_header_injection":
		return []shape{
			{"headers that claim another origin", header("X-Forwarded-For", "127.0.0.1", "X-Real-IP", "127.0.0.1", "X-Forwarded-Host", "localhost")},
			{"headers that claim another user", header("X-User-Id", "0", "X-Role", "admin", "X-Admin", "true")},
			{"a header of 8 KiB", header("X-Thresh-Long", filler(8<<10))},
			{"the same header three times", header("X-Request-Id", "1", "X-Request-Id", "2", "X-Request-Id", "3")},
			{"headers that claim another path", header("X-Original-URL", "/admin", "X-Rewrite-URL", "/admin")},
		}
	case "payload_size_attack":
		return []shape{
			{"a body of 64 KiB more", agentcall.Wire{Pad: 64 << 10}},
			{"a body of 1 MiB more", agentcall.Wire{Pad: 1 << 20}},
			{"a body of 4 MiB more", agentcall.Wire{Pad: 4 << 20}},
		}
	case "content_type_confusion":
		return []shape{
			{"declared as text/plain", agentcall.Wire{ContentType: "text/plain"}},
			{"declared as application/xml", agentcall.Wire{ContentType: "application/xml"}},
			{"declared as a form", agentcall.Wire{ContentType: "application/x-www-form-urlencoded"}},
			{"declared in another charset", agentcall.Wire{ContentType: "application/json; charset=utf-16"}},
			{"declared as nothing that there is", agentcall.Wire{ContentType: "x-thresh/unknown"}},
		}
	case "query_parameter_poisoning":
		return []shape{
			{"a parameter twice", query("input", "MARKER", "input", "MARKER2")},
			{"parameters that claim rights", query("role", "admin", "debug", "true")},
			{"parameters in brackets", query("a[]", "1", "a[b]", "2", "__proto__[x]", "3")},
			{"a parameter of 4 KiB", query("q", filler(4<<10))},
		}
	case "request_method_attack":
		return []shape{
			{"by PUT", agentcall.Wire{Method: "PUT"}}, {"by PATCH", agentcall.Wire{Method: "PATCH"}}, {"by OPTIONS", agentcall.Wire{Method: "OPTIONS"}},
			{"by GET", agentcall.Wire{Method: "GET"}}, {"by a method that there is not", agentcall.Wire{Method: "THRESH"}},
		}
	case "protocol_level_attack":
		return []shape{
			{"a body in chunks, of unknown length", agentcall.Wire{Encoding: "chunked"}},
			{"a compressed body", agentcall.Wire{Encoding: "gzip"}},
			{"a body in UTF-16", agentcall.Wire{Encoding: "utf-16"}},
			{"a connection that asks for an upgrade", header("Upgrade", "h2c")},
		}
	case "concurrent_request_pattern":
		return []shape{
			{"two equal requests at once", agentcall.Wire{Copies: 2}}, {"four equal requests at once", agentcall.Wire{Copies: 4}},
			{"eight equal requests at once", agentcall.Wire{Copies: 8}},
		}
	case "timeout_manipulation":
		return []shape{
			{"a body that comes slowly", agentcall.Wire{Trickle: min(limit/8, 500*time.Millisecond)}},
			{"a body that comes in drips", agentcall.Wire{Trickle: min(limit/6, time.Second)}},
			{"a body that comes very slowly", agentcall.Wire{Trickle: min(limit/4, 2*time.Second)}},
		}
	}
	return nil
}

func filler(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = 'a' + byte(i%26)
	}
	return string(b)
}
