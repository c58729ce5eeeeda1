package spectest

import (
	"context"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// Commands implements [campaign.Commander].
func (k *Contract) Commands() []campaign.Command {
	return []campaign.Command{{
		Use:     "spectest",
		Summary: "Spec-Test v1: conformance, and tools for authors",
		Long: `Commands for Spec-Test v1, Markdown documents that hold tests.
To run documents, use thresh run; to check them, thresh check.`,
		Commands: []campaign.Command{k.fmtCommand(), k.explainCommand(), evalCommand(), k.acceptCommand(), importCommand(), schemaCommand(), k.conformanceCommand()},
	}, k.runCommand()}
}

func schemaCommand() campaign.Command {
	return campaign.Command{
		Use:     "schema",
		Summary: "Print the JSON Schema of blocks",
		Long: `Schema prints a JSON Schema (draft 2020-12) of what a spec-test block, or a case
file in YAML or JSON, may hold, for editors that complete and check YAML.`,
		Example: `  thresh spectest schema > spectest.schema.json`,
		Run: func(_ context.Context, d campaign.Desk, _ []string) error {
			_, err := d.Out().Write(BlockSchema())
			return err
		},
	}
}

// documents finds documents, in the order that the format defines.
func (k *Contract) documents(d campaign.Desk, paths []string) ([]campaign.Spec, error) {
	set := d.Settings()
	formats, err := Formats(set.Get(optFormats, "md"))
	if err != nil {
		return nil, diag.Refused("--case-formats: %w", err)
	}
	find := Discovery{Pattern: set.Get(optPattern, DefaultPattern), Formats: formats, Recursive: set.Get(optRecursive, "") == "true"}
	if strings.TrimSpace(find.Pattern) == "" {
		return nil, diag.Refused("--case-file-pattern requires a non-empty value")
	}
	var docs []campaign.Spec
	for _, p := range paths {
		list, folder, err := d.Files(p)
		if err != nil {
			return nil, err
		}
		if folder {
			list = find.Order(p, list)
		}
		for _, name := range list {
			doc, err := d.Document(name)
			if err != nil {
				return nil, diag.Environment("%s: %s", name, diag.Reason(err))
			}
			if folder && strings.HasSuffix(name, ".md") && !k.Detect(doc) {
				continue // no block in it
			}
			docs = append(docs, doc)
		}
	}
	return docs, nil
}

// foundDocuments returns the documents of a command that runs none of them; finding none is an
// error.
func (k *Contract) foundDocuments(d campaign.Desk, paths []string) ([]campaign.Spec, error) {
	docs, err := k.documents(d, paths)
	if err == nil && len(docs) == 0 {
		err = diag.WithHint(diag.Refused("there is no document in %s", paths[0]), "-r searches folders within it, --case-file-pattern names other documents")
	}
	return docs, err
}

// campaigns compiles the documents of paths. It drops warnings: check reports those.
func (k *Contract) campaigns(ctx context.Context, d campaign.Desk, paths []string) ([]*Campaign, error) {
	docs, err := k.foundDocuments(d, paths)
	if err != nil {
		return nil, err
	}
	compiled, _, err := d.Compile(ctx, docs, d.Settings())
	if err != nil {
		return nil, err
	}
	var list []*Campaign
	for _, x := range compiled {
		if s, ok := campaign.As[*Campaign](x); ok {
			list = append(list, s)
		}
	}
	return list, nil
}
