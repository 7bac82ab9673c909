// Workflows of the yardsticks: the cost of Temporal itself without the service's code.
import { condition, defineUpdate, proxyLocalActivities, setHandler } from '@temporalio/workflow';

const { nothing } = proxyLocalActivities<{ nothing: () => Promise<string> }>({ startToCloseTimeout: '2s' });

export async function empty(): Promise<void> {}

export const result = defineUpdate<string>('result');

/** Answers its update when its only local activity is done. */
export async function answering(): Promise<void> {
  let answer: string | undefined;
  setHandler(result, async () => {
    await condition(() => answer !== undefined);
    return answer ?? '';
  });
  answer = await nothing();
}
