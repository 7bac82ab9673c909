// Takes settings from the supervisor of `npm start` while the process runs: those of the wallets, when the demo's phones
// are switched on.
import { z } from 'zod';
import type { Config } from '../../schemas/shared/config.schema.js';
import { loadConfig } from './loadConfig.js';

const order = z.object({ wallets: z.record(z.string(), z.string()) });

/** `config` itself is changed, because everything holds it; `reopen` then opens what is made of the settings. */
export function takeSettings(config: Config, reopen: () => Promise<void>): void {
  process.on('message', (message) => {
    const { success, data } = order.safeParse(message);
    if (!success) return;
    Object.assign(config, loadConfig({ ...process.env, ...data.wallets }));
    void reopen();
  });
}
