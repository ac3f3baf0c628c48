//go:build !duckdb_arrow

package duck

// Without the build tag duckdb_arrow the driver has no Arrow interface, and this
// program cannot be built. The compiler stops here, at a name that says so.
var _ = needs_build_tag_duckdb_arrow__run_make_build_or_set_GOFLAGS_tags_duckdb_arrow
