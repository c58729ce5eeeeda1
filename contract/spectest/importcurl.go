package spectest

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/lazy"
)

// curlShort maps curl's one-letter options, which are case-sensitive, to long ones. curlValued are
// the options that take a value.
var (
	curlShort = map[byte]string{
		'0': "http1.0", '1': "tlsv1", '2': "sslv2", '3': "sslv3", '4': "ipv4", '6': "ipv6", ':': "next", '#': "progress-bar",
		'a': "append", 'A': "user-agent", 'b': "cookie", 'B': "use-ascii", 'c': "cookie-jar", 'C': "continue-at", 'd': "data", 'D': "dump-header",
		'e': "referer", 'E': "cert", 'f': "fail", 'F': "form", 'g': "globoff", 'G': "get", 'h': "help", 'H': "header", 'i': "include", 'I': "head",
		'j': "junk-session-cookies", 'J': "remote-header-name", 'k': "insecure", 'K': "config", 'l': "list-only", 'L': "location", 'm': "max-time",
		'M': "manual", 'n': "netrc", 'N': "no-buffer", 'o': "output", 'O': "remote-name", 'p': "proxytunnel", 'P': "ftp-port", 'q': "disable",
		'Q': "quote", 'r': "range", 'R': "remote-time", 's': "silent", 'S': "show-error", 't': "telnet-option", 'T': "upload-file", 'u': "user",
		'U': "proxy-user", 'v': "verbose", 'V': "version", 'w': "write-out", 'x': "proxy", 'X': "request", 'y': "speed-time", 'Y': "speed-limit",
		'z': "time-cond", 'Z': "parallel",
	}
	curlValued = strings.Fields(`abstract-unix-socket alt-svc aws-sigv4 cacert capath cert cert-type ciphers config connect-timeout connect-to
		continue-at cookie cookie-jar create-file-mode crlfile curves data data-ascii data-binary data-raw data-urlencode delegation
		dns-interface dns-ipv4-addr dns-ipv6-addr dns-servers doh-url dump-header ech egd-file engine etag-compare etag-save
		expect100-timeout form form-string ftp-account ftp-alternative-to-user ftp-method ftp-port ftp-ssl-ccc-mode
		happy-eyeballs-timeout-ms haproxy-clientip header help hostpubmd5 hostpubsha256 hsts interface ip-tos ipfs-gateway json
		keepalive-cnt keepalive-time key key-type knownhosts krb libcurl limit-rate local-port login-options mail-auth mail-from mail-rcpt
		max-filesize max-redirs max-time netrc-file noproxy oauth2-bearer output output-dir parallel-max parallel-max-host pass pinnedpubkey
		preproxy proto proto-default proto-redir proxy proxy-cacert proxy-capath proxy-cert proxy-cert-type proxy-ciphers proxy-crlfile
		proxy-header proxy-key proxy-key-type proxy-pass proxy-pinnedpubkey proxy-service-name proxy-tls13-ciphers proxy-tlsauthtype
		proxy-tlspassword proxy-tlsuser proxy-user proxy1.0 pubkey quote random-file range rate referer request request-target resolve retry
		retry-delay retry-max-time sasl-authzid service-name sigalgs socks4 socks4a socks5 socks5-gssapi-service socks5-hostname speed-limit
		speed-time stderr telnet-option tftp-blksize time-cond tls-max tls13-ciphers tlsauthtype tlspassword tlsuser trace trace-ascii
		trace-config unix-socket upload-file upload-flags url url-query user user-agent variable vlan-priority write-out`)
	// curlQuiet are options that do not affect the request, only what curl prints and stores.
	curlQuiet = strings.Fields(`compressed connect-timeout cookie-jar create-dirs create-file-mode disable dump-header fail fail-early fail-with-body
		http1.1 include keepalive keepalive-time limit-rate no-clobber output output-dir parallel parallel-immediate parallel-max progress-bar
		progress-meter buffer remote-header-name remote-name remote-name-all remote-time remove-on-error retry-all-errors retry-connrefused
		show-error silent stderr styled-output tcp-nodelay trace trace-ascii trace-time verbose write-out`)
	// curlTransport are options for how to reach the server; Thresh decides that itself.
	curlTransport = strings.Fields("http1.0 http2 http2-prior-knowledge http3 http3-only ipv4 ipv6 tlsv1 tlsv1.0 tlsv1.1 tlsv1.2 tlsv1.3 tls-max")
)

// fromCurl converts command lines to cases of type api.http.
func fromCurl(m *imported, text string) {
	cases := 0
	for _, l := range shellLines(text) {
		for i := 0; l.wrong == "" && i < len(l.words); i++ {
			if w := l.words[i]; w == "--next" || w == "-:" { // another request follows
				m.curl(shellLine{number: l.number, source: l.source, words: l.words[:i]}, &cases)
				l.words, i = slices.Concat([]string{"curl"}, l.words[i+1:]), 0
			}
		}
		m.curl(l, &cases)
	}
}

// curlCall is the request of one command line, as lines of the document.
type curlCall struct {
	method, basic, timeout, uploads, retries, body string
	addresses, parts, more, query                  []string
	headers                                        [][2]string
	follow, get, insecure, hasBody, json, globs    bool
	redirects, pause                               string
}

// header adds a header; a weak one only if the command line does not give it.
func (c *curlCall) header(name, value string, weak bool) {
	for i := range c.headers {
		if h := &c.headers[i]; strings.EqualFold(h[0], name) {
			if !weak {
				h[1] += map[bool]string{true: "; ", false: ", "}[strings.EqualFold(name, "Cookie")] + value
			}
			return
		}
	}
	c.headers = append(c.headers, [2]string{name, value})
}

func (m *imported) curl(l shellLine, cases *int) {
	wrong := func(format string, args ...any) { m.report(diag.Error, l.number, l.source, format, args...) }
	switch {
	case l.wrong != "":
		wrong("the command line is more than a call of curl: %s", l.wrong)
		return
	case len(l.words) == 0 || strings.TrimSuffix(path.Base(l.words[0]), ".exe") != "curl":
		wrong("this is not a command line of curl")
		return
	}
	if l.after != "" {
		m.report(diag.Warning, l.number, l.source, "skipped what the shell does with the answer: %s", l.after)
	}
	for _, name := range usedIn(strings.Join(l.words, " "), nil) {
		m.report(diag.Warning, l.number, l.source, "$%s of the shell becomes ${%[1]s}: give its value with --var %[1]s", name)
	}
	c := curlCall{redirects: "50", pause: "1s", globs: true}
	options := true
	for i := 1; i < len(l.words); i++ {
		word := l.words[i]
		if !options || len(word) < 2 || word[0] != '-' {
			c.addresses = append(c.addresses, word)
			continue
		}
		if word == "--" {
			options = false
			continue
		}
		for rest := word[1:]; rest != ""; {
			name, value, joined, flag := "", "", false, "-"+rest[:1]
			if rest[0] == '-' {
				name, value, joined = strings.Cut(rest[1:], "=")
				flag, rest = "--"+name, ""
			} else {
				name, rest = curlShort[rest[0]], rest[1:]
				if slices.Contains(curlValued, name) && rest != "" {
					value, joined, rest = rest, true, ""
				}
			}
			if slices.Contains(curlValued, name) && !joined {
				if i++; i == len(l.words) {
					wrong("%s needs a value", flag)
					return
				}
				value = l.words[i]
			}
			if why := c.option(name, value); why == curlIgnored {
				m.report(diag.Warning, l.number, l.source, "%s is ignored: Thresh chooses how the server is reached", flag)
			} else if why != "" {
				wrong("%s %s", flag, why)
			}
		}
	}
	if len(c.addresses) == 0 {
		wrong("there is no address")
	}
	for _, address := range c.addresses {
		if c.globs && curlGlob().MatchString(address) {
			wrong("curl calls several addresses for %s: write each of them", address)
		}
		if *cases++; c.hasBody && c.parts != nil {
			wrong("-d and -F exclude each other")
		}
		c.write(m, address, *cases)
	}
	if c.basic != "" && !strings.Contains(c.basic, ":") {
		wrong("-u without a password asks for it; write NAME:PASSWORD")
	}
}

// curlGlob matches the notation for several addresses.
var curlGlob = lazy.Pattern(`\{[^}]*,[^}]*\}|\[(?:[a-zA-Z]-[a-zA-Z]|\d+-\d+)(?::\d+)?\]`)

const (
	curlIgnored  = "is ignored"
	curlRefused  = "is not imported"
	curlFileData = "@FILE has no counterpart here: write body_file by hand"
)

// option applies one option; why is the reason if it has no counterpart.
func (c *curlCall) option(name, value string) (why string) {
	switch name {
	case "request":
		c.method = value
	case "header":
		key, text, ok := strings.Cut(value, ":")
		switch key, text = strings.TrimSpace(key), strings.TrimSpace(text); {
		case strings.HasPrefix(value, "@"):
			return "@FILE has no counterpart: write its headers"
		case ok && text != "":
			c.header(key, text, false)
		case ok && strings.EqualFold(key, "Content-Type") || strings.HasSuffix(key, ";"):
			c.header(strings.TrimSuffix(key, ";"), "", false)
		case ok: // curl removes a header that it would send by default
		default:
			return "takes NAME: VALUE, not " + value
		}
	case "user-agent":
		c.header("User-Agent", value, false)
	case "referer":
		c.header("Referer", strings.TrimSuffix(value, ";auto"), false)
	case "cookie":
		if !strings.Contains(value, "=") {
			return value + ": a file of cookies has no counterpart"
		}
		c.header("Cookie", value, false)
	case "oauth2-bearer":
		c.header("Authorization", "Bearer "+value, false)
	case "range":
		c.header("Range", "bytes="+value, false)
	case "user":
		c.basic = value
	case "basic":
	case "max-time":
		c.timeout = value
	case "location", "location-trusted":
		c.follow = true
	case "no-location":
		c.follow = false
	case "max-redirs":
		if c.redirects = value; value == "-1" {
			c.redirects = "100"
		}
	case "globoff":
		c.globs = false
	case "form", "form-string":
		part, why := curlPart(value, name == "form-string")
		if why != "" {
			return why
		}
		c.parts = append(c.parts, part)
	case "proxy":
		if !strings.Contains(value, "://") {
			value = "http://" + value
		}
		c.more = append(c.more, "proxy: "+jsonText(value))
	case "cert", "cacert", "key":
		c.more = append(c.more, name+": "+jsonText(value))
	case "insecure":
		c.insecure = true
	case "get":
		c.get = true
	case "head":
		c.method = cmp.Or(c.method, "HEAD")
	case "url":
		c.addresses = append(c.addresses, value)
	case "url-query":
		c.query = append(c.query, strings.TrimPrefix(value, "+"))
		if !strings.HasPrefix(value, "+") {
			c.query[len(c.query)-1], why = curlEncoded(value)
		}
	case "data", "data-ascii", "data-raw", "data-binary", "json":
		file, is := strings.CutPrefix(value, "@")
		if c.json = c.json || name == "json"; c.hasBody && !is && name != "json" {
			value = "&" + value
		}
		switch {
		case !is || name == "data-raw":
			c.body, c.hasBody = c.body+value, true
		case c.hasBody || c.uploads != "" || file == "-" || name == "data" || name == "data-ascii":
			return curlFileData
		default:
			c.more, c.uploads = append(c.more, "body_file: "+jsonText(file)), "POST"
		}
	case "data-urlencode":
		text, why := curlEncoded(value)
		if why != "" {
			return why
		}
		if c.hasBody {
			text = "&" + text
		}
		c.body, c.hasBody = c.body+text, true
	case "upload-file":
		if value == "-" || value == "." {
			return value + ": standard input has no counterpart"
		}
		c.more, c.uploads = append(c.more, "body_file: "+jsonText(value)), "PUT"
	case "retry":
		c.retries = value
	case "retry-delay":
		c.pause = value + "s"
	default:
		switch {
		case slices.Contains(curlQuiet, strings.TrimPrefix(name, "no-")), slices.Contains(curlQuiet, name):
		case slices.Contains(curlTransport, name):
			return curlIgnored
		default:
			return curlRefused
		}
	}
	return why
}

// curlEncoded converts TEXT, =TEXT or NAME=TEXT with the text percent-encoded.
func curlEncoded(value string) (text, why string) {
	name, text, named := strings.Cut(value, "=")
	if !named {
		name, text = "", value
	}
	if !named && strings.Contains(value, "@") {
		return "", value + ": a file that is encoded has no counterpart"
	}
	if text = strings.ReplaceAll(url.QueryEscape(text), "+", "%20"); name != "" {
		text = name + "=" + text
	}
	return text, ""
}

// write writes the case for one address.
func (c curlCall) write(m *imported, address string, number int) {
	if scheme(address) == "" || !strings.Contains(address, "://") {
		address = "http://" + address
	}
	query := c.query
	if c.get && c.hasBody {
		query = append(slices.Clip(query), c.body)
		c.hasBody = false
	}
	if len(query) > 0 {
		address += map[bool]string{true: "&", false: "?"}[strings.Contains(address, "?")] + strings.Join(query, "&")
	}
	if c.json {
		c.header("Content-Type", "application/json", true)
		c.header("Accept", "application/json", true)
	}
	if (c.hasBody || c.uploads == "POST") && len(c.parts) == 0 {
		c.header("Content-Type", "application/x-www-form-urlencoded", true)
	}
	if c.retries != "" {
		c.more = append(c.more, "retry: {times: "+c.retries+", every: "+c.pause+"}")
	}
	if c.method = cmp.Or(c.method, c.uploads, "GET"); c.method == "GET" && (c.hasBody || c.parts != nil) {
		c.method = "POST"
	}
	if !c.follow {
		c.redirects = "false"
	}
	fmt.Fprintf(m, "```yaml spec-test\nid: CURL-%03d\ntype: api.http\nrequest:\n  method: %s\n  url: %s\n  redirects: %s\n",
		number, jsonText(c.method), jsonText(address), c.redirects)
	c.headers = slices.DeleteFunc(c.headers, func(h [2]string) bool { return h[0] == "" })
	if len(c.headers) > 0 {
		m.WriteString("  headers:\n")
		for _, h := range c.headers {
			fmt.Fprintf(m, "    %s: %s\n", jsonText(h[0]), jsonText(h[1]))
		}
	}
	if user, password, ok := strings.Cut(c.basic, ":"); ok {
		fmt.Fprintf(m, "  basic: {user: %s, password: %s}\n", jsonText(user), jsonText(password))
	}
	if c.hasBody {
		fmt.Fprintf(m, "  body_text: %s\n", jsonText(c.body))
	}
	if len(c.parts) > 0 {
		fmt.Fprintf(m, "  multipart:\n    %s\n", strings.Join(c.parts, "\n    "))
	}
	for _, l := range c.more {
		m.WriteString("  " + l + "\n")
	}
	if c.insecure {
		m.WriteString("  insecure: true\n")
	}
	if c.timeout != "" {
		fmt.Fprintf(m, "harness: {timeout_seconds: %s}\n", c.timeout)
	}
	m.WriteString("assert:\n  - when: status == 200\n```\n\n")
}

// curlPart converts a form part as -F takes it: NAME=TEXT or NAME=@FILE, with ;type= and
// ;filename=.
func curlPart(text string, literal bool) (part, why string) {
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return "", "takes NAME=TEXT or NAME=@FILE, not " + text
	}
	key, options := "text", ""
	if literal {
		return jsonText(name) + ": {text: " + jsonText(value) + "}", ""
	}
	if strings.HasPrefix(value, "<") || value == "@-" {
		return "", text + ": the text of a file, and standard input, have no counterpart"
	}
	value, options, _ = strings.Cut(value, ";")
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
			return "", text + ": " + k + " has no counterpart"
		}
	}
	return part + "}", ""
}
