// The two phones of the live desk, each with the card of any member.
import { useState } from 'react';
import { Link } from 'wouter';
import { useAction, useRead, useSettled } from '../actions.js';
import { api, data } from '../api.js';
import { Button, Select, TextInput } from '../parts/form.js';
import { Panel } from '../parts/page.js';
import { Android, Iphone, LockScreen } from '../parts/phones.js';
import { texts } from '../texts.js';
import { type DeskState, type Phone, press, putCard } from './deskProcess.js';
import { nameOf } from './members.js';

const said = texts.desk;
const typingMs = 200;
const newMembersMs = 3_000;

interface PhonesProps {
  state: DeskState;
  /** The service starts again. */
  isBusy: boolean;
  isShowing: boolean;
}

export function Phones({ state: { wallets, phones }, isBusy, isShowing }: PhonesProps) {
  const [search, setSearch] = useState('');
  const words = useSettled(search, typingMs).trim();
  const query = { pageSize: 20, ...(words && { q: words }) };
  const members = useRead(
    ['members', 'desk', query],
    () => data(api.GET('/merchants/me/members', { params: { query } })),
    { keep: true, everyMs: isBusy ? false : newMembersMs },
  );
  const put = useAction(({ phone, id }: { phone: Phone; id: string }) => putCard(id, [phone]));
  const choice = (phone: Phone) => {
    const held = phones[phone];
    const found = members.data?.items ?? [];
    const isListed = held === null || found.some(({ id }) => id === held.memberId);
    const options = [
      ...(held === null ? [['', said.choose] as const] : []),
      ...(isListed ? [] : [[held.memberId, held.name] as const]),
      ...found.map((member) => [member.id, said.cardOption(nameOf(member), member.program.name)] as const),
    ];
    return (
      <>
        <Select
          name={`${phone}.memberId`}
          label={said.cardOf[phone]}
          value={held?.memberId ?? ''}
          options={options}
          isDisabled={!wallets || put.isRunning || isShowing}
          onChange={(id) => id && put.run({ phone, id })}
        />
        {held && <Link href={`/members/${held.memberId}`}>{said.openMember(held.name)}</Link>}
      </>
    );
  };
  const { iphone, android } = phones;
  const empty = put.isRunning || isShowing ? said.adding : said.noCard;
  return (
    <Panel title={said.phones}>
      <TextInput
        name="search"
        type="search"
        label={said.find}
        hint={said.findHint}
        value={search}
        onChange={setSearch}
      />
      <div className="phones">
        <div className="stack">
          {choice('iphone')}
          <Iphone pass={iphone?.pass} pictures={iphone?.pictures} empty={empty} />
          <Shown title={iphone?.pass.organizationName} message={iphone?.lockScreen} />
          <Button
            isDisabled={!iphone}
            onPress={() => press({ do: 'flight', on: !iphone?.isOffline })}
            aria-pressed={iphone?.isOffline ?? false}
          >
            {iphone?.isOffline ? said.flightOff : said.flightOn}
          </Button>
        </div>
        <div className="stack">
          {choice('android')}
          <Android
            pass={android?.pass}
            pictures={android?.pictures}
            empty={empty}
            message={android?.lockScreen ?? ''}
          />
          <Shown title={android?.pass.class.programName} message={android?.lockScreen} />
        </div>
      </div>
    </Panel>
  );
}

function Shown({ title, message }: { title: string | undefined; message: string | undefined }) {
  return (
    <div className="screen lock-only">
      <LockScreen title={title} message={message} icon={undefined} />
    </div>
  );
}
