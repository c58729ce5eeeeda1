package tools

import (
	"github.com/thresh-dev/thresh/campaign"
)

// New returns the tools of one server, for the contract with this name.
func New(contract string, desk campaign.ToolDesk) campaign.Toolbox {
	k := &campaigns{contract: contract, desk: desk}
	id := campaign.Param{Name: "campaign_id", Kind: "string", About: "the campaign, as fresnel_fir_compile named it", Required: true}
	list := []campaign.Tool{
		{
			Name: "fresnel_fir_compile", Call: k.compile,
			About: "Check a FresnelFir model and make a campaign of it. Returns every error at once, with its fix where one is known.",
			Params: []campaign.Param{
				{Name: "ir_json", Kind: "string", About: "the document, as JSON text"},
				{Name: "model", Kind: "string", About: "or the model in the language of NAME.model.star: see thresh://examples/fresnelfir"},
			},
		},
		{Name: "fresnel_fir_status", Reads: true, About: "Say whether campaigns are waiting or running.", Call: k.status},
		{
			Name: "fresnel_fir_fuzz_start", About: "Begin to run a campaign in the background.", Call: k.start,
			Params: []campaign.Param{id, {Name: "extra_iterations", Kind: "integer", About: "traversals beyond those that the campaign makes by itself"}},
		},
		{Name: "fresnel_fir_fuzz_status", Reads: true, About: "Say how far a campaign is.", Call: k.view(fuzzStatus), Params: []campaign.Param{id}},
		{
			Name: "fresnel_fir_findings", Reads: true, About: "List a campaign's findings, also while it runs.", Call: k.view(findings),
			Params: []campaign.Param{id, {Name: "since_seqno", Kind: "integer", About: "only findings after this number: the next_seqno of the last answer"}},
		},
		{
			Name: "fresnel_fir_coverage", Reads: true, About: "List what a campaign is to cover: hit, pending or proven unreachable.",
			Call: k.view(coverage), Params: []campaign.Param{id},
		},
		{Name: "fresnel_fir_abort", About: "End a campaign, whatever its phase. What it found is kept.", Call: k.abort, Params: []campaign.Param{id}},
		{
			Name: "fresnel_fir_analytics", Reads: true, About: "Give figures of a campaign: rates, epochs, the coverage curve.",
			Call: k.view(analytics), Params: []campaign.Param{id},
		},
	}
	for i := range list {
		list[i].Lenient = true // as users of the eight tools know them
	}
	list = append(list, campaign.Tool{
		Name: "load_dut", Call: k.load,
		About: "Load the WebAssembly module that a campaign explores, in place of bindings.entry, and check that its exports fit the bindings.",
		Params: []campaign.Param{
			id,
			{Name: "wasm_base64", Kind: "string", About: "the module, in base64"},
			{Name: "path", Kind: "string", About: "or a file that holds it, below the server's folder"},
		},
	})
	for i := range list {
		list[i].Mode = k.modeOfCall
	}
	return campaign.Toolbox{
		Tools: list, Prompts: []campaign.Prompt{writeModel}, Mode: modeOfRun(contract),
		Instructions: `To explore a FresnelFir model: fresnel_fir_compile (ir_json, or model in the language), load_dut for its WebAssembly module unless bindings.entry names one, fresnel_fir_fuzz_start, then fresnel_fir_fuzz_status and fresnel_fir_findings with since_seqno set to the last next_seqno.
An answer with "mode":"model_only" says nothing of a module: none was loaded.`,
	}
}

// modeOfCall returns the mode of the campaign that a call names. A campaign that does not exist has
// no module.
func (k *campaigns) modeOfCall(c campaign.ToolCall) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if x, err := k.find(c); err == nil {
		return Mode(x.alone != "")
	}
	return modelOnly
}

var writeModel = campaign.Prompt{
	Name: "write-a-model", Title: "Write a model", About: "Write a FresnelFir model of a system, run it, and read what it finds.",
	Argument: "system", ArgumentAbout: "what the system is and where its exports, operations or sources are",
	Text: `Write a Thresh model of this system and find its bugs:

%s

1. Read thresh://examples/fresnelfir: the language, every word once.
2. List what can be called, what each call changes, when the system must refuse it, and what can be asked afterwards. Make
   an entity of each kind of thing that calls create, an action of each call and an observer of each question.
3. State what must always hold: totals that are conserved, states that exclude each other, what a refused call leaves as it was.
4. Call fresnel_fir_compile with "model". It returns every error with its line, its column and, where one is known, its fix.
   Mend all of them and compile again.
5. Load the module (load_dut) or name a system file in the model, start the campaign, and explain each finding. Where the model is
   wrong rather than the system, say so and mend the model.`,
}
