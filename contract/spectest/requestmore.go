package spectest

import (
	"context"
	"encoding/base64"
	"fmt"
	"math"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/engine/doctree"
)

// requestKeys are the keys of request: those of the contract, then additions.
func requestKeys() []string {
	return []string{"method", "url", "headers", "body_text", "body_json", "basic", "bearer", "body_file", "form", "insecure", "query", "redirects", "retry"}
}

// retry is how often a request is sent again until its assertions hold.
type retry struct {
	times int
	every time.Duration
}

// requestMore reads what requests may have beyond the contract.
func (d *decoder) requestMore(q *doctree.Node) {
	r := d.c.http
	wrong := func(n *doctree.Node, key, format string, args ...any) {
		d.schema(n, "request", "request."+key, "api.http request."+key+" "+format, args...)
	}
	pairs := func(key string) (v url.Values) {
		n := q.Get(key)
		if n.IsNull() {
			return nil
		}
		if n.Kind != doctree.Map {
			wrong(n, key, "must be a mapping of names to values")
			return nil
		}
		v = url.Values{}
		for i := range n.Members {
			m := &n.Members[i]
			list := []doctree.Node{m.Value}
			if m.Value.Kind == doctree.Seq {
				list = m.Value.Items
			}
			for k := range list {
				v.Add(textOf(&m.Key), textOf(&list[k]))
			}
		}
		return v
	}
	if v := pairs("query"); v != nil && r.url != "" {
		sign := "?"
		if strings.Contains(r.url, "?") {
			sign = "&"
		}
		r.url += sign + v.Encode()
	}
	bodies := 0
	for _, key := range []string{"body_text", "body_json", "body_file", "form"} {
		if n := q.Get(key); n != nil && !n.IsNull() {
			if bodies++; bodies == 2 && (key == "body_file" || key == "form") {
				wrong(n, key, "excludes the other bodies: a request has one")
			}
		}
	}
	given := func(name string) bool {
		return slices.ContainsFunc(r.headers, func(h [2]string) bool { return strings.EqualFold(h[0], name) })
	}
	if v := pairs("form"); v != nil {
		if r.body = []byte(v.Encode()); !given("Content-Type") {
			r.headers = append(r.headers, [2]string{"Content-Type", "application/x-www-form-urlencoded"})
		}
	}
	if n := q.Get("body_file"); !n.IsNull() {
		if r.bodyFile = trimmed(n); r.bodyFile == "" || filepath.IsAbs(r.bodyFile) {
			wrong(n, "body_file", "must be a path relative to the document")
		}
	}
	authorize := func(n *doctree.Node, key, value string) {
		if given("Authorization") {
			wrong(n, key, "and another authorization exclude each other")
		}
		r.headers = append(r.headers, [2]string{"Authorization", value})
	}
	if n := q.Get("bearer"); !n.IsNull() {
		authorize(n, "bearer", "Bearer "+trimmed(n))
	}
	if n := q.Get("basic"); !n.IsNull() {
		user, password := n.Get("user"), n.Get("password")
		if n.Kind != doctree.Map || user.IsNull() || password.IsNull() || len(n.Members) != 2 {
			wrong(n, "basic", "must be {user: NAME, password: WORD}")
		} else {
			authorize(n, "basic", "Basic "+base64.StdEncoding.EncodeToString([]byte(textOf(user)+":"+textOf(password))))
		}
	}
	if n := q.Get("redirects"); !n.IsNull() {
		most, ok := integer(n)
		if !ok || n.Kind == doctree.Bool && n.Bool || most.Sign() < 0 || !most.IsInt64() || most.Int64() > 100 {
			wrong(n, "redirects", "must be how many are followed, from 0 to 100, or false for none")
		} else {
			count := int(most.Int64())
			r.redirects = &count
		}
	}
	if n := q.Get("insecure"); !n.IsNull() {
		if r.insecure = n.Bool; n.Kind != doctree.Bool {
			wrong(n, "insecure", "must be true or false, not %s", n.Kind)
		}
	}
	d.retry(q.Get("retry"), wrong)
}

func (d *decoder) retry(n *doctree.Node, wrong func(n *doctree.Node, key, format string, args ...any)) {
	if n.IsNull() {
		return
	}
	r := &d.c.http.retry
	count := n.Get("times")
	if count == nil {
		count = &doctree.Node{}
	}
	times, ok := integer(count)
	if !ok || times.Sign() <= 0 || times.BitLen() > 13 {
		wrong(n, "retry", "must be such as {times: 10, every: 500ms}: how often more it is sent until its assertions hold, at most 8191")
		return
	}
	r.times, r.every = int(times.Int64()), time.Second
	d.strange(n, "request.retry", "times", "every")
	e := n.Get("every")
	if e.IsNull() {
		return
	}
	every, err := time.ParseDuration(textOf(e))
	if s, number := e.Float(); number && s <= math.MaxInt32 {
		every, err = time.Duration(s*float64(time.Second)), nil
	}
	if err != nil || every < 0 {
		wrong(e, "retry.every", "must be a time such as 500ms, or seconds")
	}
	r.every = every
}

// callUntil sends a request until its assertions hold, or as often as it may.
func (x *executor) callUntil(ctx context.Context, c *Case) (*Failure, evidence, error) {
	for n := 0; ; n++ {
		f, notes, err := x.call(ctx, c)
		if err != nil || f == nil || n >= c.http.retry.times {
			if f != nil && n > 0 {
				f.Message += fmt.Sprintf(" (after %d tries)", n+1)
			}
			return f, notes, err
		}
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(c.http.retry.every):
		}
	}
}
