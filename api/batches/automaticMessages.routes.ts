// Automatic messages of a program: read with whom they would reach now, and changed.
import { countUntold, readRule } from '../../activities/batches/automaticMessages.reads.js';
import { changeRule } from '../../activities/batches/automaticMessages.writes.js';
import { wakeRule } from '../../activities/batches/wakeRule.effect.js';
import { readProgram } from '../../activities/programs/program.reads.js';
import type { automaticMessageEndpoints } from '../../schemas/batches/automaticMessages.routes.js';
import { automaticMessage } from '../../schemas/batches/automaticMessages.schema.js';
import type { AutomaticMessageRow } from '../../schemas/batches/batches.rows.js';
import { automaticAudience } from '../../schemas/members/audiences.rules.js';
import { shown } from '../../schemas/shared/answers.js';
import type { ApiDeps } from '../http/apiDeps.js';
import type { Routes } from '../http/request.js';
import { programAt } from '../programs/programs.reads.js';

async function present(deps: ApiDeps, rule: Omit<AutomaticMessageRow, 'updatedAt' | 'updatedBy'>) {
  return shown(automaticMessage, rule, { ...(await countUntold(deps, rule)), nextAt: rule.dueAt });
}

export const automaticMessageRoutes: Routes<keyof typeof automaticMessageEndpoints> = {
  async listAutomaticMessages({ deps, caller, params }) {
    const at = await programAt(deps, caller, params);
    await readProgram(deps, at);
    const rules = await Promise.all(automaticAudience.options.map((audience) => readRule(deps, { ...at, audience })));
    return { data: await Promise.all(rules.map((rule) => present(deps, rule))) };
  },

  async updateAutomaticMessage({ deps, caller, params, body: patch }) {
    const program = await readProgram(deps, await programAt(deps, caller, params));
    const { rule, wakes } = await changeRule(deps, { program, patch, actor: caller.actor });
    if (wakes) await wakeRule(deps, rule);
    return { data: await present(deps, rule) };
  },
};
