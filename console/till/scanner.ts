// Reads a scanner that types. It presses keys as if the keyboard had one layout while the device may use another, so
// what it typed is read twice: by what the keys mean here, and by where they are.

export interface Press {
  /** What the key means in the layout of this device, as in KeyboardEvent. */
  key: string;
  /** Which key it is, as in KeyboardEvent. */
  code: string;
  shiftKey: boolean;
  altKey?: boolean;
  /** In milliseconds. */
  at: number;
}

/** No two keys of a scanner are further apart; hardly any two of a person are so close. */
export const pauseMs = 100;
/** What ends with a pause could be a fast typist. */
const shortestByPause = 8;
const shortest = 4;

const otherKeys: Record<string, string> = {
  Minus: '-',
  BracketRight: ']',
  Slash: '/',
  Period: '.',
  Semicolon: ';',
};

/** With AltGr, which some systems report as Ctrl and Alt, keyboards write characters such as ]. */
export const isShortcut = ({ ctrlKey, altKey, metaKey }: Record<'ctrlKey' | 'altKey' | 'metaKey', boolean>): boolean =>
  metaKey || (ctrlKey && !altKey);

function byPosition({ code, shiftKey }: Press): string {
  const [, letter, digit] = /^(?:Key([A-Z])|(?:Digit|Numpad)(\d))$/.exec(code) ?? [];
  if (letter !== undefined) return shiftKey ? letter : letter.toLowerCase();
  return digit ?? otherKeys[code] ?? '';
}

/** A scanner may name the kind of the barcode first, such as ]Q3 or ]E0 (ISO/IEC 15424). */
export const withoutSymbology = (text: string): string => text.trim().replace(/^\][A-Za-z][0-9A-Za-z]/, '');

const memberCode = /^[0-9A-HJKMNP-TV-Z]{10}$/i;
const plain = /^[\w-]+$/;

/** What was scanned, the likeliest reading first. */
export function readingsOf(presses: readonly Press[]): string[] {
  const typed = presses.filter(({ key }) => key.length === 1);
  const byKey = withoutSymbology(typed.map(({ key }) => key).join(''));
  // A scanner that types as if the layout were American needs no AltGr.
  const isByKey = typed.some(({ altKey }) => altKey);
  const byPlace = isByKey ? '' : withoutSymbology(typed.map(byPosition).join(''));
  const readings = [...new Set([byKey, byPlace])].filter((text) => text !== '');
  const inForm = readings.filter((text) => memberCode.test(text));
  if (inForm.length > 0) return inForm;
  const written = readings.filter((text) => plain.test(text));
  return written.length > 0 ? written : readings.slice(0, 1);
}

export interface Scanner {
  /** Returns the readings when this key ends a scan. */
  press: (press: Press) => string[] | undefined;
  /** Returns the readings when a pause has ended a scan. */
  pause: (at: number) => string[] | undefined;
}

export function createScanner(): Scanner {
  let presses: Press[] = [];

  function end(least: number): string[] | undefined {
    const ended = presses;
    presses = [];
    return ended.length >= least ? readingsOf(ended) : undefined;
  }

  return {
    press(press) {
      const last = presses.at(-1);
      if (last && press.at - last.at > pauseMs) presses = [];
      if (press.key === 'Enter' || press.key === 'Tab') return end(shortest);
      if (press.key.length === 1) presses.push(press);
      return undefined;
    },
    pause(at) {
      const last = presses.at(-1);
      return last && at - last.at > pauseMs ? end(shortestByPause) : undefined;
    },
  };
}

const sameWithinMs = 2_000;

/** A card that stays before the camera is read again and again, and counts once. */
export function createScanFilter(): (code: string, at: number, withinMs?: number) => boolean {
  let last = { code: '', at: Number.NEGATIVE_INFINITY };
  return function isNew(code, at, withinMs = sameWithinMs) {
    const isRepeated = code === last.code && at - last.at < withinMs;
    last = { code, at };
    return !isRepeated;
  };
}
