// A thousand cards instead of some.
import { vi } from 'vitest';

vi.stubEnv('ANY_CARDS', '1000');
await import('../wire/wallets/anyCard.test.js');
