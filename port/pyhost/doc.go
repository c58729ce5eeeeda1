// Package pyhost holds the values with which contracts describe Python code, and the small
// interfaces that run it. There are three ways to use Python code:
//
//   - [Commander] runs a function like a command line program, each time in a
//     fresh process: entrypoints module:function of Spec-Test's cli.run.
//   - [Operators] loads operator modules (op_*.py) once and applies them in
//     batches: plug-ins of the Operator Contract.
//   - [Caller] calls an agent with JSON, keeps it alive between the calls and
//     stands between the agent and its tools: Python and LangChain agents of
//     flakestorm.
//
// Package system/python implements all three in python3 processes: one function for each opener
// type here. This package is pure values: it starts no process, reads no file and looks at no
// clock. Its rules are those of the contracts named above and, where these are silent, of Python.
// It imports port/process for the limits of processes; it must not import a contract or an edge.
// Start reading at [Command].
package pyhost
