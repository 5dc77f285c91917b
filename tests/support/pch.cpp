// The precompiled header needs a source of its target.
