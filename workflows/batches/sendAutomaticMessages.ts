// Sends the automatic message of one rule, once a day at its hour, for as long as the rule is on. What is due is in the
// rule's row alone, so a reset, a lost run or a second one sends nothing twice. A change of the rule wakes it.
import {
  condition,
  continueAsNew,
  defineSignal,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { ruleChangedName, type SendAutomaticMessages } from '../../schemas/tables/workflows.js';
import { batches } from '../shared/activityOptions.js';

const daysPerRun = 30;
/** A worker whose clock is behind Temporal's finds a day not due yet. */
const leastWaitMs = 1_000;

export async function sendAutomaticMessages(input: SendAutomaticMessages): Promise<void> {
  let isChanged = false;
  setHandler(defineSignal(ruleChangedName), () => {
    isChanged = true;
  });
  for (let days = 0; ; days += 1) {
    if (days >= daysPerRun || workflowInfo().continueAsNewSuggested)
      await continueAsNew<typeof sendAutomaticMessages>(input);
    isChanged = false;
    const { nextAt, said = 'Ended: it is off.' } = await batches.runAutomaticRule(input);
    setCurrentDetails(said);
    if (nextAt !== undefined) await condition(() => isChanged, Math.max(nextAt - Date.now(), leastWaitMs));
    else if (!isChanged) return;
  }
}
