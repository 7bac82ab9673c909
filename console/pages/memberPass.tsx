// The pass of one member on its wallets, and what can be done about it.
import { useState } from 'react';
import { useAction, useRead } from '../actions.js';
import { api, data } from '../api.js';
import { Confirm } from '../parts/dialog.js';
import { Button } from '../parts/form.js';
import { Failure, Moment, Panel, Skeleton, Technical } from '../parts/page.js';
import { Table } from '../parts/table.js';
import { may } from '../session.js';
import { texts } from '../texts.js';
import { changes, type Detail, edit, type Report, readReport } from './memberDetail.js';
import { mainFinding } from './passFinding.js';

const said = texts.member;

type Device = Report['apple']['devices'][number];

interface PhoneShown extends Pick<Device, 'id' | 'lastFetch'> {
  kind: string;
  registeredAt: string | null;
  lastPush: Pick<NonNullable<Device['lastPush']>, 'at'> | null;
}

/** The iPhones, numbered when there are several, and the Android phone: Google names none of its phones. */
function phonesOf({ apple: { devices }, google }: Report): PhoneShown[] {
  const iphones = devices.map((device, at) => ({
    ...device,
    kind: said.kinds.apple(devices.length > 1 ? at + 1 : 0),
  }));
  if (!google.saved) return iphones;
  const android = { id: 'google', kind: said.kinds.google, registeredAt: null, lastFetch: null };
  return [...iphones, { ...android, lastPush: google.lastPatch }];
}

export function Pass({ member: { id, status, program } }: { member: Detail }) {
  const report = useRead(['pass', id], () => readReport(id));
  const finding =
    report.data &&
    mainFinding(report.data, { now: Date.now(), pushes: program.pushMessages, isActive: status === 'active' });
  const params = { path: { id } };
  const push = useAction(() => data(api.POST('/merchants/me/members/{id}/push', { params })), {
    changes,
    said: ({ passUpdate }) => (passUpdate ? said.pushed(passUpdate.apple.devicesNotified) : said.pushing),
  });
  const [asks, setAsks] = useState(false);
  const replace = useAction(() => data(api.POST('/merchants/me/members/{id}/card-link', { params, body: {} })), {
    changes,
    said: said.linkReplaced,
    onDone: () => setAsks(false),
  });
  return (
    <Panel
      title={said.pass}
      actions={
        <>
          <Button isDisabled={push.isRunning || !may(edit)} onPress={() => push.run()}>
            {said.push}
          </Button>
          <Button isDisabled={!may(edit)} onPress={() => setAsks(true)}>
            {said.replaceLink}
          </Button>
        </>
      }
    >
      <Failure error={report.error} />
      {report.isPending && <Skeleton />}
      {report.data && (
        <Table
          name={said.phones}
          rows={phonesOf(report.data)}
          keyOf={({ id: phone }) => phone}
          empty={said.noPhones(program.pushMessages ? report.data.apple.mode : 'off')}
          columns={[
            { title: said.phone_, cell: ({ kind }) => kind },
            { title: said.registered, cell: ({ registeredAt }) => <Moment at={registeredAt} /> },
            { title: said.lastPush, cell: ({ lastPush }) => <Moment at={lastPush?.at} /> },
            {
              title: said.lastFetch,
              cell: ({ lastFetch }) =>
                lastFetch ? (
                  <>
                    <Moment at={lastFetch.at} /> {said.after(lastFetch.latencyMs)}
                  </>
                ) : (
                  texts.frame.none
                ),
            },
          ]}
        />
      )}
      {finding !== undefined && <p role="status">{said.passFindings[finding]}</p>}
      {report.data && report.data.findings.length > 0 && (
        <Technical>
          {report.data.findings.map((sentence) => (
            <p key={sentence} className="hint">
              {sentence}
            </p>
          ))}
        </Technical>
      )}
      {asks && (
        <Confirm
          title={said.replaceLink}
          action={said.replaceLink}
          isRunning={replace.isRunning}
          onConfirm={() => replace.run()}
          onClose={() => setAsks(false)}
        >
          <p>{said.replaceLinkHint}</p>
        </Confirm>
      )}
    </Panel>
  );
}
