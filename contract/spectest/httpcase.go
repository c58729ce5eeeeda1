package spectest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/speclang"
	"github.com/thresh-dev/thresh/port/exchange"
)

// maxBody is how much a server may answer.
const maxBody = 16 << 20

// answer is what a request of an api.http case came to.
type answer struct {
	status  int
	headers [][2]string
	body    []byte

	parsed speclang.Value
	known  bool
}

// subject implements subjects. The body is read as JSON only when a case looks
// at it that way.
func (a *answer) subject(target string) (speclang.Value, *Failure) {
	switch target {
	case "status":
		return speclang.StringValue(strconv.Itoa(a.status)), nil
	case "headers":
		lines := make([]string, len(a.headers))
		for i, h := range a.headers {
			lines[i] = h[0] + ": " + h[1]
		}
		slices.SortStableFunc(lines, func(x, y string) int {
			xn, _, _ := strings.Cut(x, ":")
			yn, _, _ := strings.Cut(y, ":")
			return strings.Compare(xn, yn)
		})
		return speclang.StringValue(validText([]byte(strings.Join(lines, "\n")))), nil
	case "body_text":
		return speclang.StringValue(validText(a.body)), nil
	case "size":
		return speclang.IntValue(int64(len(a.body))), nil
	case "sha256":
		sum := sha256.Sum256(a.body)
		return speclang.StringValue(hex.EncodeToString(sum[:])), nil
	case "body_json":
		if !a.known {
			v, err := speclang.ParseJSON(validText(a.body))
			if err != nil {
				return v, &Failure{Category: Schema, Message: "the body is not JSON: " + err.Error(), Want: "a body that is JSON", notJSON: true}
			}
			a.parsed, a.known = v, true
		}
		return a.parsed, nil
	}
	return speclang.Value{}, &Failure{Category: Schema, Message: "unknown assert target for api.http: " + target}
}

// call runs an api.http case.
func (x *executor) call(ctx context.Context, c *Case) (*Failure, evidence, error) {
	a, f, err := x.request(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	var notes evidence
	if k := scheme(c.http.url); k == "http" || k == "https" {
		notes.add("request", []byte(c.http.curl()))
	}
	if f != nil {
		return f, notes, nil
	}
	head, _ := a.subject("headers") // never fails
	notes.add("answer", fmt.Appendf(nil, "status %d\n%s\n\n%s", a.status, head.Text(), validText(a.body)))
	return x.eval.judge(c, a), notes, nil
}

// curl is the request as a command line. Values that let somebody in are left to
// the reader.
func (r *httpCall) curl() string {
	quoted := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	line := "curl -i -L -X " + r.method + " " + quoted(r.url)
	if r.redirects != nil && *r.redirects == 0 {
		line = strings.Replace(line, " -L", "", 1)
	} else if r.redirects != nil {
		line += fmt.Sprintf(" --max-redirs %d", *r.redirects)
	}
	if r.insecure {
		line += " -k"
	}
	if r.bodyFile != "" {
		line += " --data-binary " + quoted("@"+r.bodyFile)
	}
	for _, h := range r.headers {
		name, value := strings.ToLower(h[0]), h[1]
		if strings.Contains(name, "authorization") || strings.Contains(name, "cookie") || strings.Contains(name, "key") || strings.Contains(name, "token") {
			value = "..."
		}
		line += " \\\n  -H " + quoted(h[0]+": "+value)
	}
	if r.body != nil {
		line += " \\\n  --data-binary " + quoted(validText(r.body))
	}
	return line + "\n"
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
			return nil, nil, fmt.Errorf("getting ready to make HTTP requests: %w", err)
		}
		x.http = client
	}
	body := r.body
	if r.bodyFile != "" {
		data, f := x.readInRoot(r.bodyFile, "api.http request.body_file")
		if f != nil {
			return nil, f, nil
		}
		body = data
	}
	res, err := x.http.Do(ctx, exchange.Request{
		Method: r.method, URL: r.url, Headers: r.headers, Body: body, Timeout: r.timeout, MaxBody: maxBody, Redirects: r.redirects, Insecure: r.insecure,
	})
	if err != nil {
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		var nobody *exchange.UnreachableError
		if errors.As(err, &nobody) && !x.c.set.expect { // which says nothing of what is tested
			return nil, nil, campaign.Transient("nothing answers at %s: %w", nobody.Server, err)
		}
		return nil, &Failure{Category: Runtime, Message: fmt.Sprintf("%s %s: %v", r.method, r.url, err)}, nil
	}
	return &answer{status: res.Status, headers: res.Headers, body: slices.Clone(res.Body)}, nil, nil
}
