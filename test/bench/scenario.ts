// What a scenario of the bench is, and how its two forms are made of one function and two sizes.
import type { Bench } from './bench.js';
import type { ProcessList } from './processList.js';
import type { Row } from './row.js';

interface Facts {
  name: string;
  /** The yardstick of the scenario; null when the goal is an absolute number. */
  yardstick: string | null;
  /** Why a row misses its goal on the machine of docs/performance.md. */
  reason?: string;
  /** In which modes it runs only when it or its group is named on the command line. */
  onlyByName?: 'in both' | 'in quick';
  group?: string;
}

interface OnNothing extends Facts {
  needs: 'nothing';
  full: () => Promise<Row[]>;
  /** Absent when the scenario does not run with `--quick`. */
  quick?: () => Promise<Row[]>;
}

export interface OnStack extends Facts {
  /**
   * A separate stack has no data of other scenarios. With `--quick`, scenarios share a stack unless they need settings.
   */
  needs: 'shared stack' | 'own stack';
  /** The settings of its separate stack. */
  env?: (processes: ProcessList) => Promise<NodeJS.ProcessEnv>;
  full: (bench: Bench) => Promise<Row[]>;
  quick?: (bench: Bench) => Promise<Row[]>;
}

export type Scenario = OnNothing | OnStack;

interface Sizes<Size> {
  full: Size;
  quick?: Size;
}

type WithoutStack<Size> = Omit<OnNothing, 'full' | 'quick'> & Sizes<Size> & { run: (size: Size) => Promise<Row[]> };

type WithStack<Size> = Omit<OnStack, 'full' | 'quick'> &
  Sizes<Size> & { run: (bench: Bench, size: Size) => Promise<Row[]> };

export const onNothing = <Size>({ run, full, quick, ...facts }: WithoutStack<Size>): Scenario => ({
  ...facts,
  full: () => run(full),
  ...(quick !== undefined && { quick: () => run(quick) }),
});

export const onStack = <Size>({ run, full, quick, ...facts }: WithStack<Size>): Scenario => ({
  ...facts,
  full: (bench) => run(bench, full),
  ...(quick !== undefined && { quick: (bench) => run(bench, quick) }),
});

export const sameCores =
  'engines, worker, API and callers share the cores; what follows a change costs more of them than its transaction';
export const see = (section: string) => `(docs/performance.md, "${section}")`;
