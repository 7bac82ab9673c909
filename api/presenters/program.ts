// Programs as callers see them, without pass templates: their images are large, and no caller of these endpoints needs
// them.
import type { z } from 'zod';
import type { Program, programRecord, programSnapshot, programSummary } from '../../schemas/programs.js';

type Shown = Omit<Program, 'passTemplate'>;

export function presentSummary({ _id, name, style, fields, goal, tiers }: Shown): z.input<typeof programSummary> {
  return { _id, name, style, fields, ...(goal !== undefined && { goal }), ...(tiers && { tiers }) };
}

export function presentSnapshot(program: Shown): z.input<typeof programSnapshot> {
  const { slug, archived, pushMessages } = program;
  return { ...presentSummary(program), slug, archived, pushMessages };
}

export function presentProgram(program: Shown): z.input<typeof programRecord> {
  const { basis, rewards, earn, expiry, timeZone } = program;
  return {
    ...presentSnapshot(program),
    ...(basis && { basis }),
    ...(rewards && { rewards }),
    ...(earn && { earn }),
    ...(expiry && { expiry }),
    ...(timeZone && { timeZone }),
  };
}
