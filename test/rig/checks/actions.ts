// The actions of a workflow that Temporal Cloud charges, counted from its history
// (https://docs.temporal.io/cloud/actions). Heartbeats of activities are charged too, and stand in no history.
import proto from '@temporalio/proto';

type HistoryEvent = proto.temporal.api.history.v1.IHistoryEvent;

const { EventType } = proto.temporal.api.enums.v1;
const charged = [
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED,
  EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED,
  EventType.EVENT_TYPE_TIMER_STARTED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED,
];

/** Each attempt of an activity is charged. */
const repeatsOf = ({ activityTaskStartedEventAttributes: started }: HistoryEvent): number =>
  (started?.attempt ?? 1) - 1;

/** All local activities of a workflow task are one action. */
export function actionsOf(events: readonly HistoryEvent[]): number {
  const own = events.reduce((sum, event) => sum + Number(charged.includes(event.eventType ?? 0)) + repeatsOf(event), 0);
  const marked = events.flatMap(({ markerRecordedEventAttributes: marker }) =>
    marker ? [String(marker.workflowTaskCompletedEventId)] : [],
  );
  return own + new Set(marked).size;
}
