// A real SMTP server on loopback for tests of mail, with TLS, authentication and refusals that tests configure.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

interface ReceivedMail {
  from: string;
  to: string[];
  /** As the server received it. */
  raw: string;
  parsed: Email;
  secure: boolean;
  user: string | undefined;
}

/** The server's answer to one step of a mail; undefined accepts it. */
interface Refusal {
  responseCode: number;
  message: string;
}

export interface SmtpServer {
  port: number;
  mails: ReceivedMail[];
  /** The number of connections so far. */
  connections: () => number;
  /** Decides about each recipient of later mails. */
  judge: (recipient: (address: string) => Refusal | undefined) => void;
  /** Decides about each mail after its content arrived; may be slow. */
  judgeContent: (content: (mail: ReceivedMail) => Refusal | undefined | Promise<Refusal | undefined>) => void;
  close: () => Promise<void>;
}

const errorOf = ({ message, responseCode }: Refusal): Error => Object.assign(new Error(message), { responseCode });

export async function startSmtpServer(
  options: SMTPServerOptions = {},
  { port = 0, host = '127.0.0.1' }: { port?: number; host?: string } = {},
): Promise<SmtpServer> {
  const mails: ReceivedMail[] = [];
  let connections = 0;
  let recipient: (address: string) => Refusal | undefined = () => undefined;
  let content: (mail: ReceivedMail) => Refusal | undefined | Promise<Refusal | undefined> = () => undefined;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    closeTimeout: 100,
    onConnect(_session, callback) {
      connections += 1;
      callback();
    },
    onRcptTo({ address }, _session, callback) {
      const refusal = recipient(address);
      callback(refusal ? errorOf(refusal) : null);
    },
    onData(stream, { envelope, secure, user }, callback) {
      const read = async () => {
        const bytes = await buffer(stream);
        const mail: ReceivedMail = {
          from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
          to: envelope.rcptTo.map(({ address }) => address),
          raw: bytes.toString('utf8'),
          parsed: await PostalMime.parse(bytes),
          secure,
          user: user === undefined ? undefined : String(user),
        };
        const refusal = await content(mail);
        if (refusal) throw errorOf(refusal);
        mails.push(mail);
      };
      read().then(() => callback(), callback);
    },
    ...options,
  });
  // A client that does not trust the certificate, or times out, closes its connection.
  server.on('error', () => {});
  server.listen(port, host);
  await once(server.server, 'listening');
  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    connections: () => connections,
    judge(decide) {
      recipient = decide;
    },
    judgeContent(decide) {
      content = decide;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
