#!/bin/sh
# What the official image of PostgreSQL does: a cluster at the first start, owned by POSTGRES_USER, with the password of a file.
set -eu
PGDATA=/var/lib/postgresql/data
bin="$(ls -d /usr/lib/postgresql/*/bin)"
if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA" /run/postgresql
  chown -R postgres:postgres "$PGDATA" /run/postgresql
  chmod 700 "$PGDATA"
  cp "$POSTGRES_PASSWORD_FILE" /tmp/password && chown postgres /tmp/password
  exec setpriv --reuid postgres --regid postgres --init-groups "$0" "$@"
fi
[ -s "$PGDATA/PG_VERSION" ] || {
  "$bin/initdb" --pgdata "$PGDATA" --username "$POSTGRES_USER" --pwfile /tmp/password --auth scram-sha-256 --encoding UTF8 >/dev/null
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
}
exec "$bin/postgres" -D "$PGDATA" -c listen_addresses='*'
