// A client that is generated from the OpenAPI document is enough for the main job: the test generates its types,
// compiles a program against them and runs the program against the service.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
// The program below imports this package; the import here marks it as used.
import 'openapi-fetch';
import openapiTS, { astToString } from 'openapi-typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openApiText } from '../../../api/openapi/document.view.js';
import { until } from '../../rig/checks/until.js';
import { type Receiver, startReceiver } from '../../rig/standins/receiver.js';
import { clientProgram } from '../../rig/start/clientProgram.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

const run = promisify(execFile);
const modules = join(import.meta.dirname, '..', '..', '..', 'node_modules');

let folder: string;
let service: TestService;
let merchant: TestMerchant;
let receiver: Receiver;

beforeAll(async () => {
  // Below node_modules, so that the generated client finds its library.
  await mkdir(join(modules, '.cache'), { recursive: true });
  folder = await mkdtemp(join(modules, '.cache', 'generated-client-'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  service = await startService();
  // Otherwise the generator makes every field with a default required.
  const types = await openapiTS(openApiText({ publicUrl: service.baseUrl }), { defaultNonNullable: false });
  await writeFile(join(folder, 'schema.ts'), astToString(types));
  merchant = await aMerchant(service);
  receiver = await startReceiver();
});
afterAll(async () => {
  await service.stop();
  await receiver.stop();
  await rm(folder, { recursive: true, force: true });
});

async function compile(name: string, program: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, program);
  const flags = ['--noEmit', '--strict', '--skipLibCheck', '--types', 'node', '--module', 'nodenext'];
  const args = [join(modules, 'typescript', 'bin', 'tsc'), ...flags, '--target', 'es2023', '--lib', 'es2024,dom', file];
  return run(process.execPath, args).then(
    () => '',
    (error: { stdout?: string }) => String(error.stdout),
  );
}

describe('a client generated from the document', () => {
  it('subscribes, enrolls, awards, redeems and replays', async () => {
    expect(await compile('program.ts', clientProgram)).toBe('');
    const { _id: programId } = await merchant.program();
    const { stdout } = await run(process.execPath, ['--import', 'tsx', join(folder, 'program.ts')], {
      env: {
        ...process.env,
        BASE_URL: service.baseUrl,
        API_KEY: merchant.apiKey,
        PROGRAM_ID: programId,
        RECEIVER_URL: receiver.url,
      },
    });
    const { eventId, ...said } = JSON.parse(stdout);
    expect(said).toEqual({
      current: [105, 5],
      replayedAnswer: ['true', 105],
      refused: 'CARD_NOT_FULL',
      sameEvent: true,
    });
    const copies = () => receiver.requests.filter(({ headers }) => headers['webhook-id'] === eventId);
    await until(() => copies().length === 2);
    expect(new Set(copies().map(({ body }) => body.toString('utf8'))).size).toBe(1);
  });

  it('does not compile when it uses something that the document does not have', async () => {
    const wrong = clientProgram.replace('initialPoints: 95', "initialPoints: '95'");
    expect(await compile('wrong.ts', wrong)).toContain("Type 'string' is not assignable to type 'number'");
  });
});
