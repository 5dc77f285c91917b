#!/bin/sh
# Usage: ccache.sh CCACHE COMPILER ARGUMENT...
#
# ccache knows a source by what the preprocessor makes of it. Where a precompiled header is made
# anew, the preprocessor would take the old one in place of the sources, and so ccache would give
# back the old one for ever. So the old one goes first.
for argument; do
  case $argument in
    *.gch) rm -f "$argument" ;;
  esac
done
# Without these two ccache refuses every file that uses a precompiled header.
export CCACHE_SLOPPINESS=pch_defines,time_macros
exec "$@"
