package openapi

import (
	"regexp"
	"strings"

	"github.com/thresh-dev/thresh/engine/doctree"
)

var credential = regexp.MustCompile(`(?i)(api|access|auth).?(key|token)|^token$|^authorization$|secret`)

// Credential reports whether a header is named like what lets callers in.
func Credential(header string) bool { return credential.MatchString(header) }

// Headers are what a service wants to see of every caller: names of headers, and values
// that begin as its description says and end in a variable, ${PREFIX_TOKEN} or the like.
func Headers(text []byte, prefix string) (list [][2]string) {
	doc, err := doctree.Parse(text, doctree.Options{})
	if err != nil {
		return nil
	}
	add := func(name, value string) {
		for _, h := range list {
			if strings.EqualFold(h[0], name) {
				return
			}
		}
		list = append(list, [2]string{name, value})
	}
	d := &document{root: &doc.Root}
	if schemes := doc.Root.Get("components").Get("securitySchemes"); schemes != nil {
		for i := range schemes.Members() {
			s := d.follow(&schemes.Members()[i].Value)
			switch kind, scheme := value(s, "type"), strings.ToLower(value(s, "scheme")); {
			case kind == "http" && scheme == "basic":
				add("Authorization", "Basic ${"+prefix+"_BASIC}")
			case kind == "http" || kind == "oauth2" || kind == "openIdConnect":
				add("Authorization", "Bearer ${"+prefix+"_TOKEN}")
			case kind == "apiKey" && value(s, "in") == "header":
				add(value(s, "name"), "${"+prefix+"_KEY}")
			}
		}
	}
	ops, err := Operations(text)
	if err != nil {
		return list
	}
	for _, o := range ops {
		for _, a := range o.Arguments {
			if a.In == "header" && Credential(a.Name) {
				add(a.Name, "${"+prefix+"_KEY}")
			}
		}
	}
	return list
}
