// Google's signed callbacks: which are accepted, and which are refused as forged or expired.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type GoogleRootKey, rootKey, verifyCallback } from '../../../api/wallets/google/callback.rules.js';
import { createGoogleSigner } from '../../rig/standins/googleSigner.js';

const issuerId = '3388000000012345678';
const now = new Date('2026-05-01T12:00:00Z');

// Signed with OpenSSL over bytes from a script in another language: Google's form, with characters of two and three
// bytes, so that a length counted in characters fails.
const opensslRoot = {
  keyValue:
    'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEUdmz20ZoePtVXkwm/3h26KJXpS091yMPwFn+XQQtqo4ku+uNe8dWmlFLPpieh4ABNfwYdueaQJf856rhAWjFoA==',
  protocolVersion: 'ECv2SigningOnly',
};
const opensslBody = {
  signature: 'MEUCIGinMZ21ZhfurfBh/X+qdJbGNrtlryz6uTYpkHZkb9coAiEA+YaS4mb3pvLwpAAirlbYg+WlA8D4tWX/2r2undCG7KY=',
  intermediateSigningKey: {
    signedKey:
      '{"keyValue":"MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEbYn+oz0c9BcYSfJQ+lb+fNHYmzzHBcpGqljfdITWhWvgzH+qswx9fZb+s6Be+wzPXqAFPQe27fLMlnQDlyGLEw\\u003d\\u003d","keyExpiration":"1790000000000"}',
    signatures: ['MEYCIQDHDHHWjktPXMuyMEkCGTWg9LS25XUkh5FZhUlMuvaFigIhAO8bckvsHKgl3anCZ9vL0qtwNCZnFLmAa+kfmlyaoVz5'],
  },
  protocolVersion: 'ECv2SigningOnly',
  signedMessage:
    '{"classId":"3388000000012345678.program-café","objectId":"3388000000012345678.member-1","eventType":"save","expTimeMillis":1780000000000,"count":1,"nonce":"n-中文"}',
};

const event = {
  classId: `${issuerId}.program-demo`,
  objectId: `${issuerId}.member-1`,
  eventType: 'save',
  expTimeMillis: now.getTime() + 120_000,
  count: 1,
  nonce: '40a8e5af',
};

function setUp() {
  const signer = createGoogleSigner(issuerId, () => now.getTime());
  const rootKeys = () => signer.published().keys.map((key) => rootKey.parse(key));
  const check = (body: unknown, changes: { rootKeys?: GoogleRootKey[]; now?: Date; issuerId?: string } = {}) =>
    verifyCallback({ issuerId, rootKeys: rootKeys(), now, ...changes }, body);
  return { signer, rootKeys, check };
}

describe("Google's callbacks", () => {
  it('signed by other code in the published form are accepted', () => {
    expect(verifyCallback({ issuerId, rootKeys: [opensslRoot], now }, opensslBody)).toEqual({
      ok: true,
      event: {
        eventType: 'save',
        classId: '3388000000012345678.program-café',
        objectId: '3388000000012345678.member-1',
        expTimeMillis: 1_780_000_000_000,
        nonce: 'n-中文',
      },
    });
  });

  it.each(['save', 'del'] as const)('of a %s are accepted', (eventType) => {
    const { signer, check } = setUp();
    const { count: _, ...named } = event;
    expect(check(signer.sign({ ...event, eventType }))).toEqual({ ok: true, event: { ...named, eventType } });
  });

  it('that were changed anywhere are refused', () => {
    const { signer, check } = setUp();
    const good = signer.sign(event);
    const { signedKey, signatures } = good.intermediateSigningKey;
    const cut = (text: string, at: number) => text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);
    fc.assert(
      fc.property(
        fc.nat(),
        fc.constantFrom('signature', 'signedMessage', 'signedKey', 'signatures'),
        (where, field) => {
          const at = (text: string) => where % (text.length - 4);
          const [only = ''] = signatures;
          const forged = {
            signature: { ...good, signature: cut(good.signature, at(good.signature)) },
            signedMessage: { ...good, signedMessage: cut(good.signedMessage, at(good.signedMessage)) },
            signedKey: { ...good, intermediateSigningKey: { signatures, signedKey: cut(signedKey, at(signedKey)) } },
            signatures: { ...good, intermediateSigningKey: { signedKey, signatures: [cut(only, at(only))] } },
          }[field];
          expect(check(forged)).toMatchObject({ ok: false, reason: expect.stringMatching(/^forged_/) });
        },
      ),
    );
  });

  it('signed by another key, for another issuer, by another sender or in another protocol are refused', () => {
    const { signer, check } = setUp();
    const stranger = createGoogleSigner(issuerId, () => now.getTime());
    expect(check(stranger.sign(event))).toEqual({ ok: false, reason: 'forged_key' });
    expect(check(signer.sign(event, { recipient: '1' }))).toEqual({ ok: false, reason: 'forged_message' });
    expect(check(signer.sign(event), { issuerId: '1' })).toEqual({ ok: false, reason: 'forged_message' });
    expect(check(signer.sign(event, { sender: 'GooglePay' }))).toEqual({ ok: false, reason: 'forged_key' });
    expect(check(signer.sign(event, { protocolVersion: 'ECv2' }))).toEqual({ ok: false, reason: 'wrong_protocol' });
    expect(check({ ...signer.sign(event), protocolVersion: 'ECv2' })).toEqual({ ok: false, reason: 'wrong_protocol' });
    const otherObject = { ...event, objectId: '3388000000099999999.member-1' };
    expect(check(signer.sign(otherObject))).toEqual({ ok: false, reason: 'other_issuer' });
  });

  it('whose intermediate key is signed by an unknown root key are refused', () => {
    const { signer, check } = setUp();
    const stranger = createGoogleSigner(issuerId, () => now.getTime()).sign(event);
    const mixed = { ...stranger, intermediateSigningKey: signer.sign(event).intermediateSigningKey };
    expect(check(mixed)).toEqual({ ok: false, reason: 'forged_message' });
  });

  it('that are expired, or whose keys are, are refused from that moment on', () => {
    const { signer, rootKeys, check } = setUp();
    const at = (ms: number) => ({ now: new Date(ms) });
    const body = signer.sign(event, { keyExpiresAt: event.expTimeMillis + 1_000 });
    expect(check(body, at(event.expTimeMillis - 1))).toMatchObject({ ok: true });
    expect(check(body, at(event.expTimeMillis))).toEqual({ ok: false, reason: 'expired_message' });
    expect(check(body, at(event.expTimeMillis + 1_000))).toEqual({ ok: false, reason: 'expired_key' });
    const expired = rootKeys().map((key) => ({ ...key, keyExpiration: now.getTime() }));
    expect(check(body, { rootKeys: expired })).toEqual({ ok: false, reason: 'forged_key' });
    const otherUse = rootKeys().map((key) => ({ ...key, protocolVersion: 'ECv2' }));
    expect(check(body, { rootKeys: otherUse })).toEqual({ ok: false, reason: 'forged_key' });
  });

  it('are accepted with any of several root keys and any of several signatures', () => {
    const { signer, rootKeys, check } = setUp();
    const stranger = createGoogleSigner(issuerId)
      .published()
      .keys.map((key) => rootKey.parse(key));
    const broken = { keyValue: 'AAAA', protocolVersion: 'ECv2SigningOnly' };
    const body = signer.sign(event);
    const { signedKey, signatures } = body.intermediateSigningKey;
    const several = { ...body, intermediateSigningKey: { signedKey, signatures: ['AAAA', ...signatures] } };
    expect(check(several, { rootKeys: [broken, ...stranger, ...rootKeys()] })).toMatchObject({ ok: true });
  });

  it('of another event type are distinguished from forged ones', () => {
    const { signer, check } = setUp();
    const activate = { ...event, eventType: 'activate', objectId: undefined, objectIds: [event.objectId] };
    expect(check(signer.sign(activate))).toEqual({ ok: false, reason: 'unknown_event' });
    expect(check(signer.sign({ ...event, nonce: undefined }))).toEqual({ ok: false, reason: 'malformed' });
    expect(check(signer.sign('not JSON'))).toEqual({ ok: false, reason: 'malformed' });
  });

  it('with arbitrary content are refused without an error', () => {
    const { check } = setUp();
    const text = fc.string();
    const shaped = fc.record({
      protocolVersion: fc.constant('ECv2SigningOnly'),
      signature: text,
      intermediateSigningKey: fc.record({ signedKey: text, signatures: fc.array(text, { maxLength: 10 }) }),
      signedMessage: text,
    });
    fc.assert(
      fc.property(fc.oneof(fc.anything(), shaped), (body) => {
        expect(check(body).ok).toBe(false);
      }),
    );
  });
});
