package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"

	"github.com/spf13/pflag"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/contract/fuzzspec"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/store"
)

// resumeFlag is --resume as users of thresh fuzzspec campaign know it: a yes or
// no, since the campaign's id says which.
func resumeFlag(goOn *bool) *pflag.Flag {
	var fs pflag.FlagSet
	fs.BoolVar(goOn, "resume", false, "go on with the campaign where it ended; cases that were run are not run again")
	return fs.Lookup("resume")
}

// campaignRun is the stored run that a campaign goes on with: the newest one of
// the same campaign id, document and settings; "" if there is none.
//
// If the newest run of the campaign id has another seed or program, the
// campaign is refused: its cases would not be those of one campaign.
func campaignRun(st *app.Store, camp *fuzzspec.Campaign, doc app.Document, b *app.Bundle) (string, error) {
	runs, err := st.Runs(store.RunQuery{Contract: "fuzzspec", Limit: math.MaxInt32})
	if err != nil {
		return "", err
	}
	spec := app.StoredAs(doc)
	newest := true
	for _, r := range runs {
		j, err := st.OpenJournal(r.RunID)
		if err != nil {
			continue // a run that cannot be read cannot be gone on with either
		}
		m := j.Manifest()
		j.Close()
		var set app.Settings
		if json.Unmarshal(m.Settings, &set) != nil || len(m.Specs) != 1 || len(m.Identities) != 1 || m.Specs[0].Blob != spec {
			continue
		}
		if given := set.Options[fuzzspec.OptCampaignID]; len(given) > 0 && given[0] != camp.CampaignID() {
			continue
		}
		if m.Identities[0] == camp.Identity() {
			return r.RunID, nil
		}
		if path := b.Changed(m); newest && path != "" {
			return "", diag.WithHint(fmt.Errorf("campaign %s cannot be gone on with: %s is not what it was when its cases were run", camp.CampaignID(), path),
				"restore it, or start another campaign with --campaign-id")
		}
		newest = false
	}
	return "", nil
}

// told is how many cases the campaign's folder lists as run. Whatever they came
// to is known, so going on does not stop at them.
func told(folder fuzzspec.CampaignFolder) int64 {
	lines, _, err := folder.ReadCases()
	if err != nil {
		return 0
	}
	return int64(bytes.Count(lines, []byte(`"mode":"EXEC"`)))
}
