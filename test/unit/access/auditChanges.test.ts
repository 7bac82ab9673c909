// From what to what a change went, as the audit says it: bounded, and without secrets, pictures and personal data.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { auditActions } from '../../../schemas/access/audit.schema.js';
import { changesBetween } from '../../../schemas/access/auditChanges.rules.js';

describe('the changes of an audit entry', () => {
  it('are the leaves that differ, with what they were and what they are', () => {
    const before = { name: 'Café', goal: 8, rewards: [{ name: 'Tea', cost: 5 }], enrollment: { open: true } };
    const after = { name: 'Café', goal: 10, rewards: [{ name: 'Tea', cost: 6 }], country: 'DE' };
    expect(changesBetween('program.edit', before, after)).toEqual([
      { field: 'goal', from: 8, to: 10 },
      { field: 'rewards.0.cost', from: 5, to: 6 },
      { field: 'country', to: 'DE' },
      { field: 'enrollment.open', from: true },
    ]);
    expect(changesBetween('user.edit', { roleIds: ['till'] }, { roleIds: ['manager', 'till'] })).toEqual([
      { field: 'roleIds', from: ['till'], to: ['manager', 'till'] },
    ]);
  });

  it('only name a picture, the address of a webhook and the reason of a status', () => {
    const images = (logo: string) => ({ passTemplate: { images: { logo: { '1x': logo, '2x': logo } } } });
    expect(changesBetween('program.publish', images('iVBOR'), images('iVBOS'))).toEqual([
      { field: 'passTemplate.images.logo' },
    ]);
    const hook = (url: string) => ({ url, enabled: true });
    expect(changesBetween('webhook.edit', hook('https://a.example/s3cret'), hook('https://b.example/'))).toEqual([
      { field: 'url' },
    ]);
    const status = { status: 'active' };
    expect(changesBetween('member.status', status, { status: 'voided', reason: 'stole' })).toEqual([
      { field: 'status', from: 'active', to: 'voided' },
      { field: 'reason' },
    ]);
  });

  it('of actions about people and secrets have no values', () => {
    for (const action of auditActions.filter((one) => /^(?:member\.(?!status)|api-key|token|import)/.test(one)))
      expect(changesBetween(action, { firstName: 'Ada' }, { firstName: 'Bo' })).toEqual([]);
  });

  it('are few and short, however much changes', () => {
    const leaf = fc.oneof(fc.string({ maxLength: 3_000 }), fc.integer(), fc.boolean(), fc.array(fc.string()));
    const tree = fc.dictionary(fc.string({ minLength: 1 }), fc.oneof(leaf, fc.dictionary(fc.string(), leaf)));
    fc.assert(
      fc.property(tree, tree, (before, after) => {
        const changes = changesBetween('program.edit', before, after);
        expect(changes.length).toBeLessThanOrEqual(30);
        for (const { from, to } of changes)
          for (const value of [from, to].flat())
            if (typeof value === 'string') expect([...new Intl.Segmenter().segment(value)].length).toBeLessThan(102);
        expect(changesBetween('program.edit', after, after)).toEqual([]);
      }),
    );
  });
});
