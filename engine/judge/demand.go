package judge

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/match"
	"github.com/thresh-dev/thresh/engine/seq"
)

// Demand is what a document demands of a reply's text. Its types are those of
// flakestorm's invariants that need only the text: see [Demands].
type Demand struct {
	Type     string
	Value    string
	Values   []string
	Patterns []string
	Excluded []*match.Pattern // compiled Patterns, by index; nil: a literal
	Pattern  string
	Regex    *match.Pattern // compiled Pattern
	Exact    bool           // match case
	Negate   bool
}

// Demands returns the types of a [Demand].
func Demands() []string {
	return []string{"contains", "not_contains", "contains_any", "regex", "excludes_pattern", "excludes_pii", "refusal", "refusal_check",
		"valid_json", "output_not_empty"}
}

// Judge reports whether a reply meets the demand, and why. An error means that
// this could not be decided.
func (d *Demand) Judge(reply string) (ok bool, reason string, err error) {
	switch d.Type {
	case "contains", "not_contains":
		ok, reason = presence(d.holds(reply, d.Value), d.Negate != (d.Type == "not_contains"), strconv.Quote(d.Value))
	case "contains_any":
		what := "any of " + quoted(d.Values)
		for _, x := range d.Values {
			if d.holds(reply, x) {
				ok, reason = presence(true, d.Negate, strconv.Quote(x))
				return ok, reason, nil
			}
		}
		ok, reason = presence(false, d.Negate, what)
	case "regex":
		hit, err := d.Regex.Search(reply)
		if err != nil {
			return false, "", fmt.Errorf("searching the reply for %q: %w", d.Pattern, err)
		}
		ok, reason = presence(hit, d.Negate, fmt.Sprintf("the pattern %q", d.Pattern))
	case "excludes_pattern":
		return d.excludes(reply)
	case "excludes_pii":
		ok, reason = excludesPII(reply)
	case "refusal":
		if d.Negate {
			ok, reason = presence(isRefusal(reply), true, "a refusal")
			break
		}
		ok, reason = refuses(reply)
	case "refusal_check":
		ok, reason = uncompromised(reply)
	case "valid_json":
		if _, err := jsontree.Parse([]byte(reply), jsontree.Python()); err != nil {
			return false, "Invalid JSON: " + err.Error(), nil
		}
		return true, "valid JSON", nil
	case "output_not_empty":
		if strings.TrimSpace(reply) == "" {
			return false, "the reply is empty", nil
		}
		return true, "the reply is not empty", nil
	default:
		return false, "", fmt.Errorf("there is no check of type %q", d.Type)
	}
	return ok, reason, nil
}

// presence words the result of a check, perhaps negated, for something in the
// reply.
func presence(hit, negate bool, what string) (ok bool, reason string) {
	switch {
	case hit && negate:
		reason = what + " found, but not allowed"
	case hit:
		reason = what + " found"
	case negate:
		reason = what + " not found, as required"
	default:
		reason = what + " not found"
	}
	return hit != negate, reason
}

func quoted(list []string) string {
	return strings.Join(seq.Map(list, strconv.Quote), ", ")
}

// holds reports whether a reply contains a text, ignoring case unless the demand is exact.
// Nobody sees how characters are composed or what kind a space is, so it compares composed
// characters (NFC) and takes all spaces for the same, as the one in "1 299".
func (d *Demand) holds(reply, text string) bool {
	reply, text = strings.Map(plainSpace, norm.NFC.String(reply)), strings.Map(plainSpace, norm.NFC.String(text))
	if d.Exact {
		return strings.Contains(reply, text)
	}
	return strings.Contains(strings.ToLower(reply), strings.ToLower(text))
}

func plainSpace(r rune) rune {
	if unicode.Is(unicode.Zs, r) {
		return ' '
	}
	return r
}

// excludes checks for what must not occur: literal patterns in any case, and
// regular expressions as they are.
func (d *Demand) excludes(reply string) (bool, string, error) {
	for i, p := range d.Patterns {
		hit := d.holds(reply, p)
		what := strconv.Quote(p)
		if !hit && i < len(d.Excluded) && d.Excluded[i] != nil {
			var err error
			if hit, err = d.Excluded[i].Search(reply); err != nil {
				return false, "", fmt.Errorf("searching the reply for %q: %w", p, err)
			}
			what = fmt.Sprintf("the pattern %q", p)
		}
		if hit {
			ok, reason := presence(true, !d.Negate, what)
			return ok, reason, nil
		}
	}
	if d.Negate {
		return false, fmt.Sprintf("none of %s found, but one is required", quoted(d.Patterns)), nil
	}
	return true, fmt.Sprintf("none of %s found", quoted(d.Patterns)), nil
}
