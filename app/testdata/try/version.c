// One function that answers the same always.
__attribute__((export_name("version"))) int version(void) { return 3; }
