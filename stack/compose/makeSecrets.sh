#!/bin/sh
# Creates the secrets that docker-compose.yml passes to containers as files. Existing secrets are not changed.
# Only the owner can open the folder; the files in it are readable for all, because containers read them as other users.
set -eu
umask 022

folder="${SECRETS_DIR:-$(dirname "$0")/../../.secrets}"
mkdir -p "$folder"
chmod 700 "$folder"

random() { head -c "$1" /dev/urandom | base64 | tr -d '\n'; }
# Characters that need no escaping inside a URL.
word() { random 32 | tr -d '/+=' | cut -c 1-40; }

keep() {
  [ -s "$folder/$1" ] && return 0
  printf '%s' "$2" > "$folder/$1"
  echo "made $folder/$1"
}

keep mongodb_keyfile "$(random 256)"
keep mongodb_root_password "$(word)"
keep mongodb_password "$(word)"
keep postgres_password "$(word)"
keep redis_password "$(word)"
keep secrets_key "$(random 32)"
keep console_jwt_secret "$(random 48)"
# The addresses that contain some of the secrets above.
keep mongodb_uri "mongodb://loyalty:$(cat "$folder/mongodb_password")@mongodb:27017/?replicaSet=rs0&authSource=admin"
keep redis_url "redis://:$(cat "$folder/redis_password")@redis:6379"
# The wallets' secrets, empty until the operator fills them in; an empty one means stub mode.
# Also empty: the address and the authorities of the mail server, the console's former secret, the secret at the OpenID
# provider, the keys that encrypt what Temporal stores, and the token of their endpoint.
for name in apple_signer_cert apple_signer_key apple_signer_key_passphrase apple_wwdr_cert apns_key \
  google_wallet_credentials smtp_url smtp_ca console_jwt_secret_previous console_oidc_client_secret \
  temporal_codec_key temporal_codec_token; do
  [ -e "$folder/$name" ] || : > "$folder/$name"
done
