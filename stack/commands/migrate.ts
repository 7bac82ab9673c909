// Makes the indexes and the built-in roles of the database those of this version. It may run while the service runs.
import { migrate as migrateDatabase } from '../../worker/migrate.js';
import { type Command, main } from './command.js';

export const migrate: Command = {
  name: 'migrate',
  mongodbOnly: true,
  verbs: {
    '': {
      usage: '',
      does: 'makes the indexes and built-in roles those of this version; may be repeated, also while the service runs',
      example: '',
      audit: null,
      async run({ deps, config, say }) {
        const { indexes } = await migrateDatabase(deps);
        say(`the database "${config.MONGODB_DATABASE}" has the ${indexes} indexes of this version`);
      },
    },
  },
};

if (process.argv[1]?.match(/commands\/migrate\.[jt]s$/)) await main(migrate);
