// What follows the first publication of a program: its page with the code, the poster, and the next step.
import { Link } from 'wouter';
import { serviceUrl } from '../api.js';
import type { Json } from '../merge.js';
import { Window } from '../parts/dialog.js';
import { Button } from '../parts/form.js';
import { Address } from '../parts/page.js';
import { Qr } from '../parts/qr.js';
import { texts } from '../texts.js';
import { noPosterBecause, usePoster } from './programPoster.js';

const said = texts.design;

export function FirstPublication({ id, program, onClose }: { id: string; program: Json; onClose: () => void }) {
  const slug = String(program.slug);
  const draw = usePoster(id, slug);
  const page = `${serviceUrl}/enroll/${slug}`;
  const notBecause = noPosterBecause(program);
  return (
    <Window title={said.liveNow} onClose={onClose}>
      {notBecause === undefined ? (
        <>
          <p>{said.liveHint}</p>
          <div className="pairing">
            <Qr value={page} />
            <a href={page} target="_blank" rel="noreferrer">
              <Address>{page}</Address>
            </a>
          </div>
        </>
      ) : (
        <p className="hint">{notBecause}</p>
      )}
      <p>
        {said.liveNext}{' '}
        <Link href="/members">{program.style === 'stamps' ? texts.overview.firstStamp : said.firstPoints}</Link>.{' '}
        {texts.overview.firstStampHint}
      </p>
      <div className="row end">
        <Button onPress={onClose}>{texts.frame.close}</Button>
        <Button
          kind="primary"
          isDisabled={notBecause !== undefined || draw.isRunning}
          onPress={() => draw.run({ format: 'a4', type: 'pdf' })}
        >
          {said.posterA4}
        </Button>
      </div>
    </Window>
  );
}
