package spectest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/curl"
	"github.com/thresh-dev/thresh/engine/seq"
	"github.com/thresh-dev/thresh/engine/speclang"
	"github.com/thresh-dev/thresh/port/exchange"
)

// maxBody is the maximum size of an answer's body.
const maxBody = 16 << 20

// answer is the response to the request of an api.http case.
type answer struct {
	status  int
	headers [][2]string
	body    []byte
	raw     []byte // the body before decoding, if it was encoded

	elapsed   time.Duration
	redirects int
	url       string
	sent      []string // the lines of the requests as sent
	sentBody  []byte   // of the first request

	parsed speclang.Value
	known  bool
}

// subject implements subjects. It parses the body as JSON only when a case asks for that.
func (a *answer) subject(target string) (speclang.Value, *Failure) {
	switch target {
	case "status":
		return speclang.StringValue(strconv.Itoa(a.status)), nil
	case "headers":
		lines := seq.Map(a.headers, func(h [2]string) string { return h[0] + ": " + h[1] })
		slices.SortStableFunc(lines, func(x, y string) int {
			xn, _, _ := strings.Cut(x, ":")
			yn, _, _ := strings.Cut(y, ":")
			return strings.Compare(xn, yn)
		})
		return speclang.StringValue(validText([]byte(strings.Join(lines, "\n")))), nil
	case "body_text":
		return speclang.StringValue(validText(a.body)), nil
	case "size":
		return speclang.IntValue(int64(len(a.bytes()))), nil
	case "sha256":
		sum := sha256.Sum256(a.bytes())
		return speclang.StringValue(hex.EncodeToString(sum[:])), nil
	case "duration":
		return speclang.IntValue(a.elapsed.Milliseconds()), nil
	case "redirects":
		return speclang.IntValue(int64(a.redirects)), nil
	case "url":
		return speclang.StringValue(a.url), nil
	case "cookies":
		v, err := speclang.ParseJSON(string(a.cookies()))
		if err != nil {
			return v, &Failure{Category: Schema, Message: err.Error()}
		}
		return v, nil
	case "body_json":
		if !a.known {
			text := validText(a.body)
			v, err := speclang.ParseJSON(text)
			if err != nil {
				f := notJSON("the body", text, err)
				f.Want = "a body that is JSON"
				return v, f
			}
			a.parsed, a.known = v, true
		}
		return a.parsed, nil
	}
	return speclang.Value{}, &Failure{Category: Schema, Message: "unknown assert target for api.http: " + target}
}

// bytes is the body as received.
func (a *answer) bytes() []byte {
	if a.raw != nil {
		return a.raw
	}
	return a.body
}

// call runs an api.http case.
func (x *executor) call(ctx context.Context, c *Case) (*Failure, evidence, error) {
	a, f, err := x.request(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	var notes evidence
	if k := scheme(c.http.url); k == "http" || k == "https" {
		notes.add("request", []byte(c.http.curl(filepath.Dir(x.c.doc.path))))
		if a != nil && a.sent != nil {
			notes.add(sentNote, []byte(c.http.requestText(a)))
		}
	}
	if f != nil {
		return f, notes, nil
	}
	head, _ := a.subject("headers") // never fails
	notes.add("answer", fmt.Appendf(nil, "status %d\n%s\n\n%s", a.status, head.Text(), validText(a.body)))
	return x.eval.judge(c, a), notes, nil
}

// curl is the request as a command line. It leaves out credentials; the reader adds them.
func (r *httpCall) curl(dir string) string {
	file := func(name string) string { return filepath.Join(dir, name) }
	line := curl.Request{Method: r.method, URL: r.url, Follow: r.redirects == nil || *r.redirects > 0, Body: r.body}
	option := func(name, value string) { line.Options += " " + name + " " + curl.Word(value) }
	if line.Follow && r.redirects != nil {
		line.Options += fmt.Sprintf(" --max-redirs %d", *r.redirects)
	}
	if r.insecure {
		line.Options += " -k"
	}
	if r.jar {
		line.Options += " -b cookies.txt -c cookies.txt"
	}
	if r.bodyFile != "" {
		line.File = file(r.bodyFile)
	}
	switch r.proxy {
	case "":
	case "none":
		option("--noproxy", "*")
	default:
		option("--proxy", r.proxy)
	}
	for _, o := range [][2]string{{"--cacert", r.caFile}, {"--cert", r.certFile}, {"--key", r.keyFile}} {
		if o[1] != "" {
			option(o[0], file(o[1]))
		}
	}
	for _, p := range r.parts {
		part := p.name + "=" + curlValue(p.text)
		if p.file != "" {
			part = p.name + "=@" + curlValue(file(p.file))
		}
		if p.kind != "" {
			part += ";type=" + p.kind
		}
		if p.filename != "" {
			part += ";filename=" + p.filename
		}
		line.Form = append(line.Form, part)
	}
	for _, h := range r.headers {
		if letsIn(h[0]) {
			h[1] = "..."
		}
		line.Headers = append(line.Headers, h)
	}
	return line.String() + "\n"
}

func (x *executor) request(ctx context.Context, c *Case) (*answer, *Failure, error) {
	r := c.http
	switch kind := scheme(r.url); kind {
	case "":
		name, err := url.PathUnescape(r.url)
		if err != nil {
			name = r.url
		}
		data, f := x.readInRoot(name, "api.http request.url")
		return &answer{status: 200, body: data}, f, nil
	case "file":
		u, err := url.Parse(r.url)
		if err != nil || u.Host != "" && u.Host != "localhost" || !filepath.IsAbs(u.Path) {
			return nil, &Failure{Category: Runtime, Message: "api.http request.url names no file: " + r.url}, nil
		}
		data, err := readFile(u.Path)
		if err != nil {
			return nil, &Failure{Category: Runtime, Message: fmt.Sprintf("%s: %s", r.url, diag.Reason(err))}, nil
		}
		return &answer{status: 200, body: data}, nil, nil
	case "http", "https":
	default:
		return nil, &Failure{Category: Runtime, Message: fmt.Sprintf("api.http cannot fetch a URL of scheme %q", kind)}, nil
	}
	if x.http == nil {
		if x.c.contract.targets.HTTP == nil {
			return nil, nil, campaign.Fatal("HTTP requests cannot be made: %w", errNoTarget)
		}
		client, err := x.c.contract.targets.HTTP()
		if err != nil {
			return nil, nil, fmt.Errorf("preparing to make HTTP requests: %w", err)
		}
		x.http = client
	}
	q, f := x.outgoing(r)
	if f != nil {
		return nil, f, nil
	}
	res, err := x.http.Do(ctx, q)
	if err != nil {
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if nobody, ok := errors.AsType[*exchange.UnreachableError](err); ok && !x.c.set.expect { // this says nothing about the system under test
			return nil, nil, campaign.Transient("nothing answers at %s: %w", nobody.Server, err)
		}
		return nil, &Failure{Category: Runtime, Message: fmt.Sprintf("%s %s: %v", r.method, r.url, err)}, nil
	}
	return &answer{status: res.Status, headers: res.Headers, body: slices.Clone(res.Body), raw: slices.Clone(res.Raw),
		elapsed: res.Elapsed, redirects: res.Redirects, url: res.URL, sent: res.Sent, sentBody: q.Body}, nil, nil
}

// curlValue quotes a value for curl's -F where curl would read part of it as a file name or an
// option.
func curlValue(text string) string {
	if !strings.HasPrefix(text, "@") && !strings.HasPrefix(text, "<") && !strings.ContainsAny(text, "\";,\n") {
		return text
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// letsIn reports whether a header may carry credentials.
func letsIn(header string) bool {
	name := strings.ToLower(header)
	return slices.ContainsFunc([]string{"authorization", "cookie", "key", "token"}, func(w string) bool { return strings.Contains(name, w) })
}

// sentNote is the attachment with the request as it was sent.
const sentNote = "sent"

// requestText is the request as it was sent, with the redirects that were followed.
func (r *httpCall) requestText(a *answer) string {
	lines := []string{r.method + " " + r.url}
	var body []string
	if n := len(a.sentBody); n > maxBody {
		body = []string{"", fmt.Sprintf("[%d bytes]", n)}
	} else if n > 0 {
		body = []string{"", validText(a.sentBody)}
	}
	for _, l := range a.sent {
		if l == "" { // a redirect follows
			lines, body = append(lines, body...), nil
		}
		if name, _, ok := strings.Cut(l, ": "); ok && letsIn(name) {
			l = name + ": ..."
		}
		lines = append(lines, l)
	}
	return strings.Join(append(lines, body...), "\n") + "\n"
}

// cookieAttributes are the attributes of a cookie, by the names in [answer.cookies].
var cookieAttributes = []string{"value", "path", "domain", "max_age", "secure", "http_only", "same_site"}

// cookies returns the cookies that the answer sets, by name, as JSON.
func (a *answer) cookies() []byte {
	type cookie struct {
		Value    string `json:"value"`
		Path     string `json:"path"`
		Domain   string `json:"domain"`
		MaxAge   int    `json:"max_age"`
		Secure   bool   `json:"secure"`
		HTTPOnly bool   `json:"http_only"`
		SameSite string `json:"same_site"`
	}
	h := http.Header{}
	for _, kv := range a.headers {
		h.Add(kv[0], kv[1])
	}
	all := map[string]cookie{}
	for _, c := range (&http.Response{Header: h}).Cookies() {
		site := map[http.SameSite]string{http.SameSiteLaxMode: "lax", http.SameSiteStrictMode: "strict", http.SameSiteNoneMode: "none"}[c.SameSite]
		all[c.Name] = cookie{c.Value, c.Path, c.Domain, c.MaxAge, c.Secure, c.HttpOnly, site}
	}
	b, _ := json.Marshal(all) // texts, numbers and truth values
	return b
}
