package spectest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// imported is a document made of another tool's, and what it could not say.
type imported struct {
	strings.Builder
	file string
	list diag.List
}

func (m *imported) report(level diag.Level, line int, source, format string, args ...any) {
	m.list = append(m.list, diag.Diagnostic{Code: "spectest.syntax", Level: level, Pos: diag.Pos{File: m.file, Line: line, Col: 1}, Message: fmt.Sprintf(format, args...), Source: source})
}

func importCommand() campaign.Command {
	return campaign.Command{
		Use:     "import FORMAT FILE",
		Summary: "Convert cram tests, Hurl files or curl command lines into a document",
		Long: `Import reads tests of another tool and prints a Markdown document. FORMAT is cram
(a .t file, which becomes transcripts), hurl (a .hurl file, whose entries become cases
of type api.http that run one after the other) or curl (command lines, which become
such cases); FILE may be - for standard input. What has no counterpart is
reported with its line: an error if the document would say something else.

Exit codes: 0 all of it was imported, perhaps with warnings, 2 it was refused.`,
		Example: `  thresh spectest import cram tests/list.t > list.md
  thresh spectest import hurl shop.hurl > shop.spec.md
  echo "curl -H 'Accept: text/plain' http://localhost:8080/orders" | thresh spectest import curl - > orders.spec.md`,
		Least: 2, Most: 2,
		Run: func(_ context.Context, d campaign.Desk, args []string) error {
			read := map[string]func(*imported, string){"cram": fromCram, "hurl": fromHurl, "curl": fromCurl}[args[0]]
			if read == nil {
				err := diag.Refused("nothing is imported from %s: known are cram, curl, hurl", args[0])
				if hint := diag.DidYouMean(args[0], []string{"cram", "curl", "hurl"}); hint != "" {
					err = diag.WithHint(err, hint)
				}
				return err
			}
			in := io.NopCloser(d.In())
			if args[1] != "-" {
				f, err := d.Open(args[1])
				if err != nil {
					return diag.Refused("%s: %s", args[1], diag.Reason(err))
				}
				in = f
			}
			defer in.Close()
			text, err := io.ReadAll(io.LimitReader(in, campaign.MaxDocument))
			if err != nil {
				return diag.Environment("%s: %s", args[1], diag.Reason(err))
			}
			m := &imported{file: args[1]}
			read(m, strings.ReplaceAll(string(text), "\r\n", "\n"))
			if m.Len() == 0 && !m.list.HasErrors() {
				m.report(diag.Error, 1, "", "there is nothing to import")
			}
			if m.list.HasErrors() {
				return m.list
			}
			d.Warn(m.list)
			_, err = io.WriteString(d.Out(), m.String())
			return err
		},
	}
}

// fromCurl makes cases of type api.http of command lines.
func fromCurl(m *imported, text string) {
	number, cases := 0, 0
	var command string
	first := 1
	for l := range strings.Lines(text + "\n") {
		number++
		l = strings.TrimSpace(strings.TrimRight(l, "\n"))
		if command == "" {
			first = number
		}
		if part, more := strings.CutSuffix(l, `\`); more {
			command += part + " "
			continue
		}
		command = strings.TrimPrefix(strings.TrimSpace(command+l), "$ ")
		if command != "" && !strings.HasPrefix(command, "#") {
			cases++
			m.curl(command, first, cases)
		}
		command = ""
	}
}

// curlQuiet are flags that say nothing of the request; those that take a value
// are in curlValued.
var (
	curlQuiet  = []string{"-s", "--silent", "-S", "--show-error", "-i", "--include", "-v", "--verbose", "-sS", "--compressed", "-f", "--fail", "-#", "--http1.1"}
	curlValued = []string{"-X", "--request", "-H", "--header", "-d", "--data", "--data-raw", "--data-binary", "--data-ascii", "-u", "--user", "-A", "--user-agent",
		"-b", "--cookie", "-m", "--max-time", "--url", "--json", "-o", "--output", "-e", "--referer", "--max-redirs",
		"-F", "--form", "-x", "--proxy", "--cacert", "-E", "--cert", "--key", "--data-urlencode", "-T", "--upload-file", "--retry", "--retry-delay", "--connect-timeout"}
)

func (m *imported) curl(command string, line, number int) {
	words, why := splitCommand(command)
	if why != "" || words[0] != "curl" {
		m.report(diag.Error, line, command, "this is no curl command line: it begins with curl, and quotes are closed")
		return
	}
	method, address, basic, timeout, redirects := "", "", "", "", "false"
	var headers [][2]string
	var data, parts, more []string
	get, insecure, typed := false, false, false
	uploads, retries, pause := "", "", "1s" // uploads is the method that a file is sent by
	header := func(text string) {
		name, value, _ := strings.Cut(text, ":")
		headers = append(headers, [2]string{strings.TrimSpace(name), strings.TrimSpace(value)})
		typed = typed || strings.EqualFold(strings.TrimSpace(name), "Content-Type")
	}
	for i := 1; i < len(words); i++ {
		flag, value, joined := strings.Cut(words[i], "=")
		if !strings.HasPrefix(flag, "--") || !joined {
			flag, value = words[i], ""
		}
		if len(flag) > 2 && flag[0] == '-' && flag[1] != '-' && slices.Contains(curlValued, flag[:2]) {
			flag, value = flag[:2], flag[2:]
		}
		if slices.Contains(curlValued, flag) && value == "" {
			if i++; i == len(words) {
				m.report(diag.Error, line, command, "%s needs a value", flag)
				return
			}
			value = words[i]
		}
		switch flag {
		case "-X", "--request":
			method = value
		case "-H", "--header":
			header(value)
		case "-A", "--user-agent":
			header("User-Agent: " + value)
		case "-e", "--referer":
			header("Referer: " + value)
		case "-b", "--cookie":
			header("Cookie: " + value)
		case "-u", "--user":
			basic = value
		case "-m", "--max-time":
			timeout = value
		case "-L", "--location":
			redirects = "50"
		case "--max-redirs":
			redirects = value
		case "-F", "--form":
			part, why := curlPart(value)
			if why != "" {
				m.report(diag.Error, line, command, "%s", why)
			}
			parts = append(parts, part)
		case "-x", "--proxy":
			if scheme(value) == "" || !strings.Contains(value, "://") {
				value = "http://" + value
			}
			more = append(more, "proxy: "+jsonText(value))
		case "-E", "--cert", "--cacert", "--key":
			name := strings.TrimLeft(flag, "-")
			if name == "E" {
				name = "cert"
			}
			more = append(more, name+": "+jsonText(value))
		case "-k", "--insecure":
			insecure = true
		case "-G", "--get":
			get = true
		case "-I", "--head":
			method = "HEAD"
		case "--url":
			address = value
		case "-o", "--output":
		case "-d", "--data", "--data-raw", "--data-binary", "--data-ascii", "--json":
			if name, is := strings.CutPrefix(value, "@"); is && (flag == "--data-binary" || flag == "--json") {
				more, uploads = append(more, "body_file: "+jsonText(name)), cmp.Or(uploads, "POST")
			} else if is && flag != "--data-raw" {
				m.report(diag.Error, line, command, "%s @FILE has no counterpart here: write body_file by hand", flag)
			}
			if uploads == "" {
				data = append(data, value)
			}
			if flag == "--json" {
				header("Content-Type: application/json")
				header("Accept: application/json")
			}
		case "--data-urlencode":
			name, text, named := strings.Cut(value, "=")
			if !named {
				name, text = "", value
			}
			if strings.HasPrefix(value, "@") || !named && strings.Contains(value, "@") {
				m.report(diag.Error, line, command, "%s %s: a file that is encoded has no counterpart", flag, value)
			}
			if text = strings.ReplaceAll(url.QueryEscape(text), "+", "%20"); name != "" {
				text = name + "=" + text
			}
			data = append(data, text)
		case "-T", "--upload-file":
			more, uploads = append(more, "body_file: "+jsonText(value)), "PUT"
		case "--retry":
			retries = value
		case "--retry-delay":
			pause = value + "s"
		case "--connect-timeout":
		default:
			switch {
			case slices.Contains(curlQuiet, flag):
			case strings.HasPrefix(flag, "-"):
				m.report(diag.Error, line, command, "%s is not imported", flag)
			case address != "":
				m.report(diag.Error, line, command, "there are two addresses: %s and %s", address, flag)
			default:
				address = flag
			}
		}
	}
	if address == "" {
		m.report(diag.Error, line, command, "there is no address")
	}
	if scheme(address) == "" || !strings.Contains(address, "://") {
		address = "http://" + address
	}
	body := strings.Join(data, "&")
	switch {
	case get && body != "":
		sign := "?"
		if strings.Contains(address, "?") {
			sign = "&"
		}
		address, data = address+sign+body, nil
	case (data != nil || uploads == "POST") && !typed:
		header("Content-Type: application/x-www-form-urlencoded")
	}
	if retries != "" {
		more = append(more, "retry: {times: "+retries+", every: "+pause+"}")
	}
	if method = cmp.Or(method, uploads); method == "" {
		method = map[bool]string{true: "POST", false: "GET"}[data != nil || parts != nil]
	}
	if data != nil && parts != nil {
		m.report(diag.Error, line, command, "-d and -F exclude each other")
	}
	quoted := func(s string) string { b, _ := json.Marshal(s); return string(b) } // a string can always be written
	fmt.Fprintf(m, "```yaml spec-test\nid: CURL-%03d\ntype: api.http\nrequest:\n  method: %s\n  url: %s\n  redirects: %s\n", number, quoted(method), quoted(address), redirects)
	if len(headers) > 0 {
		m.WriteString("  headers:\n")
		for _, h := range headers {
			fmt.Fprintf(m, "    %s: %s\n", quoted(h[0]), quoted(h[1]))
		}
	}
	if user, password, ok := strings.Cut(basic, ":"); ok {
		fmt.Fprintf(m, "  basic: {user: %s, password: %s}\n", quoted(user), quoted(password))
	} else if basic != "" {
		m.report(diag.Error, line, command, "-u without a password asks for it; write NAME:PASSWORD")
	}
	if data != nil {
		fmt.Fprintf(m, "  body_text: %s\n", quoted(body))
	}
	if len(parts) > 0 {
		fmt.Fprintf(m, "  multipart:\n    %s\n", strings.Join(parts, "\n    "))
	}
	for _, l := range more {
		m.WriteString("  " + l + "\n")
	}
	if insecure {
		m.WriteString("  insecure: true\n")
	}
	if timeout != "" {
		fmt.Fprintf(m, "harness: {timeout_seconds: %s}\n", timeout)
	}
	m.WriteString("assert:\n  - when: status == 200\n```\n\n")
}

// curlPart is a part of a form as -F has it: NAME=TEXT or NAME=@FILE, with ;type= and
// ;filename=.
func curlPart(text string) (part, why string) {
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return "", "-F takes NAME=TEXT or NAME=@FILE, not " + text
	}
	value, options, _ := strings.Cut(value, ";")
	key := "text"
	if file, is := strings.CutPrefix(value, "@"); is {
		key, value = "file", file
	}
	part = fmt.Sprintf("%s: {%s: %s", jsonText(name), key, jsonText(value))
	for option := range strings.SplitSeq(options, ";") {
		k, v, _ := strings.Cut(strings.TrimSpace(option), "=")
		switch k {
		case "":
		case "type", "filename":
			part += ", " + k + ": " + jsonText(strings.Trim(v, `"`))
		default:
			return "", "-F " + text + ": " + k + " has no counterpart"
		}
	}
	return part + "}", ""
}
