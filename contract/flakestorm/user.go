package flakestorm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/systemfile"
)

// users reads the system files of the models that play users.
func (b *builder) users() {
	b.c.users = make(map[string]agentcall.Plan)
	for i := range b.cfg.Prompts {
		u := b.cfg.Prompts[i].User
		if u == nil {
			continue
		}
		if _, known := b.c.users[u.System]; known {
			continue
		}
		path := u.System
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(b.spec.Path), path)
		}
		plan, list := systemfile.Load(path, b.set.Read, b.set.Digest)
		if b.list = append(b.list, list...); plan == nil {
			continue
		}
		b.c.users[u.System] = agentcall.Plan{System: plan}
		b.read = append(b.read, []byte(plan.Digest))
	}
}

// userDone is what a model says when the user would say nothing more.
const userDone = "DONE"

// brief is the prompt that asks a model for a user's next message.
func brief(u *config.User, history []agentcall.Message) string {
	var b strings.Builder
	fmt.Fprintf(&b, "You play the user of an assistant. Your goal: %s\n\nThe conversation so far:\n", u.Goal)
	for _, m := range history {
		who := "Assistant"
		if m.Role == "user" {
			who = "You"
		}
		fmt.Fprintf(&b, "%s: %s\n", who, m.Text)
	}
	fmt.Fprintf(&b, "\nWrite your next message to the assistant, and nothing else. If your goal is reached, or cannot be, write %s.", userDone)
	return b.String()
}

// userSays returns the next message of a simulated user; "": there is none. If the model has
// written one in the same case, after the same conversation, it is used again without asking the
// model.
func (x *executor) userSays(ctx context.Context, u *config.User, session string, history []agentcall.Message) (string, error) {
	plan, prompt := x.c.users[u.System], x.c.hidden.String(brief(u, history)) // the model's owner must not get the agent's secrets
	sum := sha256.Sum256(fmt.Appendf(nil, "user %s %s %q", plan.System.Digest, session, prompt))
	key, kept := hex.EncodeToString(sum[:]), x.c.targets.Variants
	text, known := "", false
	if kept != nil {
		text, known = kept.Recall(key)
	}
	if !known {
		a := x.users[u.System]
		if a == nil {
			var err error
			if a, err = x.c.targets.Agents(ctx, plan, x.lane.Index, nil); err != nil {
				return "", diag.Environment("reaching the model of user.system %s: %w", u.System, err)
			}
			if x.users == nil {
				x.users = make(map[string]agentcall.Agent)
			}
			x.users[u.System] = a
		}
		r, err := a.Call(ctx, agentcall.Call{Prompt: prompt, Session: session, Timeout: writeTimeout})
		if err != nil {
			return "", fmt.Errorf("asking the model of user.system %s: %w", u.System, err)
		}
		if !r.OK() {
			return "", diag.Environment("the model of user.system %s gives no answer: %s", u.System, diag.FirstLine(r.Error))
		}
		text = x.c.hidden.String(r.Text)
		if kept != nil {
			if err := kept.Remember(key, text); err != nil {
				return "", diag.Environment("keeping what the simulated user said: %w", err)
			}
		}
	}
	text = strings.TrimSpace(text)
	if strings.Trim(text, ".!\"'` ") == userDone {
		return "", nil
	}
	return text, nil
}
