package openapi

import (
	"regexp"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/engine/doctree"
)

var credential = regexp.MustCompile(`(?i)(api|access|auth).?(key|token)|^token$|^authorization$|secret`)

// Credential reports whether the name of a header suggests a credential.
func Credential(header string) bool { return credential.MatchString(header) }

// given reports whether every call of the plan already has a parameter.
func (d *document) given(in, name string) bool {
	switch {
	case d.plan == nil:
		return false
	case in == "query":
		return slices.ContainsFunc(d.plan.Query, func(q [2]string) bool { return q[0] == name })
	}
	return slices.ContainsFunc(d.plan.Headers, func(h [2]string) bool {
		return in == "header" && strings.EqualFold(h[0], name) ||
			in == "cookie" && strings.EqualFold(h[0], "Cookie") && strings.Contains("; "+h[1], "; "+name+"=")
	})
}

// Credentials returns what a service requires of every caller, as a plan has it: values
// begin as the description says and end in a variable, such as ${PREFIX_TOKEN}.
func Credentials(text []byte, prefix string) (headers, query [][2]string) {
	doc, err := doctree.Parse(text, doctree.Options{})
	if err != nil {
		return nil, nil
	}
	find := func(list [][2]string, name string) int {
		return slices.IndexFunc(list, func(p [2]string) bool { return strings.EqualFold(p[0], name) })
	}
	add := func(in, name, variable string) {
		value := "${" + prefix + "_" + variable + "}"
		switch at := find(headers, "Cookie"); {
		case in == "query" && find(query, name) < 0:
			query = append(query, [2]string{name, value})
		case in == "cookie" && at < 0:
			headers = append(headers, [2]string{"Cookie", name + "=" + value})
		case in == "cookie" && !strings.Contains("; "+headers[at][1], "; "+name+"="):
			headers[at][1] += "; " + name + "=" + value
		case in == "header" && find(headers, name) < 0:
			headers = append(headers, [2]string{name, strings.TrimSpace(map[string]string{"BASIC": "Basic ", "TOKEN": "Bearer "}[variable] + value)})
		}
	}
	d := &document{root: &doc.Root}
	if schemes := doc.Root.Get("components").Get("securitySchemes"); schemes != nil {
		for i := range schemes.Members() {
			s := d.follow(&schemes.Members()[i].Value)
			switch kind, scheme := value(s, "type"), strings.ToLower(value(s, "scheme")); {
			case kind == "http" && scheme == "basic":
				add("header", "Authorization", "BASIC")
			case kind == "http" || kind == "oauth2" || kind == "openIdConnect":
				add("header", "Authorization", "TOKEN")
			case kind == "apiKey":
				add(value(s, "in"), value(s, "name"), "KEY")
			}
		}
	}
	ops, err := Operations(text, nil)
	if err != nil {
		return headers, query
	}
	for _, o := range ops {
		for _, a := range o.Arguments {
			if a.In == "header" && Credential(a.Name) {
				add("header", a.Name, "KEY")
			}
		}
	}
	return headers, query
}
