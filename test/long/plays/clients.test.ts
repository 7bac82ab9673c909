// Clients that other generators make from the OpenAPI document as it is enroll a member: one in Python, one in Go. What
// the generators and clients need comes from PyPI and the Go module proxy; without it a test is skipped with the reason.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cacheDirOf } from '../../../stack/engines/cache.js';
import { fromPypi, missing, type Step } from '../../rig/start/fromPypi.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

const run = promisify(execFile);
const installMs = 600_000;
const pythonGenerator = ['openapi-python-client', '0.29.1'] as const;
const goGenerator = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
const goRuntime = 'github.com/oapi-codegen/runtime@v1.9.0';

let service: TestService;
let merchant: TestMerchant;
let folder: string;
let document: string;

beforeAll(async () => {
  service = await startService();
  merchant = await aMerchant(service);
  folder = await mkdtemp(join(tmpdir(), 'loyalty-pass-clients-'));
  document = join(folder, 'openapi.json');
  const answer = await fetch(`${service.baseUrl}/openapi.json`);
  await writeFile(document, await answer.text());
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

const settings = async () => ({
  ...process.env,
  BASE_URL: service.baseUrl,
  API_KEY: merchant.apiKey,
  PROGRAM_ID: (await merchant.program())._id,
});

/** What the program of each language says, and what the service has of it. */
async function expectEnrolled(stdout: string, firstName: string) {
  const { id, ...said } = JSON.parse(stdout);
  expect(said).toEqual({ status: 201, firstName, balance: 95, refused: [404, 'PROGRAM_NOT_FOUND'] });
  const { body } = await merchant.call(`/merchants/me/members/${id}`);
  expect(body.data).toMatchObject({ firstName, balance: 95 });
}

const pythonProgram = `
import json, os
from loyalty_pass_service_client import AuthenticatedClient
from loyalty_pass_service_client.api.members import enroll_member
from loyalty_pass_service_client.models import EnrollRequest

client = AuthenticatedClient(
    base_url=os.environ["BASE_URL"], token=os.environ["API_KEY"], auth_header_name="X-API-Key", prefix=""
)

def enroll(program_id, key):
    body = EnrollRequest(program_id=program_id, first_name="Ada", initial_points=95)
    return enroll_member.sync_detailed(client=client, body=body, idempotency_key=key)

answer = enroll(os.environ["PROGRAM_ID"], "python-client-1")
refused = enroll("none", "python-client-2")
member = answer.parsed.data
print(json.dumps({
    "id": str(member.id),
    "status": answer.status_code.value,
    "firstName": member.first_name,
    "balance": member.balance,
    "refused": [refused.status_code.value, refused.parsed.error.code.value],
}))
`;

it(
  'openapi-python-client makes a client that enrolls a member',
  async (context) => {
    const { bin, reason } = await fromPypi(...pythonGenerator);
    context.skip(reason !== undefined, reason);
    const client = join(folder, 'python');
    const env = { ...(await settings()), PATH: `${bin}:${process.env.PATH}`, PYTHONPATH: client };
    const args = ['generate', '--path', document, '--output-path', client];
    const { stdout, stderr } = await run(join(bin, 'openapi-python-client'), args, { cwd: folder, env });
    // It knows no body that is a CSV; the same file can be sent as a form. A poster is in the answer's `content`.
    expect(`${stdout}\n${stderr}`.match(/^WARNING.*|^Unsupported.*/gm)).toEqual([
      'WARNING parsing GET /merchants/me/programs/{id}/poster within programs.',
      'WARNING parsing POST /merchants/me/imports within batches.',
      'Unsupported content type text/csv',
    ]);
    await writeFile(join(folder, 'program.py'), pythonProgram);
    const answer = await run(join(bin, 'python'), [join(folder, 'program.py')], { cwd: folder, env });
    await expectEnrolled(answer.stdout, 'Ada');
  },
  installMs,
);

const goProgram = `package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"
)

func main() {
	ctx := context.Background()
	withKey := WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
		request.Header.Set("X-API-Key", os.Getenv("API_KEY"))
		return nil
	})
	client, err := NewClientWithResponses(os.Getenv("BASE_URL"), withKey)
	if err != nil {
		log.Fatal(err)
	}
	enroll := func(programId, key string) *EnrollMemberResponse {
		firstName, points := "Grace", 95
		body := EnrollRequest{ProgramId: programId, FirstName: &firstName, InitialPoints: &points}
		answer, err := client.EnrollMemberWithResponse(ctx, &EnrollMemberParams{IdempotencyKey: &key}, body)
		if err != nil {
			log.Fatal(err)
		}
		return answer
	}
	answer := enroll(os.Getenv("PROGRAM_ID"), "go-client-1")
	refused := enroll("none", "go-client-2")
	member := answer.JSON201.Data
	err = json.NewEncoder(os.Stdout).Encode(map[string]any{
		"id":        member.Id,
		"status":    answer.StatusCode(),
		"firstName": member.FirstName,
		"balance":   member.Balance,
		"refused":   []any{refused.StatusCode(), refused.JSON404.Error.Code},
	})
	if err != nil {
		log.Fatal(err)
	}
}
`;

it(
  'oapi-codegen makes a client that enrolls a member',
  async (context) => {
    const client = join(folder, 'go');
    await mkdir(client);
    const home = join(cacheDirOf(process.env), 'go');
    const env = { ...(await settings()), GOBIN: home, GOFLAGS: '-mod=mod' };
    const options = { cwd: client, env, maxBuffer: 32 * 1024 * 1024 };
    const steps: Step[] = [
      ['go', ['install', goGenerator]],
      ['go', ['mod', 'init', 'example.com/client']],
      ['go', ['get', goRuntime]],
    ];
    const reason = await missing(steps, options);
    context.skip(reason !== undefined, reason);
    // Without skip-prune it leaves out what only webhooks use, and then uses it.
    const generate = ['-generate', 'types,client,skip-prune', '-package', 'main', '-o', 'client.go', document];
    await run(join(home, 'oapi-codegen'), generate, options);
    await writeFile(join(client, 'main.go'), goProgram);
    const { stdout } = await run('go', ['run', '.'], options);
    await expectEnrolled(stdout, 'Grace');
  },
  installMs,
);
