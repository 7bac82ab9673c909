// A keyboard scanner in any layout (docs/till.md).
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createScanFilter, createScanner, isShortcut, type Press, readingsOf } from '../../../console/till/scanner.js';

const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
const american = new Map([
  ...letters.map((letter) => [letter, `Key${letter}`] as const),
  ...[...'0123456789'].map((digit) => [digit, `Digit${digit}`] as const),
  [']', 'BracketRight'],
  ['-', 'Minus'],
]);
const germanSwaps: Record<string, string> = { KeyY: 'Z', KeyZ: 'Y', BracketRight: '+', Minus: 'ß' };
const frenchSwaps: Record<string, string> = {
  ...{ KeyQ: 'A', KeyA: 'Q', KeyW: 'Z', KeyZ: 'W', KeyM: '?', Semicolon: 'M', BracketRight: '£', Minus: ')' },
  ...Object.fromEntries([...'à&é"\'(-è_ç'].map((key, digit) => [`Digit${digit}`, key])),
};
const layouts: Record<string, Record<string, string>> = { american: {}, german: germanSwaps, french: frenchSwaps };
const characterAt = (layout: Record<string, string>, code: string): string =>
  layout[code] ?? [...american].find(([, of]) => of === code)?.[0] ?? '';

/** What a device with this layout hears when a scanner of the American layout types a text. */
function typed(text: string, layout: Record<string, string>, gapMs = 8): Press[] {
  return [...text].map((character, index) => {
    const code = american.get(character.toUpperCase()) ?? '';
    const shiftKey = /[A-Z]/.test(character);
    const key = characterAt(layout, code);
    return { code, key: shiftKey ? key : key.toLowerCase(), shiftKey, at: 1_000 + index * gapMs };
  });
}

/** The same of a scanner that is set to the layout of the device. */
function typedRightly(text: string, layout: Record<string, string>): Press[] {
  const codes = [...american.values(), 'Semicolon'];
  return [...text].map((character, index) => ({
    code: codes.find((code) => characterAt(layout, code) === character) ?? '',
    key: character,
    shiftKey: /[A-Z]/.test(character),
    at: 1_000 + index * 8,
  }));
}

const memberCode = fc.string({
  unit: fc.constantFrom(...'0123456789ABCDEFGHJKMNPQRSTVWXYZ'),
  minLength: 10,
  maxLength: 10,
});
const enter = (at: number): Press => ({ key: 'Enter', code: 'Enter', shiftKey: false, at });

describe('a keyboard scanner', () => {
  for (const [name, layout] of Object.entries(layouts)) {
    it(`is understood in a member code on a device with the ${name} layout, whichever of the two it is set to`, () => {
      fc.assert(
        fc.property(memberCode, (code) => {
          expect(readingsOf(typed(code, layout)).map((text) => text.toUpperCase())).toContain(code);
          expect(readingsOf(typedRightly(code, layout))[0]).toBe(code);
          expect(readingsOf(typed(`]Q3${code}`, layout)).map((text) => text.toUpperCase())).toContain(code);
        }),
      );
    });

    it(`is understood in a number on a device with the ${name} layout`, () => {
      fc.assert(
        fc.property(fc.bigInt(10n ** 7n, 10n ** 13n), (number) => {
          expect(readingsOf(typed(String(number), layout))).toEqual([String(number)]);
          expect(readingsOf(typed(`]E0${number}`, layout))).toEqual([String(number)]);
        }),
      );
    });
  }

  it('that is set to the German layout writes the ] of a prefix with AltGr, which is no shortcut', () => {
    const altGr = { ctrlKey: true, altKey: true, metaKey: false };
    expect(isShortcut(altGr)).toBe(false);
    expect(isShortcut({ ...altGr, altKey: false })).toBe(true);
    expect(isShortcut({ ctrlKey: false, altKey: false, metaKey: true })).toBe(true);
    const bracket = { key: ']', code: 'Digit9', shiftKey: false, altKey: true, at: 992 };
    const cardNumber = fc.string({ unit: fc.constantFrom('0', '5', 'Y', 'Z'), minLength: 5 });
    fc.assert(
      fc.property(fc.oneof(memberCode, cardNumber), (code) => {
        expect(readingsOf([bracket, ...typedRightly(`Q3${code}`, germanSwaps)])).toEqual([code]);
      }),
    );
  });

  it('is read once when both readings are the same', () => {
    expect(readingsOf(typed('7H2K9M4QXT', {}))).toEqual(['7H2K9M4QXT']);
    expect(readingsOf(typed('7Y2K9M4QXT', germanSwaps))).toEqual(['7Z2K9M4QXT', '7Y2K9M4QXT']);
  });

  it.each(['Enter', 'Tab'])('ends a code with %s', (key) => {
    const scanner = createScanner();
    for (const press of typed('7H2K9M4QXT', {})) expect(scanner.press(press)).toBeUndefined();
    expect(scanner.press({ ...enter(1_090), key })).toEqual(['7H2K9M4QXT']);
    expect(scanner.press({ ...enter(1_100), key })).toBeUndefined();
  });

  it('ends a code with a pause', () => {
    const scanner = createScanner();
    for (const press of typed('7H2K9M4QXT', {})) scanner.press(press);
    expect(scanner.pause(1_150)).toBeUndefined();
    expect(scanner.pause(1_250)).toEqual(['7H2K9M4QXT']);
    expect(scanner.pause(1_400)).toBeUndefined();
  });

  it('leaves alone what a person types', () => {
    const scanner = createScanner();
    for (const press of typed('7H2K9M4QXT', {}, 180)) expect(scanner.press(press)).toBeUndefined();
    expect(scanner.pause(4_000)).toBeUndefined();
    expect(scanner.press(enter(5_000))).toBeUndefined();
  });
});

describe('the same code', () => {
  it('counts once for as long as the card stays, and for two seconds more', () => {
    const isNew = createScanFilter();
    expect([0, 1_500, 3_000, 4_999].map((at) => isNew('A', at))).toEqual([true, false, false, false]);
    expect(isNew('A', 6_999)).toBe(true);
    expect(isNew('B', 7_000)).toBe(true);
    expect(isNew('A', 7_001)).toBe(true);
  });
});
