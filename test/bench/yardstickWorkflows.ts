// Workflows of the yardsticks: what Temporal itself costs, with nothing of ours in it.
import { condition, defineUpdate, proxyLocalActivities, setHandler } from '@temporalio/workflow';

const { nothing } = proxyLocalActivities<{ nothing: () => Promise<string> }>({ startToCloseTimeout: '2s' });

export async function empty(): Promise<void> {}

export const told = defineUpdate<string>('told');

/** Answers its update when its one local activity is done. */
export async function answering(): Promise<void> {
  let answer: string | undefined;
  setHandler(told, async () => {
    await condition(() => answer !== undefined);
    return answer ?? '';
  });
  answer = await nothing();
}
