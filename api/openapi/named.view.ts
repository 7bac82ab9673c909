// The schemas that have a name in the OpenAPI document. Generated clients depend on these names.
import type { z } from 'zod';
import { actor } from '../../schemas/access/actor.schema.js';
import * as apiKeys from '../../schemas/access/apiKeys.schema.js';
import { auditChange } from '../../schemas/access/audit.schema.js';
import { permission, role, roleRequest } from '../../schemas/access/roles.schema.js';
import * as users from '../../schemas/access/users.schema.js';
import { automaticMessage, automaticMessagePatch } from '../../schemas/batches/automaticMessages.schema.js';
import * as batches from '../../schemas/batches/batches.schema.js';
import { campaign, campaignCounts, campaignDryRun } from '../../schemas/batches/campaigns.schema.js';
import {
  aboutMember,
  anyEnvelope,
  type EventType,
  envelopeOf,
  eventData,
  eventType,
  eventTypes,
} from '../../schemas/events/events.schema.js';
import { audience } from '../../schemas/members/audiences.rules.js';
import { publicEnrollment, publicEnrollRequest } from '../../schemas/members/enrollment.schema.js';
import * as members from '../../schemas/members/members.schema.js';
import * as changes from '../../schemas/points/changes.schema.js';
import * as transactions from '../../schemas/points/ledger.schema.js';
import { rewardState } from '../../schemas/points/rewards.rules.js';
import { earnRule } from '../../schemas/programs/earning.schema.js';
import { expiryRule } from '../../schemas/programs/expiry.schema.js';
import { links } from '../../schemas/programs/links.schema.js';
import * as passTemplate from '../../schemas/programs/passTemplate.schema.js';
import * as programEdits from '../../schemas/programs/programEdits.schema.js';
import { programRecord, programSnapshot, programSummary, tier } from '../../schemas/programs/programs.schema.js';
import { reward } from '../../schemas/programs/rewards.schema.js';
import { passUpdate, walletMode } from '../../schemas/shared/passUpdate.schema.js';
import { country } from '../../schemas/shared/phone.rules.js';
import * as stats from '../../schemas/stats/stats.schema.js';
import * as readers from '../../schemas/till/readers.schema.js';
import { candidate, helloResult, lookupResult, tillReader } from '../../schemas/till/till.schema.js';
import * as webhooks from '../../schemas/webhooks/webhooks.schema.js';
import { namedFailures } from './failures.view.js';

export const namedRequests = {
  ApiKeyRequest: apiKeys.apiKeyRequest,
  RoleRequest: roleRequest,
  UserRequest: users.userRequest,
  UserPatch: users.userPatch,
  ReaderRequest: readers.readerRequest,
  ReaderPatch: readers.readerPatch,
  Permission: permission,
  EnrollRequest: members.enrollRequest,
  MemberPatch: members.memberPatch,
  TagsRequest: members.tagsRequest,
  PointsRequest: changes.pointsRequest,
  RedeemRequest: changes.redeemRequest,
  EarnRequest: changes.earnRequest,
  ReverseRequest: changes.reverseRequest,
  CardLinkRequest: members.cardLinkRequest,
  StatusRequest: members.statusRequest,
  Audience: audience,
  PublicEnrollRequest: publicEnrollRequest,
  AutomaticMessagePatch: automaticMessagePatch,
  SubscriptionRequest: webhooks.subscriptionRequest,
  SubscriptionPatch: webhooks.subscriptionPatch,
  ProgramRequest: programEdits.programRequest,
  ProgramPatch: programEdits.programPatch,
  MemberStatus: members.memberStatus,
  EventType: eventType,
  Country: country,
  TierRequest: tier,
  RewardRequest: reward,
  PassIcon: passTemplate.icon,
  PassImage: passTemplate.image,
  PassBackField: passTemplate.backField,
  PassLocation: passTemplate.location,
  PassLinks: links,
  BarcodeFormat: passTemplate.barcodeFormat,
} satisfies Record<string, z.ZodType>;

export const namedResults = {
  ApiKey: apiKeys.apiKey,
  HeldApiKey: apiKeys.heldKey,
  ApiKeyWithSecret: apiKeys.apiKeyWithSecret,
  Reader: readers.reader,
  Role: role,
  User: users.user,
  Session: users.session,
  Permission: permission,
  Program: programRecord,
  ProgramDraft: programEdits.programDraft,
  ProgramVersion: programEdits.programVersion,
  ProgramPreview: programEdits.programPreview,
  MemberPreview: programEdits.memberPreview,
  AuditChange: auditChange,
  ProgramFinding: programEdits.finding,
  ProgramSummary: programSummary,
  ProgramSnapshot: programSnapshot,
  Member: members.member,
  MemberWithProgram: members.memberWithProgram,
  MemberDetail: members.memberDetail,
  MemberBalance: transactions.memberBalance,
  MemberStatus: members.memberStatus,
  ApplePass: members.applePass,
  GooglePass: members.googlePass,
  Country: country,
  Tier: tier,
  Reward: reward,
  EarnRule: earnRule,
  ExpiryRule: expiryRule,
  WalletMode: walletMode,
  BalanceResult: transactions.balanceResult,
  EarnResult: transactions.earnResult,
  BalanceExplained: transactions.balanceExplained,
  RewardState: rewardState,
  TillHello: helloResult,
  TillMember: lookupResult,
  TillCandidate: candidate,
  TillReader: tillReader,
  LedgerType: transactions.ledgerType,
  StatusResult: members.statusResult,
  PushResult: members.pushResult,
  PassUpdate: passUpdate,
  TimelineItem: members.timelineItem,
  TimelineOutcome: members.timelineOutcome,
  Transaction: transactions.transaction,
  Actor: actor,
  ImportResult: batches.importResult,
  ImportCounts: batches.importCounts,
  ImportDryRun: batches.importDryRun,
  ImportColumn: batches.importColumn,
  ImportFailure: batches.importFailure,
  ImportRow: batches.importRow,
  Audience: audience,
  BatchPhase: batches.batchPhase,
  Batch: batches.batch,
  Campaign: campaign,
  CampaignCounts: campaignCounts,
  CampaignDryRun: campaignDryRun,
  AutomaticMessage: automaticMessage,
  PublicEnrollment: publicEnrollment,
  Subscription: webhooks.subscription,
  SubscriptionWithSecret: webhooks.subscriptionWithSecret,
  SubscriptionHealth: webhooks.health,
  Delivery: webhooks.delivery,
  DeliveryAttempt: webhooks.deliveryAttempt,
  DeliveryState: webhooks.deliveryState,
  Queued: webhooks.queued,
  RetryPolicy: webhooks.retryPolicy,
  MemberCounts: stats.memberCounts,
  WalletCounts: stats.walletCounts,
  PointCounts: stats.pointCounts,
  DeliveryCounts: stats.deliveryCounts,
} satisfies Record<string, z.ZodType>;

/** Schemas that have all fields of one of these, and others, refer to it. */
export const bases = ['AboutMember', 'ApiKey', 'BatchCompletedData', 'Member', 'Subscription'];

/** points.changed -> PointsChanged */
export const eventName = (type: EventType): string =>
  type.replace(/(?:^|\.)(\w)/g, (_, letter: string) => letter.toUpperCase());

const namedEvents: Record<string, z.ZodType> = Object.fromEntries(
  eventTypes.flatMap((type) => [
    [`${eventName(type)}Event`, envelopeOf(type)],
    [`${eventName(type)}Data`, eventData[type]],
  ]),
);

/** The schemas of everything that leaves the service: answers, failures and events. */
export const namedOutputs: Record<string, z.ZodType> = {
  ...namedResults,
  AnyEvent: anyEnvelope,
  AboutMember: aboutMember,
  ...namedEvents,
  ...namedFailures,
};
