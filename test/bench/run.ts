// Runs scenarios one after the other. A scenario's processes end with it, even if it fails, and a stack on which a
// scenario failed is not reused.
import type { BenchStack } from './bench.js';
import { createProcessList } from './processList.js';
import { type Row, reasonOf } from './row.js';
import type { OnStack, Scenario } from './scenario.js';

export type Mode = 'full' | 'quick';

export interface RunDeps {
  openStack: (options: { env?: NodeJS.ProcessEnv; signal: AbortSignal }) => Promise<BenchStack>;
  /** Ends the running scenario and the run. */
  signal: AbortSignal;
  begun: (scenario: Scenario) => void;
  /** Called with all rows so far of a scenario that reports them before its end. */
  soFar: (scenario: Scenario, rows: Row[]) => void;
  /** Called when a scenario has ended. */
  ended: (scenario: Scenario, result: ScenarioResult) => void;
}

export interface ScenarioResult {
  rows: Row[];
  seconds: number;
  /** Present when the scenario failed; its last row says so, too. */
  error?: unknown;
}

/** Throws the signal's reason when it aborts; all started processes have ended then. */
export async function runScenarios(deps: RunDeps, chosen: readonly Scenario[], mode: Mode): Promise<void> {
  const { signal } = deps;
  const aborted = new Promise<never>((_, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
  );
  aborted.catch(() => {});
  let shared: BenchStack | undefined;
  const closeShared = async () => {
    const stack = shared;
    shared = undefined;
    await stack?.stop();
  };

  let known: Row[] = [];
  const onStack = async (scenario: OnStack): Promise<Row[]> => {
    const soFar = (rows: Row[]) => {
      known = rows;
      deps.soFar(scenario, rows);
    };
    const processes = createProcessList();
    let own: BenchStack | undefined;
    let isSound = false;
    try {
      const env = await Promise.race([scenario.env?.(processes), aborted]);
      if (env || (scenario.needs === 'own stack' && mode === 'full')) {
        await closeShared();
        own = await deps.openStack({ ...(env && { env }), signal });
      } else shared ??= await deps.openStack({ signal });
      const stack = own ?? shared;
      if (!stack) throw new Error('There is no stack.');
      const rows = await Promise.race([
        formOf(scenario, scenario[mode], mode)({ ...stack, processes, soFar }),
        aborted,
      ]);
      isSound = true;
      return rows;
    } finally {
      await processes.end();
      await own?.stop();
      if (!isSound) await closeShared();
    }
  };
  const measure = (scenario: Scenario): Promise<Row[]> =>
    scenario.needs === 'nothing'
      ? Promise.race([formOf(scenario, scenario[mode], mode)(), aborted])
      : onStack(scenario);

  try {
    for (const scenario of chosen) {
      signal.throwIfAborted();
      deps.begun(scenario);
      known = [];
      const startedAt = performance.now();
      const result = await measure(scenario).then(
        (rows) => ({ rows }),
        (error: unknown) => ({ rows: [...known, failed(scenario, error)], error }),
      );
      signal.throwIfAborted();
      deps.ended(scenario, { ...result, seconds: Math.round((performance.now() - startedAt) / 1_000) });
    }
  } finally {
    await closeShared();
  }
}

function formOf<Form>({ name }: Scenario, form: Form | undefined, mode: Mode): Form {
  if (form === undefined) throw new Error(`${name} has no ${mode} form.`);
  return form;
}

/** The row of a failed scenario, so that the results of the others are not lost. */
function failed({ name }: Scenario, error: unknown): Row {
  const note = `It failed: ${reasonOf(error)}`;
  return { scenario: name, ours: 0, yardstick: null, ratio: null, unit: '', goal: 'to run', reached: false, note };
}
