#!/bin/sh
# Usage: ccache.sh CCACHE COMPILER ARGUMENT...
#
# ccache identifies a source by the output of the preprocessor. When a precompiled header is rebuilt, the
# preprocessor would use the old one instead of the sources, and ccache would return the old one for ever.
# So delete the old one first.
before=
for argument; do
  case $before$argument in
    *.gch | -o*.pch) rm -f "$argument" ;;
  esac
  before=
  [ "$argument" != -o ] || before=-o
done
# Without these two ccache refuses every file that uses a precompiled header.
export CCACHE_SLOPPINESS=pch_defines,time_macros
exec "$@"
