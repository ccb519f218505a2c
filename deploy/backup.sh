#!/bin/sh
# backup.sh INDEX STATE TARGET: copies an index and the service's state into a new folder, while the service runs.
# As the service's user. Questions go on meanwhile; who wants to write waits. `docs/deploy.md` says how to restore.
set -eu
index=$1 state=$2 target=$3
umask 077
mkdir "$target"
# The locks of those who write, the service's first: it takes that first. They end with this process, however it ends.
exec 8>>"$state/turn.lock"
flock --wait 3600 8
# Conversations and keys are written without these locks; SQLite itself makes a copy of one moment. Before the uploads: a
# job that is queued from now on is not in it, and each that is has its files there, since none ends without the lock.
python3 - "$state/service.sqlite3" "$target/service.sqlite3" <<'PYTHON'
import sqlite3
import sys

source, copy = map(sqlite3.connect, sys.argv[1:])
source.backup(copy)
copy.execute("PRAGMA journal_mode = DELETE")
PYTHON
for kept in uploads audit.jsonl; do
    if [ -e "$state/$kept" ]; then cp -a "$state/$kept" "$target/"; fi
done
case $index in
postgresql://* | postgres://*)
    # The server gives one moment by itself. What stands after a ? is Citewell's: a socket or port comes from PGHOST, PGPORT.
    # An owner whom the policies bind must say that he means every row; others are not hindered by saying it.
    PGOPTIONS="-c citewell.whole=on" pg_dump --enable-row-security --format=custom --file="$target/index.dump" "${index%%\?*}"
    ;;
*)
    exec 9>>"$index/writer.lock"
    flock --wait 3600 9
    cp -a "$index" "$target/index"
    ;;
esac
