// The code that pairs a device: its letters and its link, until it is used or over.
import { serviceUrl } from '../api.js';
import { Window } from '../parts/dialog.js';
import { Button } from '../parts/form.js';
import { Address, Facts, useNow } from '../parts/page.js';
import { Qr } from '../parts/qr.js';
import { texts } from '../texts.js';
import type { Reader } from './readerFields.js';

const said = texts.readers;

/** A reader, and the code that pairs its next device. */
export interface Pairing {
  reader: Pick<Reader, 'id' | 'name' | 'pairedAt'>;
  pairingCode: string;
  pairingLink: string;
  /** When it is over by the clock of this browser, which may be wrong. */
  until: number;
}

const codeMs = 10 * 60_000;

export const pairingOf = (
  reader: Pairing['reader'],
  { pairingCode, pairingLink }: Pick<Pairing, 'pairingCode' | 'pairingLink'>,
): Pairing => ({ reader, pairingCode, pairingLink, until: Date.now() + codeMs });

interface PairingWindowProps {
  pairing: Pairing;
  isRunning: boolean;
  onNewCode: () => void;
  onClose: () => void;
}

export function PairingWindow({ pairing, isRunning, onNewCode, onClose }: PairingWindowProps) {
  const { reader, pairingCode, pairingLink, until } = pairing;
  const left = Math.max(0, Math.ceil((until - useNow(1_000)) / 1_000));
  return (
    <Window title={said.pairTitle(reader.name)} onClose={onClose}>
      <p>{said.pairSteps}</p>
      {reader.pairedAt !== null && <p>{said.pairsAnother}</p>}
      <div className={left > 0 ? 'pairing' : 'pairing over'}>
        <Qr value={pairingLink} label={said.qr} />
        <p className="code" role="img" aria-label={`${said.code}: ${[...pairingCode].join(' ')}`}>
          {pairingCode.slice(0, 4)} {pairingCode.slice(4)}
        </p>
      </div>
      <Facts facts={[[said.address, <Address key="address">{`${serviceUrl}/till`}</Address>]]} />
      <p role="timer" className={left > 0 ? 'hint' : 'error'}>
        {left > 0 ? said.validFor(Math.floor(left / 60), left % 60) : said.over}
      </p>
      <div className="row end">
        <Button isDisabled={isRunning} onPress={onNewCode}>
          {said.pair}
        </Button>
        <Button kind="primary" onPress={onClose}>
          {texts.frame.close}
        </Button>
      </div>
    </Window>
  );
}
