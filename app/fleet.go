package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/fleet"
	"github.com/thresh-dev/thresh/run"
	"github.com/thresh-dev/thresh/store"
)

// FleetAccess is how to reach a fleet's server.
type FleetAccess = fleet.Access

// FleetWatcher listens to the members of a fleet; it returns [FleetRow]s.
type FleetWatcher = fleet.Watcher

// FleetRow is what is known about a member of a fleet.
type FleetRow = fleet.Row

// The roles of a fleet's members.
const (
	RoleCoordinator = fleet.RoleCoordinator
	RoleWorker      = fleet.RoleWorker
)

// FleetJob says how workers on other machines execute the cases of a job.
type FleetJob struct {
	FleetAccess
	Require  []string      // labels that a worker must have
	Sign     string        // file of the private key that signs the run; "": none
	Keys     string        // folder of keys that sign every message; "": messages are unsigned
	Recheck  float64       // share of cases that another worker executes again; negative: the default
	Patience time.Duration // a worker silent for this long loses its cases to others
}

// MinToken is the smallest length of a token, in characters.
const MinToken = fleet.MinToken

// DefaultFleetPatience is how long a worker may be silent before its cases go to another one.
const DefaultFleetPatience = fleet.DefaultPatience

// leasesInFlight is how many leases a coordinator hands out at once unless a job says otherwise:
// enough for dozens of lanes, each with one lease waiting.
const leasesInFlight = 64

// Connect connects to a fleet's server as the named member.
func (a *App) Connect(ctx context.Context, access FleetAccess, name string) (*fleet.Link, error) {
	return fleet.Connect(ctx, a.withToken(access), name)
}

func (a *App) withToken(access FleetAccess) FleetAccess {
	access.Token = cmp.Or(access.Token, a.getenv("THRESH_FLEET_TOKEN"))
	return access
}

// join makes the fleet execute a job's cases and returns the link to it. leave withdraws the run.
func (a *App) join(ctx context.Context, rj *run.Job, m store.Manifest, job *Job) (link *fleet.Link, leave func(), err error) {
	set := fleet.Settings{
		Run: rj.Writer.RunID(), Identities: m.Identities, Require: job.Fleet.Require, CaseTimeout: job.CaseTimeout, Patience: job.Fleet.Patience,
	}
	if job.Fleet.Sign != "" {
		if set.Key, err = fleet.ReadPrivateKey(job.Fleet.Sign); err != nil {
			return nil, nil, err
		}
	}
	set.Recheck, set.Say = job.Fleet.Recheck, a.note
	if job.Fleet.Keys != "" {
		if set.Keys, err = fleet.OpenKeys(job.Fleet.Keys, fleet.RoleCoordinator); err != nil {
			return nil, nil, err
		}
	}
	if set.Bundle, err = fleet.NewBundle(m, rj.Store.Blob); err != nil {
		return nil, nil, err
	}
	access := job.Fleet.FleetAccess
	access.Dir = job.Store
	if link, err = a.Connect(ctx, access, "coordinator of "+set.Run); err != nil {
		return nil, nil, err
	}
	if link.Embedded() {
		trust := "--insecure"
		switch {
		case job.Fleet.Keys != "":
			trust = "--fleet-keys " + job.Fleet.Keys
		case job.Fleet.Sign != "":
			trust = "--trust " + job.Fleet.Sign + ".pub"
		}
		a.note("workers: thresh worker --fleet %s --fleet-token %s %s", link.URL(), link.Token(), trust)
	}
	set.Waiting = func() { a.note("no worker has answered yet; the run waits for one") }
	c, err := fleet.Coordinate(ctx, link, set)
	if err != nil {
		link.Close()
		return nil, nil, diag.Environment("%w", err)
	}
	rj.Campaigns = slices.Clone(rj.Campaigns)
	for k, x := range rj.Campaigns {
		rj.Campaigns[k] = c.Wrap(k, x)
	}
	return link, func() {
		c.Close()
		link.Close()
	}, nil
}

// WorkerJob says how a worker executes cases of the runs that a server announces.
type WorkerJob struct {
	FleetAccess
	Lanes  int      // cases executed at once
	Labels []string // what this machine provides, for runs that require it
	Trust  string   // file of public keys, one of which must have signed a run; "": take all runs
	Keys   string   // folder of keys that sign every message; "": messages are unsigned
}

// Work executes cases until ctx ends. It then finishes the running ones unless kill ends as well.
func (a *App) Work(ctx, kill context.Context, job WorkerJob) error {
	w := &fleet.Worker{Lanes: job.Lanes, Labels: job.Labels, Compile: a.compileBundle, Say: a.note}
	if job.Trust != "" {
		keys, err := fleet.ReadPublicKeys(job.Trust)
		if err != nil {
			return err
		}
		w.Trust = keys
	}
	if job.Keys != "" {
		keys, err := fleet.OpenKeys(job.Keys, fleet.RoleWorker)
		if err != nil {
			return err
		}
		w.Keys = keys
	}
	link, err := fleet.Await(ctx, a.withToken(job.FleetAccess), "worker", a.note)
	if err != nil {
		if ctx.Err() != nil {
			return nil // it was ended while it waited
		}
		return err
	}
	defer link.Close()
	raiseProcessors(job.Lanes)
	a.note("worker with %s at %s", diag.Plural(w.Lanes, "lane"), link.Place())
	return w.Serve(ctx, kill, link)
}

// compileBundle compiles what a coordinator sent, as [App.Stored] compiles a stored run.
func (a *App) compileBundle(ctx context.Context, b fleet.Bundle) ([]campaign.Any, error) {
	c, _, changed, err := a.Stored(ctx, b.Blob, b.Manifest)
	if err != nil {
		return nil, err
	}
	if len(changed) > 0 {
		return nil, fmt.Errorf("%s differs between this machine and the worker's", strings.Join(changed, ", "))
	}
	return c.Campaigns, nil
}

// WatchFleet listens to the members of a fleet as the named member, until unwatch is called.
func (a *App) WatchFleet(ctx context.Context, access FleetAccess, name string) (w *FleetWatcher, unwatch func(), err error) {
	link, err := a.Connect(ctx, access, name)
	if err != nil {
		return nil, nil, err
	}
	if w, err = fleet.Watch(link); err != nil {
		link.Close()
		return nil, nil, err
	}
	return w, func() { w.Close(); link.Close() }, nil
}

// FleetMember is an enrolled member of a fleet.
type FleetMember = fleet.Member

// InitFleet creates a folder with keys for a coordinator and a worker.
func InitFleet(dir string) ([]FleetMember, error) { return fleet.InitKeys(dir) }

// EnrollWorker adds a worker to the trust list of a folder of keys, with its public key or, if key
// is "", with a new pair.
func EnrollWorker(dir, name, key string) (FleetMember, error) {
	return fleet.Enroll(dir, fleet.RoleWorker, name, key)
}

// RevokeMember removes a member, by name or public key, from the trust list.
func RevokeMember(dir, who string) (FleetMember, error) { return fleet.Revoke(dir, who) }

// FleetMembers reads the trust list of a folder of keys.
func FleetMembers(dir string) ([]FleetMember, error) { return fleet.Members(dir) }

// DefaultRecheck is the share of cases that a second worker executes as well, if workers are on
// several machines.
const DefaultRecheck = fleet.DefaultRecheck

// MakeKeys writes a new key pair to file and file.pub.
func MakeKeys(file string) error { return fleet.WriteKeys(file) }
