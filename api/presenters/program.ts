// Programs as callers see them, without pass templates: their images are large, and no caller of these endpoints needs
// them.
import type { z } from 'zod';
import type { Program, programRecord, programSnapshot, programSummary } from '../../schemas/programs.js';

export function presentSummary({ _id, name, style, fields, goal, tiers }: Program): z.input<typeof programSummary> {
  return { _id, name, style, fields, ...(goal !== undefined && { goal }), ...(tiers && { tiers }) };
}

export function presentSnapshot(program: Program): z.input<typeof programSnapshot> {
  const { slug, archived, pushMessages } = program;
  return { ...presentSummary(program), slug, archived, pushMessages };
}

export function presentProgram(program: Program): z.input<typeof programRecord> {
  return { ...presentSnapshot(program), ...(program.basis && { basis: program.basis }) };
}
