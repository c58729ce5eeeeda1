package process

// Glossary is implemented by runners that know tokens of the program: texts and
// constants that it may hold its input against.
type Glossary interface{ Words() [][]byte }
