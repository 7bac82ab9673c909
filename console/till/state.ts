// What the screen of the till is made of.
import {
  balanceWith,
  type Candidate,
  type Device,
  type Failure,
  type Known,
  type Program,
  type Tap,
  undoable,
} from './taps.js';

export interface Shown {
  code: string;
  programId: string | undefined;
  /** Undefined: this device has never seen the card, and there is no line. */
  known: Known | undefined;
  /** Whether it comes from the service, just now. */
  isFresh: boolean;
  /** The tap that was noted last. */
  doneId?: number;
  /** The device could not store the last tap. */
  isNotNoted?: boolean;
}

export interface TillState {
  /** `starting` until the database is read. */
  phase: 'starting' | 'unpaired' | 'paired';
  device?: Device;
  line: 'unknown' | 'on' | 'off';
  /** The device can store nothing. */
  isStoreBroken?: boolean;
  /** Why the service refuses this device. */
  shutOut?: Failure;
  taps: Tap[];
  isFinding: boolean;
  shown?: Shown;
  /** `areReadings`: what a scanner typed can be read as either. */
  choices?: { candidates: Candidate[]; areReadings: boolean };
  /** Why nothing was found. */
  problem?: { code: string; text?: string | undefined };
}

/** Taps of the device that is connected, which the service does not know yet. */
export const waitingOf = ({ taps, device }: TillState): Tap[] =>
  taps.filter(({ state, device: of }) => state === 'waiting' && of === device?.id);

/**
 * Taps of a device that was connected before can never be sent; those of a person wait for the person, unless the device
 * is not a person's any more.
 */
export const isLost = (tap: Tap, device: Device | undefined): boolean =>
  tap.state === 'waiting' &&
  device !== undefined &&
  tap.device !== device.id &&
  (device.token !== undefined || tap.device.startsWith('reader:'));

/** What the staff has to read. */
export const listedOf = ({ taps, device }: TillState): Tap[] =>
  taps.filter((tap) => !tap.dismissed && (tap.state === 'refused' || isLost(tap, device)));

/** The tap that an undo for this member takes back. */
export const undoableOf = ({ taps, device }: TillState, code: string, now: number): Tap | undefined =>
  undoable(
    taps.filter((tap) => tap.device === device?.id),
    code,
    now,
  );

export const programOf = ({ device }: TillState, id: string | undefined): Program | undefined =>
  device?.hello?.programs.find(({ _id }) => _id === id);

/** The balance of the member who is shown; undefined when this device has never seen the card. */
export const balanceOf = ({ shown, taps }: TillState): number | undefined =>
  shown?.known && balanceWith(shown.known, taps);
