package fuzzspec

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// CheckID refuses an id that could name a folder other than the one it is to
// name. what says which id it is: "run id", "campaign id".
func CheckID(what, id string) error {
	bad := ""
	switch {
	case id == "":
		bad = "must not be empty"
	case strings.HasPrefix(id, "."):
		// Also keeps ids apart from the folders that are still being written.
		bad = "must not start with a dot"
	case strings.HasPrefix(id, "-"):
		bad = "must not start with '-', which programs read as an option"
	case strings.ContainsAny(id, `/\`) || strings.Contains(id, ".."):
		bad = `must not contain '/', '\' or '..'`
	case strings.ContainsFunc(id, func(r rune) bool { return r < ' ' || r == 0x7f }):
		bad = "must not contain control characters"
	case len(id) > 200:
		bad = fmt.Sprintf("must be at most 200 bytes long, got %d", len(id))
	default:
		return nil
	}
	return fmt.Errorf("%s %q %s", what, id, bad)
}

// DefaultCampaignID is the id of a campaign's folder if the user gives none.
// The document's own campaign_id plays no part in it.
func DefaultCampaignID(specText []byte, startIndex int64) string {
	sum := sha256.Sum256(specText)
	return fmt.Sprintf("cmp_%s_s%d", hex.EncodeToString(sum[:4]), startIndex)
}

// CaseRunID is the id of the run of one case of a campaign.
func CaseRunID(campaignID string, caseIndex int64) string {
	return fmt.Sprintf("%s_case_%06d", campaignID, caseIndex)
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
