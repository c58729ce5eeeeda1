package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
)

// devtools speaks the protocol of a Chromium's developer tools over the pipes of
// one that this process started: lines of JSON that end with a zero byte.
type devtools struct {
	cmd  *exec.Cmd
	dir  string // its profile
	to   *os.File
	mu   sync.Mutex
	next int
	wait map[int]chan reply
	hear map[string]func(event) // by session
	gone error                  // why nothing is answered any more
}

// reply is the answer to a command.
type reply struct {
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// event is what happened in a tab.
type event struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// startChromium starts a Chromium without a window.
func startChromium(exe string) (*devtools, error) {
	dir, err := os.MkdirTemp("", "thresh-chromium-")
	if err != nil {
		return nil, err
	}
	args := []string{
		"--headless", "--remote-debugging-pipe", "--user-data-dir=" + dir, "--no-first-run", "--no-default-browser-check", "--disable-gpu",
		"--disable-background-networking", "--disable-component-update", "--disable-default-apps", "--disable-dev-shm-usage", "--disable-extensions",
		"--disable-sync", "--hide-scrollbars", "--mute-audio", "--password-store=basic", "--use-mock-keychain",
		"--disable-background-timer-throttling", "--disable-renderer-backgrounding", "--disable-backgrounding-occluded-windows",
	}
	if os.Getuid() == 0 {
		args = append(args, "--no-sandbox") // Chromium has no sandbox for root
	}
	theirs, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	from, theirsToo, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	d := &devtools{cmd: exec.Command(exe, args...), dir: dir, to: to, wait: make(map[int]chan reply), hear: make(map[string]func(event))}
	d.cmd.ExtraFiles = []*os.File{theirs, theirsToo}
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	_ = errors.Join(theirs.Close(), theirsToo.Close()) // the browser has them
	go d.read(from)
	return d, nil
}

func (d *devtools) read(from *os.File) {
	defer from.Close()
	in := bufio.NewReader(from)
	for {
		line, err := in.ReadBytes(0)
		if err != nil {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.gone = fmt.Errorf("the browser is gone: %w", err)
			for _, c := range d.wait {
				close(c)
			}
			d.wait = nil
			return
		}
		var m struct {
			ID      int    `json:"id"`
			Session string `json:"sessionId"`
			event
			reply
		}
		if json.Unmarshal(line[:len(line)-1], &m) != nil {
			continue
		}
		d.mu.Lock()
		c, hear := d.wait[m.ID], d.hear[m.Session]
		delete(d.wait, m.ID)
		d.mu.Unlock()
		switch {
		case m.ID > 0 && c != nil:
			c <- m.reply
		case m.ID == 0 && hear != nil:
			hear(m.event)
		}
	}
}

// call sends a command to a session ("" for the browser) and decodes what it
// results in.
func (d *devtools) call(ctx context.Context, session, method string, params map[string]any, result any) error {
	d.mu.Lock()
	if d.gone != nil {
		defer d.mu.Unlock()
		return d.gone
	}
	d.next++
	id, c := d.next, make(chan reply, 1)
	d.wait[id] = c
	message := map[string]any{"id": id, "method": method, "params": params}
	if session != "" {
		message["sessionId"] = session
	}
	text, err := json.Marshal(message)
	if err == nil {
		_, err = d.to.Write(append(text, 0))
	}
	d.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", method, ctx.Err())
	case r, ok := <-c:
		switch {
		case !ok:
			return fmt.Errorf("%s: %w", method, d.gone)
		case r.Error != nil:
			return fmt.Errorf("%s: %s", method, r.Error.Message)
		case result == nil:
			return nil
		}
		return json.Unmarshal(r.Result, result)
	}
}

// listen has the events of a session heard; nil ends that.
func (d *devtools) listen(session string, hear func(event)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if delete(d.hear, session); hear != nil {
		d.hear[session] = hear
	}
}

// end ends the browser and removes its profile.
func (d *devtools) end() {
	_ = d.to.Close()
	_ = d.cmd.Process.Kill()
	_ = d.cmd.Wait()
	_ = os.RemoveAll(d.dir) // a temporary folder
}
