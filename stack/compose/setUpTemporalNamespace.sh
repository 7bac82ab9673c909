#!/bin/sh
# Creates the namespace with its retention and search attributes on the server at TEMPORAL_ADDRESS.
# Can be repeated safely.
set -eu

namespace="${TEMPORAL_NAMESPACE:-default}"
retention="${TEMPORAL_RETENTION:-72h}"

waited=0
until temporal operator cluster health >/dev/null 2>&1; do
  waited=$((waited + 1))
  [ "$waited" -lt 60 ] || { echo "Temporal does not answer at $TEMPORAL_ADDRESS"; exit 1; }
  sleep 1
done

if temporal operator namespace describe --namespace "$namespace" >/dev/null 2>&1; then
  temporal operator namespace update --namespace "$namespace" --retention "$retention" >/dev/null
else
  temporal operator namespace create --namespace "$namespace" --retention "$retention" >/dev/null
fi

# A new namespace is not known everywhere at once, so the call is tried again. An attribute that exists already is no
# error.
for attribute in MerchantId ProgramId MemberId SubscriptionId EventId EventType BatchId; do
  waited=0
  until temporal operator search-attribute list --namespace "$namespace" 2>/dev/null | grep -qw "$attribute"; do
    temporal operator search-attribute create --namespace "$namespace" --name "$attribute" --type Keyword >/dev/null 2>&1 || true
    waited=$((waited + 1))
    [ "$waited" -lt 60 ] || { echo "the search attribute $attribute could not be made"; exit 1; }
    sleep 1
  done
done
echo "namespace $namespace keeps finished workflows for $retention and knows its search attributes"
