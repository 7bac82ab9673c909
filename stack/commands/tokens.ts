// Signs a console session token for operators and for trials. Works only where the console shares its secret with the
// service (HS256).
import { SignJWT } from 'jose';
import { transact } from '../../platform/mongodb/transact.js';
import {
  type Command,
  type CommandContext,
  type CommandInput,
  consoleSecret,
  Mistakes,
  main,
  required,
} from './command.js';
import { type RoleOption, rolesOf } from './roleOption.js';

const lifetime = /^[1-9]\d{0,4}[smhd]$/;

async function create(context: CommandContext, input: CommandInput): Promise<void> {
  const { deps, audited, config, say } = context;
  const [merchantId = '', user = ''] = required(input, ['merchant', 'user']);
  const expires = String(input.values.expires ?? '1h');
  if (!lifetime.test(expires)) throw new Mistakes(['--expires must be a number and s, m, h or d, as 8h']);
  const roleIds = await rolesOf(deps, { merchantId, input });
  const token = await new SignJWT({ merchantId, roleIds })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(user)
    .setIssuer(config.CONSOLE_JWT_ISSUER)
    .setAudience(config.CONSOLE_JWT_AUDIENCE)
    .setIssuedAt()
    .setExpirationTime(expires)
    .sign(new TextEncoder().encode(consoleSecret(context)));
  await transact(audited([{ merchantId, targetId: user }]), [], 0);
  say(token);
}

const role: RoleOption = { type: 'string', multiple: true };

export const tokens: Command = {
  name: 'tokens',
  verbs: {
    create: {
      usage: 'create --merchant ID --user ID --role ROLE... [--expires 1h]',
      does: 'signs a console token and shows it',
      example: 'create --merchant corner-cafe --user ada --role owner --expires 8h',
      options: { merchant: { type: 'string' }, user: { type: 'string' }, role, expires: { type: 'string' } },
      audit: 'token.create',
      run: create,
    },
  },
};

if (process.argv[1]?.match(/commands\/tokens\.[jt]s$/)) await main(tokens);
