package draft

import (
	"fmt"
	"strconv"
	"strings"
)

// resets reports whether a traversal may begin with the operation that clears everything: only on a
// program that Thresh starts, or on this machine.
func (a *analysis) resets() bool {
	if a.reset == nil || a.reset.skip != "" {
		return false
	}
	return len(a.f.Command) > 0 || strings.Contains(a.f.URL, "://127.0.0.1") || strings.Contains(a.f.URL, "://localhost") || strings.Contains(a.f.URL, "://[::1]")
}

// systemFile writes how to reach the service.
func (s *serving) systemFile() string {
	var b strings.Builder
	f := s.f
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# How %s.model.star reaches what it is a model of.", f.Name)
	line("schema: thresh.system.v1\nname: %s\nkind: %s", strconv.Quote(f.Name), f.Kind)
	if len(f.Command) > 0 {
		line("%s", f.starts())
	}
	if f.URL != "" {
		if f.Supposed {
			line("# QUESTION: where does it run? Its description names no server.")
		}
		line("url: %s", strconv.Quote(f.URL))
		if f.Supposed {
			s.d.ask("url:", "where does it run? Its description names no server.")
		}
	}
	credentials(&b, &f.SystemFacts, s.d, true)
	if f.OpenAPI != "" {
		line("openapi: %s", strconv.Quote(f.OpenAPI))
	}
	switch {
	case s.resets():
		line("# A guess: it is named like a reset of everything.\nreset: {operation: %s}", strconv.Quote(s.reset.op.Name))
	case len(f.Command) > 0 && len(s.serviceResource().fields) > 0:
		line("# Its state is private, so each traversal starts a new process.\nreset: restart")
	case s.reset != nil:
		line("# QUESTION: may everything be deleted before each traversal?\n# reset: {operation: %s}", strconv.Quote(s.reset.op.Name))
		s.d.ask("# reset:", "may everything be deleted before each traversal?")
	default:
		line("# Nothing is reset: the model covers only what its own calls made.")
	}
	line("limits: {timeout: 5s}")
	return b.String()
}
