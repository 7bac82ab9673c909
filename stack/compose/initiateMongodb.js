// Run by mongosh in its own container at each `docker compose up`. Initiates a replica set with one member, since
// transactions need a replica set, and creates the service's user. Existing configuration and users are not changed.
// mongosh awaits the calls itself.
const { readFileSync } = require('node:fs');

const secretsDir = process.env.SECRETS_DIR || '/run/secrets';
const host = process.env.MONGODB_HOST || 'mongodb:27017';
const secret = (name) => readFileSync(`${secretsDir}/${name}`, 'utf8').trim();
const tries = 120;

let admin;
for (let tried = 1; !admin; tried += 1) {
  try {
    const root = encodeURIComponent(secret('mongodb_root_password'));
    admin = connect(`mongodb://root:${root}@${host}/admin?directConnection=true`);
  } catch (error) {
    // At its very first start MongoDB creates its users before it listens on this address.
    if (tried === tries) throw error;
    sleep(500);
  }
}

try {
  admin.runCommand({ replSetGetStatus: 1 });
} catch (error) {
  if (error.codeName !== 'NotYetInitialized') throw error;
  admin.runCommand({ replSetInitiate: { _id: 'rs0', members: [{ _id: 0, host }] } });
}
for (let tried = 1; !admin.runCommand({ hello: 1 }).isWritablePrimary; tried += 1) {
  if (tried === tries) throw new Error('The replica set has no primary.');
  sleep(500);
}

const user = { pwd: secret('mongodb_password'), roles: [{ role: 'readWrite', db: 'loyalty' }] };
const known = admin.runCommand({ usersInfo: 'loyalty' }).users.length > 0;
admin.runCommand(known ? { updateUser: 'loyalty', ...user } : { createUser: 'loyalty', ...user });
print('the replica set runs and the user is there');
