// The person behind a member: edits, the export of all data, and the erasure.
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useAction, useDraft } from '../actions.js';
import { api, apiUrl, data } from '../api.js';
import { forgetPerson } from '../forget.js';
import { useUnsaved } from '../leave.js';
import { Confirm } from '../parts/dialog.js';
import { Button, Form, TextInput } from '../parts/form.js';
import { Panel } from '../parts/page.js';
import { may } from '../session.js';
import { texts } from '../texts.js';
import { changes, type Detail, edit, unitOf } from './memberDetail.js';
import { nameOf } from './members.js';

const said = texts.member;

const personFields = ['firstName', 'lastName', 'email', 'phone', 'externalId'] as const;

export function Person({ member }: { member: Detail }) {
  const { id } = member;
  const [draft, setDraft, clear] = useDraft<Record<string, string>>(`person:${id}`, {});
  const changed = personFields.filter((field) => draft[field] !== undefined && draft[field] !== (member[field] ?? ''));
  useUnsaved(changed.length > 0);
  const save = useAction(
    () => {
      const body = Object.fromEntries(changed.map((field) => [field, draft[field] || null]));
      return data(api.PATCH('/merchants/me/members/{id}', { params: { path: { id } }, body }));
    },
    { changes, said: said.personSaved, onDone: clear },
  );
  return (
    <Panel title={said.person} needs={edit}>
      <Form label={said.person} findings={save.findings} onSubmit={() => save.run()}>
        <div className="fields">
          {personFields.map((field) => (
            <TextInput
              key={field}
              name={field}
              label={said[field]}
              value={draft[field] ?? member[field] ?? ''}
              onChange={(value) => setDraft({ ...draft, [field]: value })}
            />
          ))}
        </div>
        <div>
          <Button kind="primary" type="submit" isDisabled={save.isRunning || changed.length === 0}>
            {texts.frame.save}
          </Button>
        </div>
      </Form>
    </Panel>
  );
}

export function PersonalData({ member }: { member: Detail }) {
  const [, go] = useLocation();
  const [asks, setAsks] = useState(false);
  const erase = useAction(
    () => data(api.DELETE('/merchants/me/members/{id}', { params: { path: { id: member.id } } })),
    {
      changes: ['members'],
      said: said.erased,
      onDone() {
        forgetPerson(member.id);
        go('/members', { replace: true });
      },
    },
  );
  const { balance, deviceCount } = member;
  return (
    <Panel title={said.personalData}>
      <div className="row">
        {may('audit:view') && <Link href={`/audit?targetId=${member.id}`}>{said.changesOf}</Link>}
        <Link href={`/members/${member.id}/data`}>{said.readAll}</Link>
        <a href={`${apiUrl}/merchants/me/members/${member.id}/export`} download={`${member.memberCode}.json`}>
          {said.exportAll}
        </a>
        <Button kind="danger" isDisabled={!may('merchants.members:delete')} onPress={() => setAsks(true)}>
          {said.erase}
        </Button>
      </div>
      {asks && (
        <Confirm
          title={said.eraseTitle(nameOf(member))}
          action={said.erase}
          kind="danger"
          isRunning={erase.isRunning}
          onConfirm={() => erase.run()}
          onClose={() => setAsks(false)}
        >
          <p>{said.eraseHint}</p>
          <ul>
            <li>{said.losesBalance(balance, unitOf(member))}</li>
            <li>{said.losesPhones(deviceCount)}</li>
            <li>{said.losesNames}</li>
          </ul>
          <p>{said.keepsLedger}</p>
        </Confirm>
      )}
    </Panel>
  );
}
