// The options of an import (docs/interface.md#48-imports-and-batches): form fields or query parameters.
import { z } from 'zod';
import { queryFlag } from '../access/endpoint.schema.js';
import { idText } from '../shared/text.js';
import { columnMapping } from './importColumns.rules.js';

const mapping = z
  .string()
  .max(8_192)
  .transform((value, context): unknown => {
    try {
      return JSON.parse(value);
    } catch {
      context.addIssue('must be JSON');
      return z.NEVER;
    }
  })
  .pipe(columnMapping)
  .meta({ shown: { type: 'string', contentMediaType: 'application/json', maxLength: 8_192 } });

export const importOptions = z.strictObject({
  programId: idText().optional(),
  mapping: mapping
    .optional()
    .describe('JSON: the field of each column by its header, such as {"E-Mail": "email"}; null ignores the column'),
  quiet: queryFlag.optional().describe('creates without `member.created` and `pass.created` for each row'),
  repairs: idText()
    .optional()
    .describe('the id of the import whose failed rows this file holds, corrected; its mapping holds for this file too'),
  dryRun: queryFlag.optional().describe('answers what would happen, and writes nothing'),
});
export type ImportOptions = z.output<typeof importOptions>;
export type ImportOptionName = keyof ImportOptions;
export const importOptionNames = Object.keys(importOptions.shape) as ImportOptionName[];
