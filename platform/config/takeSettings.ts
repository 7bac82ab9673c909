// Takes settings from the supervisor of `npm start` while the process runs: those of the wallets, when the demo's phones
// are switched on.
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Config } from '../../schemas/shared/config.schema.js';
import { loadConfig } from './loadConfig.js';

const order = z.object({ wallets: z.record(z.string(), z.string()) });

/**
 * `config` itself is changed, because everything holds it; `reopen` then opens what is made of the settings. Settings
 * that cannot be used, or opened, change nothing else: the process runs on and logs the reason.
 */
export function takeSettings(config: Config, { log, reopen }: { log: Logger; reopen: () => Promise<void> }): void {
  process.on('message', async (message) => {
    const { success, data } = order.safeParse(message);
    if (!success) return;
    try {
      Object.assign(config, loadConfig({ ...process.env, ...data.wallets }));
      await reopen();
    } catch (error) {
      log.error({ err: error }, "the wallets' settings could not be taken");
    }
  });
}
