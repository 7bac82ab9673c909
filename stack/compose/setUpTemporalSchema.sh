#!/bin/sh
# Creates Temporal's two databases or migrates them to this server's schema. Can be repeated safely.
set -eu

SQL_PASSWORD="$(cat "${POSTGRES_PASSWORD_FILE:-/run/secrets/postgres_password}")"
export SQL_PASSWORD
schema="${TEMPORAL_SCHEMA_DIR:-/etc/temporal/schema/postgresql/v12}"

tool() {
  database="$1"
  shift
  temporal-sql-tool --plugin postgres12 --endpoint "$POSTGRES_SEEDS" --port "${DB_PORT:-5432}" --user "$POSTGRES_USER" \
    --database "$database" "$@"
}

set_up() {
  # A database that has a schema is only migrated: setup-schema would reset its recorded version.
  if tool "$1" update-schema --schema-dir "$schema/$2/versioned" 2>/dev/null; then return 0; fi
  tool "$1" create-database
  tool "$1" setup-schema --version 0.0
  tool "$1" update-schema --schema-dir "$schema/$2/versioned"
}

set_up temporal temporal
set_up temporal_visibility visibility
echo 'the schema of Temporal is there'
