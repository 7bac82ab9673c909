// The commands that a new user pastes, in this order: the receiver must listen and be subscribed before the member is
// enrolled. The lines need a shell (bash or zsh), curl and Node.
import type { Demo } from './stackFile.js';

export interface TourInput {
  /** The API's address for clients on this machine, with `/api/v1`. */
  baseUrl: string;
  demo: Pick<Demo, 'apiKey' | 'programs'>;
}

const receiverPort = 4000;
const receiverSecret = 'tour-secret-0123456789';

/** The lines for the second terminal (receiver) and the third one (client). */
export function tourLines({ baseUrl, demo }: TourInput): { receiver: string[]; client: string[] } {
  const call = `curl -sS -H "X-API-Key: $KEY" -H 'Content-Type: application/json'`;
  const json = (value: unknown) => `-d '${JSON.stringify(value)}'`;
  const subscription = { url: `http://127.0.0.1:${receiverPort}/`, events: ['*'], secret: receiverSecret };
  const member = { programId: demo.programs.points, firstName: 'Ada', initialPoints: 10 };
  const change = { delta: 25, changeMessage: 'You earned 25 points' };
  return {
    receiver: [`npm run -s receiver -- --secret ${receiverSecret}`],
    client: [
      `KEY=${demo.apiKey}; API=${baseUrl}/merchants/me`,
      `${call} $API/webhooks ${json(subscription)}; echo`,
      `MEMBER=$(${call} $API/members ${json(member)} | node -p 'JSON.parse(fs.readFileSync(0)).data.id'); echo $MEMBER`,
      `${call} -X PATCH $API/members/$MEMBER/points -H "Idempotency-Key: tour-$(date +%s)" ${json(change)}; echo`,
    ],
  };
}
