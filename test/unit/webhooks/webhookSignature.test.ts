// The two signatures of a webhook (ours and Standard Webhooks), and their secrets.
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import {
  makeWebhookSecret,
  secretMistake,
  signService,
  signStandard,
} from '../../../schemas/webhooks/signature.rules.js';
import { subscriptionRequest } from '../../../schemas/webhooks/webhooks.schema.js';

const body = Buffer.from('{"eventId":"evt_1","points":2432232314}');
const nowSeconds = () => Math.floor(Date.now() / 1000);

function verifyWithLibrary(secret: string, signature: string, id: string, unixSeconds: number, payload: Buffer) {
  const verifier = secret.startsWith('whsec_') ? new Webhook(secret) : new Webhook(secret, { format: 'raw' });
  const headers = { 'webhook-id': id, 'webhook-timestamp': String(unixSeconds), 'webhook-signature': signature };
  return verifier.verify(payload, headers, { jsonParse: false });
}

describe('the signature of the interface', () => {
  it('is what openssl computes over timestamp, dot and body with the whole secret as the key', () => {
    const signature = signService('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', '2026-11-21T04:00:00.000Z', body);
    expect(signature).toBe('sha256=ad736f535bd31d8f35a34beddedbb20a378e3a5a5387c11fece14ff72c019c34');
  });

  it('differs when any single bit of the body differs', () => {
    const secret = makeWebhookSecret();
    const signature = signService(secret, 't', body);
    for (let bit = 0; bit < body.length * 8; bit += 1) {
      const changed = Buffer.from(body);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(signService(secret, 't', changed)).not.toBe(signature);
    }
  });

  it('is 64 lower-case hex digits for any secret and any bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.uint8Array(), (secret, bytes) => {
        expect(signService(secret, 't', bytes)).toMatch(/^sha256=[0-9a-f]{64}$/);
      }),
    );
  });
});

describe('the signature of Standard Webhooks', () => {
  it('equals the published example', () => {
    const signature = signStandard(
      ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
      'msg_p5jXN8AQM9LWM0D4loKWxJek',
      1614265330,
      Buffer.from('{"test": 2432232314}'),
    );
    expect(signature).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  it('verifies with the standardwebhooks library, for generated and for chosen secrets', () => {
    const printable = fc.string({ unit: 'grapheme-ascii', minLength: 16, maxLength: 128 });
    const secrets = fc.oneof(
      fc.constant(null).map(makeWebhookSecret),
      printable.filter((text) => !text.startsWith('whsec_')),
    );
    fc.assert(
      fc.property(secrets, fc.uuid(), fc.json(), (secret, id, json) => {
        const payload = Buffer.from(json);
        const seconds = nowSeconds();
        verifyWithLibrary(secret, signStandard([secret], id, seconds, payload), id, seconds, payload);
      }),
    );
  });

  it('has one entry for each live secret, so that both sides of a rotation verify', () => {
    const [newest, previous, stranger] = [makeWebhookSecret(), 'a secret of my own choice', makeWebhookSecret()];
    const seconds = nowSeconds();
    const signature = signStandard([newest, previous], 'evt_1', seconds, body);
    expect(signature.split(' ')).toHaveLength(2);
    verifyWithLibrary(newest, signature, 'evt_1', seconds, body);
    verifyWithLibrary(previous, signature, 'evt_1', seconds, body);
    expect(() => verifyWithLibrary(stranger, signature, 'evt_1', seconds, body)).toThrow('No matching signature');
  });

  it('does not verify for another id, time or body', () => {
    const secret = makeWebhookSecret();
    const seconds = nowSeconds();
    const signature = signStandard([secret], 'evt_1', seconds, body);
    const refused = 'No matching signature';
    expect(() => verifyWithLibrary(secret, signature, 'evt_2', seconds, body)).toThrow(refused);
    expect(() => verifyWithLibrary(secret, signature, 'evt_1', seconds - 1, body)).toThrow(refused);
    expect(() => verifyWithLibrary(secret, signature, 'evt_1', seconds, Buffer.from('{}'))).toThrow(refused);
  });
});

describe('secrets', () => {
  it('are 32 random bytes and never repeat', () => {
    const made = Array.from({ length: 100 }, makeWebhookSecret);
    expect(new Set(made).size).toBe(100);
    for (const secret of made) {
      expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32);
      expect(secretMistake(secret)).toBeUndefined();
    }
  });

  it.each([
    ['any text without the prefix', 'my own secret, 16+', undefined],
    ['text that only contains the prefix', 'our whsec_ is longer', undefined],
    ['canonical base64 after the prefix', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', undefined],
    ['nothing after the prefix', 'whsec_', /base64/],
    ['text that is not base64 after the prefix', 'whsec_not base64 at all!', /base64/],
    ['unpadded base64 after the prefix', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS', /base64/],
    ['base64url after the prefix', 'whsec_-_KQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', /base64/],
    ['the prefix in capitals', 'WHSEC_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', /must begin with whsec_/],
    ['a hyphen in the prefix', 'whsec-MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', /must begin with whsec_/],
    ['the version of a signature before it', 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=', /is a signature/],
    ['a private key of asymmetric signatures', 'whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbf=', /asymmetric/],
    ['quotation marks around it', '"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"', /quotation marks/],
  ])('with %s are accepted only if a receiver can verify with them', (_name, secret, mistake) => {
    if (mistake === undefined) expect(secretMistake(secret)).toBeUndefined();
    else expect(secretMistake(secret)).toMatch(mistake);
  });
});

it('white space that was copied with a secret is removed from it', () => {
  for (const [before, after] of [
    [' ', ''],
    ['', '\n'],
    ['\t', '\r\n'],
    ['\u00a0', ' '],
  ]) {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const asked = { url: 'https://example.com/', events: ['*'], secret: `${before}${secret}${after}` };
    expect(subscriptionRequest.parse(asked).secret).toBe(secret);
  }
});
