package spectest

import (
	"cmp"
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
	present := ""    // there is what is looked at: where nothing is, Hurl lets != fail and not hold
	switch query {
	case "jsonpath":
		p, err := jsonpath.Compile(arg)
		if err != nil {
			return "", err.Error()
		}
		several = !p.Single()
		present = hurlPresent(arg, several)
	case "xpath":
		present = subject + " != null"
	}
	attribute := hurlAttribute.FindStringSubmatch(arg)
	if query == "cookie" && attribute != nil {
		key, known := hurlAttributes[attribute[2]]
		if !known {
			return "", "the attribute " + attribute[2] + " of a cookie has no counterpart"
		}
		query, subject, present = "attribute", "get(get(cookies, "+infixText(attribute[1])+"), "+infixText(key)+")", "cookies has "+infixText(attribute[1])
	}
	if counted := len(rest) > 0 && rest[0] == "count"; query == "redirects" && !counted {
		return "", "what redirects say has no counterpart, only their count"
	} else if counted && (query == "header" || query == "cookie") {
		return "", "headers are not counted"
	} else if counted {
		if rest = rest[1:]; query != "bytes" && query != "redirects" {
			subject, several, present = "len("+subject+")", false, ""
		}
		if query == "xpath" {
			subject = "xpath(" + infixText("count("+arg+")") + ")"
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
	all := subject
	if several && predicate != "includes" && predicate != "isEmpty" { // the one that is found
		subject, present = "get("+subject+", 0)", "len("+subject+") == 1"
	}
	// holds is a condition on what is there.
	holds := func(condition string) (string, string) {
		if present != "" && (not || several || predicate == "!=" && query != "xpath" || value == "null") {
			condition = present + " and " + bracketed(condition)
		}
		return negated(condition, not), ""
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
		any, end := ".*", "$"
		if query == "cookie" { // its attributes follow
			any, end = `[^;\n]*`, "(;|$)"
		}
		pattern, known := map[string]string{
			"==": exact + end, "!=": exact + end, "exists": "", "contains": any + exact,
			"startsWith": exact, "endsWith": any + exact + end, "matches": any + text}[predicate]
		if strings.HasPrefix(text, "^") && predicate == "matches" {
			pattern = text[1:]
		}
		if !known {
			return "", predicate + " has no counterpart for headers"
		}
		if predicate == "!=" {
			present = "headers matches " + infixText(name)
		}
		return holds(negated("headers matches "+infixText(name+pattern), predicate == "!="))
	}
	if sign, ok := map[string]string{"<": "<", "<=": "<=", ">": ">", ">=": ">=", "==": "==", "!=": "!=", "equals": "==", "startsWith": "starts_with", "endsWith": "ends_with", "contains": "contains", "matches": "matches"}[predicate]; ok && value != "" {
		variable := rest[1] != value && hurlTyped.MatchString(rest[1]) // which keeps its type
		switch {
		case variable && strings.ContainsAny(sign, "<>"):
			return holds(subject + " " + sign + " json_parse(" + value + ")")
		case variable && (sign == "==" || sign == "!="):
			return holds(negated(subject+" == "+value+" or not json_type("+subject+", \"string\") and "+subject+" == json_parse("+value+")", sign == "!="))
		case several && sign == "!=":
			several, present = false, "len("+all+") != 0"
			return holds("not (len(" + all + ") == 1 and " + subject + " == " + value + ")")
		case strings.ContainsAny(sign, "<>") && value != text:
			return "", "texts have no order"
		case several && sign == "contains":
			several, present = false, "len("+all+") != 0"
			return holds(value + " in " + all + " or len(" + all + ") == 1 and " + subject + " contains " + value)
		}
		return holds(subject + " " + sign + " " + value)
	}
	kind := map[string]string{"isString": "string", "isBoolean": "bool", "isNumber": "number", "isList": "list", "isObject": "dict"}[predicate]
	switch {
	case several && predicate == "isList":
		several, present = false, "len("+all+") != 0"
		return holds("len(" + all + ") > 1 or json_type(" + subject + ", \"list\")")
	case kind != "":
		return holds("json_type(" + subject + ", " + infixText(kind) + ")")
	case predicate == "isCollection":
		return holds("json_type(" + subject + ", \"dict\") or json_type(" + subject + ", \"list\")")
	case predicate == "isInteger":
		return holds("json_type(" + subject + ", \"number\") and not (" + subject + " matches \"[.eE]\")")
	case predicate == "isFloat":
		return holds("json_type(" + subject + ", \"number\") and " + subject + " matches \"[.eE]\"")
	case predicate == "exists" && query == "attribute" && (attribute[2] == "Secure" || attribute[2] == "HttpOnly"):
		return holds(subject)
	case predicate == "exists" && query == "attribute": // what is not set is empty
		return holds(map[bool]string{true: subject + " != 0", false: subject + " != \"\""}[attribute[2] == "Max-Age"])
	case predicate == "includes":
		return holds(value + " in " + subject)
	case predicate == "exists" && several:
		return negated("len("+all+") != 0", not), ""
	case predicate == "exists":
		return negated(cmp.Or(present, subject+" != null"), not), ""
	case predicate == "isEmpty":
		return holds("len(" + subject + ") == 0")
	}
	return "", predicate + " has no counterpart"
}

// hurlPresent is the condition that a path leads somewhere, perhaps to null.
func hurlPresent(path string, several bool) string {
	if m := lastName.FindStringSubmatch(path); m != nil && !several {
		return m[1] + " has " + infixText(m[2]+m[3])
	}
	if m := lastIndex.FindStringSubmatch(path); m != nil && !several {
		end, _ := strconv.Atoi(m[2])
		return "len(" + m[1] + "[" + m[2] + ":" + strings.TrimSuffix(strconv.Itoa(end+1), "0") + "]) != 0"
	}
	return "len(" + path + ") != 0"
}

// The last step of a path that leads to one place.
var (
	lastName  = regexp.MustCompile(`^(\$.*)(?:\.([A-Za-z_][A-Za-z0-9_]*)|\['([^'\\]+)'\])$`)
	lastIndex = regexp.MustCompile(`^(\$.*)\[(-?\d+)\]$`)
)

// hurlTyped is a value that is a variable, without quotes.
var hurlTyped = regexp.MustCompile(`^\{\{\s*[\w-]+\s*\}\}$`)

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

func bracketed(condition string) string {
	if strings.Contains(condition, " or ") {
		return "(" + condition + ")"
	}
	return condition
}

// infixText is a text within a condition.
func infixText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(s) + `"`
}
