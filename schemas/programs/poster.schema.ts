// The poster of a program for the counter: its sheets, and the types of its file.
import { z } from 'zod';

export const posterFormats = ['a4', 'a5', 'tent'] as const;
export type PosterFormat = (typeof posterFormats)[number];

const posterTypes = ['pdf', 'png'] as const;
export type PosterType = (typeof posterTypes)[number];

export const posterQuery = z.strictObject({
  format: z.enum(posterFormats).default('a4'),
  type: z.enum(posterTypes).default('pdf'),
});
