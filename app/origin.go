package app

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/store"
)

// origin describes where a run is started: its folder, and the state of the sources according to
// git's files and the variables of CI services.
func (a *App) origin() *campaign.Origin {
	dir, err := os.Getwd()
	if err != nil {
		return nil
	}
	o := campaign.Origin{Folder: dir}
	o.Commit, o.Branch = checkedOut(dir)
	first := func(names ...string) string {
		for _, n := range names {
			if v := a.getenv(n); v != "" {
				return v
			}
		}
		return ""
	}
	if o.Commit == "" { // the sources came without git's files
		o.Commit = hash(first("GITHUB_SHA", "CI_COMMIT_SHA", "BUILDKITE_COMMIT", "CIRCLE_SHA1", "GIT_COMMIT"))
	}
	if o.Branch == "" && o.Commit != "" { // CI services check out a commit, not a branch
		o.Branch = first("GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME", "BUILDKITE_BRANCH", "CIRCLE_BRANCH", "BRANCH_NAME")
	}
	o.CI = first("CI_JOB_URL", "BUILDKITE_BUILD_URL", "CIRCLE_BUILD_URL", "BUILD_URL")
	if server, repo, run := first("GITHUB_SERVER_URL"), first("GITHUB_REPOSITORY"), first("GITHUB_RUN_ID"); server != "" && repo != "" && run != "" {
		o.CI = server + "/" + repo + "/actions/runs/" + run
	}
	if u, err := url.Parse(o.CI); err != nil || u.Scheme != "https" && u.Scheme != "http" {
		o.CI = ""
	} else {
		u.User, u.RawQuery = nil, "" // no password and no token
		o.CI = u.String()
	}
	return &o
}

// startedHere is an error for a run of another folder whose documents are not in this one. Programs
// and systems that they name may be missing here too, so a case that no longer fails would prove
// nothing.
func startedHere(m store.Manifest) error {
	there, err := os.Stat(m.Folder)
	if err != nil {
		return nil //nolint:nilerr // the run comes from another machine, or its folder is gone
	}
	if here, err := os.Stat("."); err != nil || os.SameFile(here, there) {
		return nil //nolint:nilerr // a folder that is gone is a different one
	}
	for _, s := range m.Specs {
		if _, err := os.Stat(s.Path); err != nil && !filepath.IsAbs(s.Path) {
			return diag.WithHint(diag.Refused("run %s was started in %s, and %s is not in this folder", m.RunID, m.Folder, s.Path), "cd "+ShellLine([]string{m.Folder}))
		}
	}
	return nil
}

// checkedOut returns the commit and the branch of the repository that a folder is in, read from
// git's files; "" outside a repository, and for the branch if none is checked out.
func checkedOut(dir string) (commit, branch string) {
	for {
		git := filepath.Join(dir, ".git")
		if info, err := os.Stat(git); err == nil {
			if !info.IsDir() { // a work tree or a submodule: the file names the folder
				text, _ := os.ReadFile(git) // "" leads to no commit
				to, _ := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
				if git = to; !filepath.IsAbs(git) {
					git = filepath.Join(dir, git)
				}
			}
			return headOf(git)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", ""
		}
		dir = up
	}
}

// headOf returns what HEAD of a git folder names.
func headOf(git string) (commit, branch string) {
	read := func(folder, name string) string {
		text, _ := os.ReadFile(filepath.Join(folder, filepath.FromSlash(name))) // a missing file is empty
		return strings.TrimSpace(string(text))
	}
	head := read(git, "HEAD")
	ref, symbolic := strings.CutPrefix(head, "ref: ")
	if !symbolic {
		return hash(head), ""
	}
	branch = strings.TrimPrefix(ref, "refs/heads/")
	common := git // a work tree keeps its branches elsewhere
	if to := read(git, "commondir"); to != "" {
		if common = to; !filepath.IsAbs(common) {
			common = filepath.Join(git, common)
		}
	}
	if !filepath.IsLocal(filepath.FromSlash(ref)) {
		return "", ""
	}
	if commit = hash(read(common, ref)); commit != "" {
		return commit, branch
	}
	for line := range strings.Lines(read(common, "packed-refs")) {
		if sum, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == ref {
			return hash(sum), branch
		}
	}
	return "", branch
}

// hash returns text if it is a commit's name, else "".
func hash(text string) string {
	if len(text) < 40 || len(text) > 64 || strings.Trim(text, "0123456789abcdef") != "" {
		return ""
	}
	return text
}
