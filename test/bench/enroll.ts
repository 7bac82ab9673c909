// Enrollments over the API, compared with the same read and the same transaction by the bare driver.
import { type AnyClientBulkWriteModel, type Document, MongoClient } from 'mongodb';
import { emailKey, memberCreated } from '../../activities/members/newMember.rules.js';
import { newId } from '../../schemas/shared/ids.js';
import { type Bench, settled } from './bench.js';
import { closedLoop, ofRates, type Rounds, sideBySide } from './load.js';
import { aMerchant, aNewMember } from './merchant.js';
import { memoryOf } from './processes.js';
import { type Row, round } from './row.js';

const callers = 64;
type Statement = AnyClientBulkWriteModel<Document & { _id: string }>;

export async function benchEnroll(bench: Bench, { rounds, oursMs, yardstickMs }: Rounds): Promise<Row[]> {
  const [merchant, bareMerchant] = await Promise.all([aMerchant(bench, { callers }), aMerchant(bench)]);
  const { config } = bench.deps;
  const mongo = new MongoClient(config.MONGODB_URI, {
    writeConcern: { w: 'majority', journal: true },
    maxPoolSize: callers,
    ignoreUndefined: true,
  });
  const emails = mongo.db(config.MONGODB_DATABASE).collection<Document & { _id: string }>('emails');
  let next = 0;

  const enroll = () => {
    next += 1;
    const body = {
      programId: merchant.program._id,
      firstName: 'Ada',
      lastName: `Lovelace${next % 997}`,
      email: `member-${next}@enroll.example`,
    };
    return merchant.call({ method: 'POST', path: '/merchants/me/members', body });
  };

  const bare = async () => {
    next += 1;
    const { program } = bareMerchant;
    const { member, email, searchWordRows } = aNewMember(bench.deps, program, next);
    const event = memberCreated(bench.deps, { member, eventId: newId(), leaseOwner: null });
    await emails.findOne({ _id: emailKey(program._id, member.email ?? '') });
    const into = (name: string, document: Document & { _id: string }): Statement => ({
      namespace: `${config.MONGODB_DATABASE}.${name}`,
      name: 'insertOne',
      document,
    });
    const statements = [
      into('members', member),
      ...(email ? [into('emails', email)] : []),
      ...searchWordRows.map((token) => into('memberSearchWords', token)),
      // The relay ignores a published event, so only the transaction is measured.
      into('events', { ...event, state: 'published' }),
    ];
    await mongo.withSession((session) =>
      session.withTransaction(() =>
        // biome-ignore lint/plugin: inside a transaction
        mongo.bulkWrite<Record<string, Document & { _id: string }>>(statements, { session }),
      ),
    );
  };

  await closedLoop({ callers, ms: 1_000 }, enroll);
  await closedLoop({ callers, ms: 500 }, bare);
  await settled(bench);
  const { ours, yardstick, cpu, ratios } = await sideBySide({
    pids: bench.pids,
    rounds,
    ours: () => closedLoop({ callers, ms: oursMs }, enroll),
    yardstick: () => closedLoop({ callers, ms: yardstickMs }, bare),
    settle: () => settled(bench),
  });
  await Promise.all([merchant.close(), bareMerchant.close(), mongo.close()]);
  const ratio = ofRates(ours, yardstick);
  return [
    {
      scenario: `enroll accepted, ${callers} callers; one transaction by the bare driver`,
      ours: round(ours.rate),
      yardstick: round(yardstick.rate),
      ratio: round(ratio),
      ...ratios(ofRates),
      unit: 'members/s',
      goal: '>= 0.5',
      reached: ratio >= 0.5,
      latency: ours.latency,
      yardstickLatency: yardstick.latency,
      cpu,
      memory: memoryOf(bench.pids),
    },
  ];
}
