// The schemas that have a name in the OpenAPI document. Generated clients depend on these names.
import type { z } from 'zod';
import { apiKey, apiKeyRequest, apiKeyWithSecret } from '../apiKeys.js';
import { batch, importCounts, importResult, importRow } from '../batches.js';
import { publicEnrollment, publicEnrollRequest } from '../enrollment.js';
import { type EventType, envelopeOf, eventData, eventType, eventTypes } from '../events.js';
import {
  actor,
  balanceResult,
  enrollRequest,
  member,
  memberBalance,
  memberDetail,
  memberPatch,
  memberStatus,
  memberWithProgram,
  pointsRequest,
  pushResult,
  redeemRequest,
  statusRequest,
  statusResult,
  tagsRequest,
  timelineItem,
  timelineOutcome,
  transaction,
} from '../members.js';
import { passUpdate, walletMode } from '../passUpdate.js';
import { programRecord, programSnapshot, programSummary } from '../programs.js';
import {
  delivery,
  deliveryAttempt,
  deliveryState,
  health,
  queued,
  subscription,
  subscriptionPatch,
  subscriptionRequest,
  subscriptionWithSecret,
} from '../webhooks.js';

export const namedRequests = {
  ApiKeyRequest: apiKeyRequest,
  EnrollRequest: enrollRequest,
  MemberPatch: memberPatch,
  TagsRequest: tagsRequest,
  PointsRequest: pointsRequest,
  RedeemRequest: redeemRequest,
  StatusRequest: statusRequest,
  PublicEnrollRequest: publicEnrollRequest,
  SubscriptionRequest: subscriptionRequest,
  SubscriptionPatch: subscriptionPatch,
  MemberStatus: memberStatus,
  EventType: eventType,
} satisfies Record<string, z.ZodType>;

const namedResults = {
  ApiKey: apiKey,
  ApiKeyWithSecret: apiKeyWithSecret,
  Program: programRecord,
  ProgramSummary: programSummary,
  ProgramSnapshot: programSnapshot,
  Member: member,
  MemberWithProgram: memberWithProgram,
  MemberDetail: memberDetail,
  MemberBalance: memberBalance,
  MemberStatus: memberStatus,
  WalletMode: walletMode,
  BalanceResult: balanceResult,
  StatusResult: statusResult,
  PushResult: pushResult,
  PassUpdate: passUpdate,
  TimelineItem: timelineItem,
  TimelineOutcome: timelineOutcome,
  Transaction: transaction,
  Actor: actor,
  ImportResult: importResult,
  ImportCounts: importCounts,
  ImportRow: importRow,
  Batch: batch,
  PublicEnrollment: publicEnrollment,
  Subscription: subscription,
  SubscriptionWithSecret: subscriptionWithSecret,
  SubscriptionHealth: health,
  Delivery: delivery,
  DeliveryAttempt: deliveryAttempt,
  DeliveryState: deliveryState,
  Queued: queued,
} satisfies Record<string, z.ZodType>;

/** points.changed -> PointsChanged */
export const eventName = (type: EventType): string =>
  type.replace(/(?:^|\.)(\w)/g, (_, letter: string) => letter.toUpperCase());

const namedEvents: Record<string, z.ZodType> = Object.fromEntries(
  eventTypes.flatMap((type) => [
    [`${eventName(type)}Event`, envelopeOf(type, eventData[type])],
    [`${eventName(type)}Data`, eventData[type]],
  ]),
);

/** The schemas of everything that leaves the service: answers and events. */
export const namedOutputs: Record<string, z.ZodType> = { ...namedResults, ...namedEvents };
