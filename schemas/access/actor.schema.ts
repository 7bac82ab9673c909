// Who made a change.
import { z } from 'zod';

export const actor = z.object({
  type: z.enum(['api-key', 'user', 'import', 'public', 'reader', 'program']),
  id: z.string(),
  name: z.string().exactOptional(),
});
export type Actor = z.infer<typeof actor>;
