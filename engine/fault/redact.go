package fault

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Hidden stands for what was redacted.
const Hidden = "[redacted]"

// secretName covers the names of fields, headers and parameters that hold
// secrets.
const secretName = `(?:(?:[a-z0-9]+[-_])*(?:api[-_]?key|password|passwd|secret|private[-_]?key|session[-_]?key)|(?:access|refresh|id|auth|bearer|session)[-_]?token|token|authorization|(?:set-)?cookie|signature|sig)`

var (
	secretField = regexp.MustCompile(`(?i)("` + secretName + `"\s*:\s*)"(?:[^"\\]|\\.)*"?`)
	secretParam = regexp.MustCompile(`(?i)((?:^|[?&\s])(?:key|` + secretName + `)=)(?:\[secret [^\]]*\]|[^&\s"']+)`)
	secretToken = regexp.MustCompile(`(?i:\b(?:bearer|basic)\s+[a-z0-9._~+/=-]{8,})|\b(?:sk|pk|rk|gsk|xoxb|xoxp|ghp|gho|github_pat|AIza|lsv2)[-_A-Za-z0-9]{16,}`)
)

// Redact takes secrets out of a text: values of fields and parameters that are
// named for it, bearer tokens, and keys of the shapes that providers give out.
func Redact(s string) string {
	s = secretField.ReplaceAllString(s, `${1}"`+Hidden+`"`)
	s = secretParam.ReplaceAllString(s, `${1}`+Hidden)
	return secretToken.ReplaceAllString(s, Hidden)
}

// RedactURL is a URL without credentials and without secret parameters.
func RedactURL(raw string) string {
	if u, err := url.Parse(raw); err == nil && u.User != nil {
		u.User = nil
		raw = u.String()
	}
	if !strings.Contains(raw, "=") {
		return raw
	}
	return Redact(raw)
}

// leaks reports whether a request holds a secret anywhere but in a field or a
// parameter that is named for one, by which a caller proves who it is.
func (e *Exchange) leaks(secrets []string) bool {
	if len(secrets) == 0 {
		return false
	}
	text := secretField.ReplaceAllString(e.URL+"\n"+string(e.Request), "")
	text = secretParam.ReplaceAllString(text, "")
	return slices.ContainsFunc(secrets, func(s string) bool { return s != "" && strings.Contains(text, s) })
}

func (e *Exchange) redact() {
	e.URL = RedactURL(e.URL)
	for _, b := range []struct {
		body *[]byte
		size *int64
	}{{&e.Request, &e.RequestSize}, {&e.Response, &e.ResponseSize}} {
		whole := int64(len(*b.body)) >= *b.size
		*b.body = []byte(Redact(string(*b.body)))
		if whole { // it is so still
			*b.size = int64(len(*b.body))
		}
	}
}
