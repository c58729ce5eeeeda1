package spectest

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/engine/jsonpath"
)

func hurlCapture(text string) (what, why string) {
	words := hurlIndexed(hurlWords(text))
	secret := ""
	if n := len(words); n > 1 && words[n-1] == "redact" {
		words, secret = words[:n-1], ", secret: true"
	}
	if alone := len(words) > 0 && slices.Contains([]string{"body", "status", "sha256", "url", "duration"}, words[0]); alone && len(words) > 1 || !alone && len(words) != 2 {
		return "", "expected a query such as jsonpath \"$.id\"; filters have no counterpart"
	}
	arg := jsonText(hurlText(hurlString(words[len(words)-1])))
	switch words[0] {
	case "jsonpath":
		if _, err := jsonpath.Compile(hurlString(words[1])); err != nil {
			return "", err.Error()
		}
		return "{json: " + arg + secret + "}", ""
	case "header", "cookie", "regex", "xpath":
		return "{" + words[0] + ": " + arg + secret + "}", ""
	case "body":
		return "{target: body_text" + secret + "}", ""
	case "status", "sha256", "url", "duration":
		return "{target: " + words[0] + secret + "}", ""
	}
	return "", "there is no " + words[0]
}

// hurlIndexed has the filters first, last and nth as a part of the path.
func hurlIndexed(words []string) []string {
	for len(words) > 2 && words[0] == "jsonpath" {
		index, rest := "", words[3:]
		switch {
		case words[2] == "first":
			index = "0"
		case words[2] == "last":
			index = "-1"
		case words[2] == "nth" && len(rest) > 0:
			index, rest = rest[0], rest[1:]
		}
		path := hurlString(words[1])
		if _, err := strconv.Atoi(index); err != nil {
			break
		}
		if p, err := jsonpath.Compile(path); err != nil || !p.Single() {
			break
		}
		words = slices.Concat([]string{"jsonpath", strconv.Quote(path + "[" + index + "]")}, rest)
	}
	return words
}

// hurlAssert is an assertion as a condition.
func hurlAssert(l string) (when, why string) {
	words := hurlIndexed(hurlWords(l))
	if len(words) < 2 {
		return "", "it has no predicate"
	}
	query, rest, arg := words[0], words[1:], ""
	if slices.Contains([]string{"header", "cookie", "jsonpath", "xpath"}, query) {
		arg, rest = hurlString(rest[0]), rest[1:]
	}
	subject, known := map[string]string{"status": "status", "body": "body_text", "sha256": "sha256", "bytes": "size", "url": "url", "duration": "duration", "redirects": "redirects", "jsonpath": arg, "xpath": "xpath(" + infixText(arg) + ")", "header": "headers", "cookie": "headers"}[query]
	if !known {
		return "", "there is no " + query
	}
	several := false // places that a path may lead to
	if query == "jsonpath" {
		p, err := jsonpath.Compile(arg)
		if err != nil {
			return "", err.Error()
		}
		several = !p.Single()
	}
	attribute := hurlAttribute.FindStringSubmatch(arg)
	if query == "cookie" && attribute != nil {
		key, known := hurlAttributes[attribute[2]]
		if !known {
			return "", "the attribute " + attribute[2] + " of a cookie has no counterpart"
		}
		query, subject = "attribute", "get(get(cookies, "+infixText(attribute[1])+"), "+infixText(key)+")"
	}
	if counted := len(rest) > 0 && rest[0] == "count"; query == "redirects" && !counted {
		return "", "what redirects say has no counterpart, only their count"
	} else if counted {
		if rest = rest[1:]; query != "bytes" && query != "redirects" {
			subject, several = "len("+subject+")", false
		}
	}
	not := len(rest) > 0 && rest[0] == "not"
	if not {
		rest = rest[1:]
	}
	if len(rest) == 0 || len(rest) > 2 {
		return "", "filters have no counterpart"
	}
	predicate, value, text := rest[0], "", ""
	if several {
		switch predicate {
		case "exists":
			return negated("len("+subject+") != 0", not), ""
		case "includes", "isEmpty", "isList":
		default: // the one that is found
			subject = "get(" + subject + ", 0)"
		}
	}
	if len(rest) == 2 {
		if text = hurlText(hurlString(rest[1])); text != rest[1] || regexp.MustCompile(`^\D`).MatchString(text) && !slices.Contains([]string{"true", "false", "null"}, text) && text[0] != '-' {
			value = infixText(text)
		} else {
			value = text
		}
		text = strings.TrimSuffix(strings.TrimPrefix(text, "hex,"), ";")
		switch {
		case query == "sha256":
			value = infixText(text)
		case query == "attribute" && attribute[2] == "SameSite":
			value = infixText(strings.ToLower(text))
		}
	}
	if query == "header" || query == "cookie" {
		name := `(?m)^(?i:` + regexp.QuoteMeta(arg) + `): `
		if query == "cookie" {
			name = `(?m)^(?i:set-cookie): ` + regexp.QuoteMeta(arg) + `=`
		}
		exact := hurlQuoted.ReplaceAllString(regexp.QuoteMeta(text), "$${$1}")
		pattern, known := map[string]string{
			"==": exact + map[string]string{"header": "$", "cookie": "(;|$)"}[query], "!=": exact + "$", "exists": "", "contains": ".*" + exact,
			"startsWith": exact, "endsWith": ".*" + exact + "$", "matches": ".*" + text}[predicate]
		if strings.HasPrefix(text, "^") && predicate == "matches" {
			pattern = text[1:]
		}
		if predicate == "!=" {
			not = !not
		}
		if !known {
			return "", predicate + " has no counterpart for headers"
		}
		return negated("headers matches "+infixText(name+pattern), not), ""
	}
	if sign, ok := map[string]string{"<": "<", "<=": "<=", ">": ">", ">=": ">=", "==": "==", "!=": "!=", "equals": "==", "startsWith": "starts_with", "endsWith": "ends_with", "contains": "contains", "matches": "matches"}[predicate]; ok && value != "" {
		return negated(subject+" "+sign+" "+value, not), ""
	}
	kind := map[string]string{"isString": "string", "isBoolean": "bool", "isNumber": "number", "isList": "list", "isObject": "dict"}[predicate]
	switch {
	case kind != "":
		return negated("json_type("+subject+", "+infixText(kind)+")", not), ""
	case predicate == "isCollection":
		return negated("json_type("+subject+", \"dict\") or json_type("+subject+", \"list\")", not), ""
	case predicate == "isInteger":
		return negated("json_type("+subject+", \"number\") and not ("+subject+" matches \"[.eE]\")", not), ""
	case predicate == "isFloat":
		return negated("json_type("+subject+", \"number\") and "+subject+" matches \"[.eE]\"", not), ""
	case predicate == "exists" && query == "attribute" && (attribute[2] == "Secure" || attribute[2] == "HttpOnly"):
		return negated(subject, not), ""
	case predicate == "exists" && query == "attribute": // what is not set is empty
		return negated(map[bool]string{true: subject + " != 0", false: subject + " != \"\""}[attribute[2] == "Max-Age"], not), ""
	case predicate == "includes":
		return negated(value+" in "+subject, not), ""
	case predicate == "exists":
		return negated(subject+" != null", not), ""
	case predicate == "isEmpty":
		return negated("len("+subject+") == 0", not), ""
	}
	return "", predicate + " has no counterpart"
}

// hurlAttribute is a cookie and one of its attributes.
var hurlAttribute = regexp.MustCompile(`^(.+)\[([A-Za-z-]+)\]$`)

// hurlAttributes are the attributes of cookies as cases name them.
var hurlAttributes = map[string]string{"Value": "value", "Path": "path", "Domain": "domain", "Max-Age": "max_age", "Secure": "secure", "HttpOnly": "http_only", "SameSite": "same_site"}

func negated(condition string, not bool) string {
	if not {
		return "not (" + condition + ")"
	}
	return condition
}

// infixText is a text within a condition.
func infixText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(s) + `"`
}
