// One member: the card as the member sees it, what happened to it, and all actions on the member.
import { useEffect } from 'react';
import { useParams } from 'wouter';
import { queryClient, useRead } from '../actions.js';
import { api, data } from '../api.js';
import { locale } from '../language.js';
import type { ApplePass, GooglePass } from '../parts/faces.js';
import { Address, Facts, Failure, number, Page, Panel, Skeleton } from '../parts/page.js';
import { Android, Iphone } from '../parts/phones.js';
import { texts } from '../texts.js';
import { Points, Redeem, Status, Tags } from './memberChanges.js';
import { type Detail, followMs, readMember } from './memberDetail.js';
import { Ledger, Timeline } from './memberHistory.js';
import { Pass } from './memberPass.js';
import { Person, PersonalData } from './memberPerson.js';
import { nameOf, StatusBadge } from './members.js';

const said = texts.member;

export function Member() {
  const { id = '' } = useParams();
  const member = useRead(['member', id], () => readMember(id), { everyMs: followMs });
  const back = { to: '/members', title: texts.nav.members };
  if (!member.data)
    return (
      <Page title={said.title} back={back}>
        {member.error ? <Failure error={member.error} /> : <Skeleton />}
      </Page>
    );
  const { program, balance, tier, redeemedCount, deviceCount, tags, email, phone, memberCode, status, apple } =
    member.data;
  const { externalId, expiring, consent, marketing, statusReason } = member.data;
  return (
    <Page title={nameOf(member.data)} back={back} lead={<StatusBadge status={status} />}>
      <div className="columns">
        <Points member={member.data} />
        <Redeem member={member.data} />
      </div>
      <div className="columns">
        <Panel
          title={said.card}
          actions={
            <a href={apple.passUrl} target="_blank" rel="noreferrer">
              {said.openCard}
            </a>
          }
        >
          <Card member={member.data} />
          <Facts
            facts={[
              [program.fields.primaryLabel, number(balance)],
              ...(tier ? ([[said.tier, tier]] as const) : []),
              [texts.members.program, program.name],
              [texts.members.code, <code key="code">{memberCode}</code>],
              [texts.members.email, email ? <Address key="email">{email}</Address> : texts.frame.none],
              [said.phone, phone ?? texts.frame.none],
              [said.externalId, externalId ?? texts.frame.none],
              [said.phones, number(deviceCount)],
              [said.redeemed, number(redeemedCount)],
              [said.tags, tags.length > 0 ? tags.join(', ') : texts.frame.none],
              ...(expiring.length > 0 ? ([[said.expiring, expiring.map(expiringText).join('; ')]] as const) : []),
              ...(statusReason ? ([[said.statusReason, statusReason]] as const) : []),
              ...(consent ? ([[said.consent, consent.text]] as const) : []),
              ...(marketing ? ([[said.marketing, marketing.text]] as const) : []),
            ]}
          />
        </Panel>
        <Pass member={member.data} />
      </div>
      <Ledger member={member.data} />
      <div className="columns">
        <Person member={member.data} />
        <div className="stack">
          <Tags member={member.data} />
          <Status member={member.data} />
        </div>
      </div>
      <Timeline id={id} />
      <PersonalData member={member.data} />
    </Page>
  );
}

const expiringText = ({ points, at }: Detail['expiring'][number]) =>
  said.expiringAt(points, new Date(at).toLocaleDateString(locale, { dateStyle: 'medium' }));

/** The pass as the member has it, read again together with the member after an action, and when others changed it. */
function Card({ member: { id, updatedAt, program } }: { member: Detail }) {
  const { data: card, error } = useRead(['member-card', id], () =>
    data(api.GET('/merchants/me/members/{id}/preview', { params: { path: { id } } })),
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: these tell of a change
  useEffect(() => {
    void queryClient.invalidateQueries({ queryKey: ['member-card', id] }, { cancelRefetch: false });
  }, [id, updatedAt, program]);
  if (error) return <Failure error={error} />;
  return (
    <div className="phones">
      <Iphone pass={card?.apple as ApplePass | undefined} pictures={card?.appleImages} />
      <Android pass={card?.google as GooglePass | undefined} pictures={card?.appleImages} message="" />
    </div>
  );
}
