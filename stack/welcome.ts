// Prints the addresses of the running stack, how to open its console, and the tour.
import type { Demo, StackFile } from './stackFile.js';
import type { Terminal } from './terminal.js';

export interface Welcome {
  stack: StackFile;
  signInLink: string;
  logDir: string;
  /** The folder of the mails; absent when they are sent. */
  mailDir: string | undefined;
  tookMs: number;
}

export function printWelcome(terminal: Pick<Terminal, 'line'>, welcome: Welcome): void {
  const { stack, signInLink, logDir, mailDir, tookMs } = welcome;
  const { receiver, client } = tourLines(stack);
  const lines = [
    '',
    `  Everything runs, ${(tookMs / 1000).toFixed(1)} s after the start. Ctrl-C stops it.`,
    '',
    `  API          ${stack.baseUrl}`,
    `  API docs     ${new URL('/docs', stack.baseUrl)}`,
    `  Temporal UI  ${stack.temporalUi ?? `that of ${stack.temporalAddress}`}`,
    `  logs         ${logDir}`,
    ...(mailDir === undefined ? [] : [`  mails        ${mailDir}`]),
    '',
    "  The demo's console, signed in. The link works once; another: npm run users -- link owner@demo.example --merchant demo",
    '',
    `  ${signInLink}`,
    '',
    '  A tour. In a second terminal, in this folder, a receiver of webhooks:',
    '',
    ...receiver,
    '',
    '  In a third terminal, line by line: subscribe, enroll a member, award points.',
    '',
    ...client,
    '',
  ];
  for (const line of lines) terminal.line(line);
}

interface TourInput {
  /** The API's address for clients on this machine, with `/api/v1`. */
  baseUrl: string;
  demo: Pick<Demo, 'apiKey' | 'programs'>;
}

const receiverPort = 4000;
const receiverSecret = 'tour-secret-0123456789';

/**
 * The lines for the second terminal (receiver) and the third one (client), for bash or zsh. The receiver must listen and
 * be subscribed before the member is enrolled.
 */
function tourLines({ baseUrl, demo }: TourInput): { receiver: string[]; client: string[] } {
  const call = `curl -sS -H "X-API-Key: $KEY" -H 'Content-Type: application/json'`;
  const json = (value: unknown) => `-d '${JSON.stringify(value)}'`;
  const subscription = { url: `http://127.0.0.1:${receiverPort}/`, events: ['*'], secret: receiverSecret };
  const member = { programId: demo.programs.points, firstName: 'Ada', initialPoints: 10 };
  const change = { delta: 25, changeMessage: 'You earned 25 points' };
  return {
    receiver: [`npm run -s receiver -- --secret ${receiverSecret}`],
    client: [
      `KEY=${demo.apiKey}; API=${baseUrl}`,
      `${call} $API/merchants/me/webhooks ${json(subscription)}; echo`,
      `MEMBER=$(${call} $API/merchants/me/members ${json(member)} | node -p 'JSON.parse(fs.readFileSync(0)).data.id'); echo $MEMBER`,
      `${call} -X PATCH $API/merchants/me/members/$MEMBER/points -H "Idempotency-Key: tour-$(date +%s)" ${json(change)}; echo`,
    ],
  };
}
