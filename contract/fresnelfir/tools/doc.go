// Package tools offers FresnelFir to clients of the Model Context Protocol: the eight tools
// fresnel_fir_* with the names, inputs and answers that users of the format know, and load_dut.
// Keys beside the known ones are additions. A campaign that explores a model without its module has
// mode: model_only in every answer: if nothing was found, this says nothing about a module.
//
// It compiles and runs through [campaign.ToolDesk] alone. Start reading at [New].
package tools
