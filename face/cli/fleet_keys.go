package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/app"
)

func (a *application) fleetCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "fleet",
		Short: "Manage who belongs to a fleet: keys and the trust list",
		Long: `A folder of keys defines who belongs to a fleet. It holds the trust list, with name,
role and public key of each member, and the private keys that were made here.

With --fleet-keys DIR, run and worker sign every message and drop what no member
signed. Copy the trust list and one worker's key to each worker's machine.`,
		Example: `  thresh fleet init keys/
  thresh run specs/ --fleet embedded:4222 --fleet-keys keys/
  thresh worker --fleet nats://127.0.0.1:4222 --fleet-token TOKEN \
      --fleet-keys keys/
  thresh fleet enroll keys/ gpu-box     # makes keys/gpu-box.key
  thresh fleet revoke keys/ gpu-box
  thresh fleet list keys/`,
		Args: cobra.NoArgs,
	}
	show := func(m app.FleetMember) { fmt.Fprintf(a.io.Out, "%-11s  %-20s  %s\n", m.Role, m.Name, m.Key) }
	initialize := &cobra.Command{
		Use: "init DIR", Short: "Make keys for a coordinator and a worker, and the trust list", Args: cobra.ExactArgs(1),
		Example: `  thresh fleet init keys/`,
		RunE: func(_ *cobra.Command, args []string) error {
			members, err := app.InitFleet(args[0])
			if err != nil {
				return err
			}
			for _, m := range members {
				show(m)
			}
			fmt.Fprintf(a.io.Out, "next: thresh run DOCUMENT --fleet embedded:4222 --fleet-keys %s\n", args[0])
			return nil
		},
	}
	var key string
	enroll := &cobra.Command{
		Use: "enroll DIR NAME", Short: "Add a worker to the trust list", Args: cobra.ExactArgs(2),
		Example: `  thresh fleet enroll keys/ gpu-box
  thresh fleet enroll keys/ gpu-box --key UCXZ...   # made on gpu-box`,
		RunE: func(_ *cobra.Command, args []string) error {
			m, err := app.EnrollWorker(args[0], args[1], key)
			if err != nil {
				return err
			}
			show(m)
			if key == "" {
				fmt.Fprintf(a.io.Out, "next: copy %s and %s to a folder on the worker's machine\n", filepath.Join(args[0], "trust"), filepath.Join(args[0], m.Name+".key"))
			}
			return nil
		},
	}
	enroll.Flags().StringVar(&key, "key", "", "its public `KEY`, an nkey of a user (default: a new pair)")
	revoke := &cobra.Command{
		Use: "revoke DIR NAME", Short: "Remove a member from the trust list; takes effect in seconds", Args: cobra.ExactArgs(2),
		Example: `  thresh fleet revoke keys/ gpu-box`,
		RunE: func(_ *cobra.Command, args []string) error {
			m, err := app.RevokeMember(args[0], args[1])
			if err == nil {
				fmt.Fprintf(a.io.Out, "%s %s is no longer trusted; copy the trust list to the other machines\n", m.Role, m.Name)
			}
			return err
		},
	}
	list := &cobra.Command{
		Use: "list DIR", Short: "Show the members of a fleet", Args: cobra.ExactArgs(1),
		Example: `  thresh fleet list keys/`,
		RunE: func(_ *cobra.Command, args []string) error {
			members, err := app.FleetMembers(args[0])
			for _, m := range members {
				show(m)
			}
			return err
		},
	}
	c.AddCommand(initialize, enroll, revoke, list)
	return c
}
