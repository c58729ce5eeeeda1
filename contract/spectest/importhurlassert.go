package spectest

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/engine/jsonpath"
	"github.com/thresh-dev/thresh/engine/lazy"
)

func hurlCapture(text string) (what, why string) {
	words := hurlWords(text)
	more := ""
	if n := len(words); n > 1 && words[n-1] == "redact" {
		words, more = words[:n-1], ", secret: true"
	}
	if len(words) == 0 {
		return "", "expected a query such as jsonpath \"$.id\""
	}
	query, arg := words[0], ""
	words = words[1:]
	if !slices.Contains([]string{"body", "bytes", "status", "sha256", "url", "duration"}, query) && len(words) > 0 {
		arg, words = words[0], words[1:]
	}
	if query == "bytes" && len(words) > 0 && words[0] == "count" {
		query, words = "size", words[1:]
	}
	filters, rest, why := hurlFiltered(words)
	switch {
	case query == "cookie" && hurlAttribute().MatchString(hurlString(arg)):
		return "", "attributes of cookies cannot be captured"
	case why != "":
		return "", why
	case len(rest) > 0:
		return "", "there is no filter " + rest[0]
	case filters != "":
		more = ", filter: " + jsonText(strings.TrimPrefix(filters, " | ")) + more
	}
	switch said := jsonText(hurlText(hurlString(arg))); query {
	case "jsonpath":
		if _, err := jsonpath.Compile(hurlString(arg)); err != nil {
			return "", err.Error()
		}
		return "{json: " + said + more + "}", ""
	case "header", "cookie", "regex", "xpath":
		if arg == "" {
			return "", "expected a query such as jsonpath \"$.id\""
		}
		return "{" + query + ": " + said + more + "}", ""
	case "body":
		return "{target: body_text" + more + "}", ""
	case "status", "sha256", "size", "url", "duration":
		return "{target: " + query + more + "}", ""
	}
	return "", "there is no " + query
}

// hurlFiltered converts the filters at the beginning of some words to the form of conditions.
func hurlFiltered(words []string) (filters string, rest []string, why string) {
	for rest = words; len(rest) > 0; {
		name := strings.ToLower(upper().ReplaceAllString(rest[0], "_$0"))
		name = cmp.Or(map[string]string{"jsonpath": "json", "base64_url_safe_decode": "base64_url_decode", "base64_url_safe_encode": "base64_url_encode"}[name], name)
		kind, known := filterKinds[name]
		switch {
		case slices.Contains([]string{"utf8_decode", "utf8_encode", "decode", "charset_decode"}, name): // texts are UTF-8
			if rest = rest[1:]; strings.Contains(name, "8_") {
				continue
			}
			if len(rest) == 0 || !strings.EqualFold(hurlString(rest[0]), "utf-8") {
				return "", nil, "the filter decode has a counterpart only for UTF-8"
			}
			rest = rest[1:]
			continue
		case slices.Contains([]string{"days_after_now", "days_before_now", "to_date", "format", "date_format", "to_hex", "location"}, name):
			return "", nil, "the filter " + rest[0] + " has no counterpart"
		case !known || len(rest) <= len(kind.takes):
			return filters, rest, ""
		}
		var args []string
		for i, w := range rest[1 : 1+len(kind.takes)] {
			if text := hurlText(hurlString(w)); kind.takes[i] == 't' {
				w = infixText(text)
			}
			args = append(args, w)
		}
		filters, rest = filters+" | "+name, rest[1+len(args):]
		if args != nil {
			filters += "(" + strings.Join(args, ", ") + ")"
		}
	}
	return filters, rest, ""
}

var upper = lazy.Pattern(`[A-Z]`)

// hurlAssert converts an assertion to a condition.
func hurlAssert(l string) (when, why string) {
	words := hurlWords(l)
	if len(words) < 2 {
		return "", "it has no predicate"
	}
	query, rest, arg := words[0], words[1:], ""
	guard := "" // must hold as well, even if a predicate is negated
	defer func() {
		if guard != "" && when != "" {
			when = guard + " and " + bracketed(when)
		}
	}()
	if query == "regex" { // a filter on the body
		query, rest = "body", words
	}
	if slices.Contains([]string{"header", "cookie", "jsonpath", "xpath"}, query) {
		arg, rest = hurlString(rest[0]), rest[1:]
	}
	subject, known := map[string]string{"status": "status", "body": "body_text", "sha256": "sha256", "bytes": "size", "url": "url", "duration": "duration", "redirects": "redirects", "jsonpath": arg, "xpath": "xpath(" + infixText(arg) + ")", "header": "header(" + infixText(arg) + ")", "cookie": ""}[query]
	if !known {
		return "", "there is no " + query
	}
	several := false // the path may match several places
	present := ""    // the subject exists: without a value, Hurl lets != fail
	switch query {
	case "jsonpath":
		p, err := jsonpath.Compile(arg)
		if err != nil {
			return "", err.Error()
		}
		several = !p.Single()
		present = hurlPresent(arg, several)
	case "xpath", "header":
		present = subject + " != null"
	case "cookie":
		attribute := ""
		if m := hurlAttribute().FindStringSubmatch(arg); m != nil {
			if arg, attribute = m[1], hurlAttributes[m[2]]; attribute == "" {
				return "", "the attribute " + m[2] + " of a cookie has no counterpart"
			}
			query = attribute
			if attribute != "value" {
				attribute = ", " + infixText(attribute)
			} else {
				attribute = ""
			}
		}
		subject = "cookie(" + infixText(arg) + attribute + ")"
		present = subject + " != null"
	}
	if counted := len(rest) > 0 && rest[0] == "count"; query == "redirects" && !counted {
		return "", "only the number of redirects has a counterpart"
	} else if counted && len(rest) > 1 {
		switch rest = rest[1:]; query {
		case "bytes", "redirects":
		case "xpath":
			subject, present = "xpath("+infixText("count("+arg+")")+")", ""
		case "header":
			guard, subject, present = "json_type("+subject+", \"list\")", "len("+subject+")", "" // a single value is not a list
		case "jsonpath":
			if guard = "json_type(" + subject + ", \"list\")"; several {
				guard = "len(" + subject + ") > 1"
			}
			subject, several, present = "len("+subject+")", false, ""
		default:
			return "", "the result of " + query + " cannot be counted"
		}
	}
	if filters, more, why := hurlFiltered(rest); why != "" {
		return "", why
	} else if filters != "" {
		if query == "bytes" || query == "redirects" {
			return "", "filters of " + query + " have no counterpart"
		}
		last := filters[strings.LastIndex(filters, " | ")+3:]
		mayLack := regexp.MustCompile(`^(?:regex|json|xpath|url_query_param)\(`).MatchString(last)
		if slices.Equal(more, []string{"not", "exists"}) && !mayLack {
			return "", "after " + last + " there is always a value"
		}
		if slices.ContainsFunc(more, func(w string) bool { return w == "not" || w == "!=" || w == "null" }) { // these hold without a value, too
			guard = present
		}
		switch {
		case several && regexp.MustCompile(`^ \| (?:nth|first|last)`).MatchString(filters): // a single match is not a list
			guard = "len(" + subject + ") > 1"
		case several:
			guard, subject = "len("+subject+") == 1", subject+" | first"
		}
		subject, rest, several = subject+filters, more, false
		if present = subject + " != null"; !mayLack && slices.Contains(more, "not") {
			guard, present = strings.TrimPrefix(guard+" and "+present, " and "), ""
		}
	} else if query == "bytes" && subject == "size" && !slices.Contains(words, "count") {
		return "", "only the number of bytes has a counterpart"
	}
	not := len(rest) > 0 && rest[0] == "not"
	if not {
		rest = rest[1:]
	}
	if len(rest) == 0 || len(rest) > 2 {
		return "", "there is no filter or predicate " + cmp.Or(strings.Join(rest[:min(1, len(rest))], ""), "behind it")
	}
	predicate, value, text := rest[0], "", ""
	all := subject
	if several && predicate != "includes" && predicate != "isEmpty" { // the single match
		subject, present = "get("+subject+", 0)", "len("+subject+") == 1"
	}
	// holds adds the condition that the subject exists.
	holds := func(condition string) (string, string) {
		if present != "" && (not || several || predicate == "!=" || value == "null") {
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
		encoded, coded := hurlBytes(rest[1])
		switch {
		case query == "sha256":
			text = strings.TrimSuffix(strings.TrimPrefix(text, "hex,"), ";")
			value = infixText(text)
		case coded && !utf8.Valid(encoded):
			return "", "bytes that are not UTF-8 have no counterpart"
		case coded:
			value = infixText(string(encoded))
		case query == "same_site" && !slices.Contains([]string{"Lax", "Strict", "None"}, text):
			return "", "SameSite is Lax, Strict or None"
		case query == "same_site":
			value = infixText(strings.ToLower(text))
		}
	}
	if sign, ok := map[string]string{"<": "<", "<=": "<=", ">": ">", ">=": ">=", "==": "==", "!=": "!=", "equals": "==", "startsWith": "starts_with", "endsWith": "ends_with", "contains": "contains", "matches": "matches"}[predicate]; ok && value != "" {
		variable := rest[1] != value && hurlTyped().MatchString(rest[1]) // it keeps its type
		switch {
		case variable && strings.ContainsAny(sign, "<>"):
			return holds(subject + " " + sign + " json_parse(" + value + ")")
		case variable && (sign == "==" || sign == "!="):
			return holds(negated(subject+" == "+value+" or not json_type("+subject+", \"string\") and "+subject+" == json_parse("+value+")", sign == "!="))
		case query == "jsonpath" && hurlAlike[value] != "" && (sign == "==" || sign == "!="): // spec-lang treats 1 and true as equal
			return holds(negated(bracketed(subject+" == "+value+" and json_type("+subject+", "+infixText(hurlAlike[value])+")"), sign == "!="))
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
	case predicate == "isCollection" && several:
		several, present = false, "len("+all+") != 0"
		return holds("len(" + all + ") > 1 or json_type(" + subject + ", \"dict\") or json_type(" + subject + ", \"list\")")
	case hurlForms[predicate] != "":
		return holds(subject + " matches " + infixText(hurlForms[predicate]))
	case predicate == "isCollection":
		return holds("json_type(" + subject + ", \"dict\") or json_type(" + subject + ", \"list\")")
	case predicate == "isInteger":
		return holds("json_type(" + subject + ", \"number\") and not (" + subject + " matches \"[.eE]\")")
	case predicate == "isFloat":
		return holds("json_type(" + subject + ", \"number\") and " + subject + " matches \"[.eE]\"")
	case predicate == "exists" && (query == "secure" || query == "http_only"):
		return holds(subject)
	case predicate == "exists" && query == "max_age": // an unset attribute is empty
		return holds(subject + " != 0")
	case predicate == "exists" && (query == "path" || query == "domain" || query == "same_site"):
		return holds(subject + " != \"\"")
	case predicate == "includes":
		return holds(value + " in " + subject)
	case predicate == "exists" && several:
		return negated("len("+all+") != 0", not), ""
	case predicate == "exists":
		return negated(cmp.Or(present, subject+" != null"), not), ""
	case predicate == "isEmpty" && query == "xpath":
		return negated(subject+" == null or len("+subject+") == 0", not), ""
	case predicate == "isEmpty":
		return holds("len(" + subject + ") == 0")
	}
	return "", predicate + " has no counterpart"
}

// hurlAlike are values that spec-lang treats as equal to a value of another type, with their type.
var hurlAlike = map[string]string{"0": "number", "1": "number", "0.0": "number", "1.0": "number", "true": "bool", "false": "bool"}

// hurlForms are the patterns of texts with a fixed form.
var hurlForms = map[string]string{
	"isIpv4":    `^((25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])(\.(?!$)|$)){4}$`,
	"isIsoDate": `^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})$`,
	"isUuid":    `^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`,
}

// hurlBytes decodes bytes written as hex,...; or base64,...;
func hurlBytes(w string) (b []byte, coded bool) {
	decode, text := hex.DecodeString, ""
	if text, coded = strings.CutPrefix(w, "hex,"); !coded {
		text, coded = strings.CutPrefix(w, "base64,")
		decode = base64.StdEncoding.DecodeString
	}
	b, err := decode(strings.TrimSuffix(text, ";"))
	return b, coded && err == nil
}

// hurlPresent is the condition that a path matches, even if the value is null.
func hurlPresent(path string, several bool) string {
	if m := lastName().FindStringSubmatch(path); m != nil && !several {
		return m[1] + " has " + infixText(m[2]+m[3])
	}
	if m := lastIndex().FindStringSubmatch(path); m != nil && !several {
		end, _ := strconv.Atoi(m[2])
		return "len(" + m[1] + "[" + m[2] + ":" + strings.TrimSuffix(strconv.Itoa(end+1), "0") + "]) != 0"
	}
	return "len(" + path + ") != 0"
}

// The last step of a path that matches at most one place.
var (
	lastName  = lazy.Pattern(`^(\$.*)(?:\.([A-Za-z_][A-Za-z0-9_]*)|\['([^'\\]+)'\])$`)
	lastIndex = lazy.Pattern(`^(\$.*)\[(-?\d+)\]$`)
)

// hurlTyped matches a value that is an unquoted variable.
var hurlTyped = lazy.Pattern(`^\{\{\s*[\w-]+\s*\}\}$`)

// hurlAttribute matches a cookie and one of its attributes.
var hurlAttribute = lazy.Pattern(`^(.+)\[([A-Za-z-]+)\]$`)

// hurlAttributes maps the attributes of cookies to their names in cases.
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

// infixText is a text as a literal of a condition.
func infixText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(s) + `"`
}
