// The live version of a program, for those who may not change it.
import { useRead } from '../actions.js';
import { api, data, serviceUrl } from '../api.js';
import type { ApplePass, GooglePass } from '../parts/faces.js';
import { Facts, Failure, number, Page, Panel } from '../parts/page.js';
import { Android, Iphone, PublicPage } from '../parts/phones.js';
import { texts } from '../texts.js';
import { noPosterBecause, ProgramPoster } from './programPoster.js';

const said = texts.design;

export function Live({ id }: { id: string }) {
  const program = useRead(['program', id], () =>
    data(api.GET('/merchants/me/programs/{id}', { params: { path: { id } } })),
  );
  const card = useRead(['live-preview', id], () =>
    data(api.GET('/merchants/me/programs/{id}/preview', { params: { path: { id } } })),
  );
  const { name, slug, style, fields, goal, rewardName, version } = program.data ?? {};
  const pictures = card.data?.appleImages;
  return (
    <Page title={name ?? said.title} back={{ to: '/programs', title: texts.nav.programs }}>
      <Failure error={program.error ?? card.error} />
      <p className="hint">{texts.frame.notAllowed('merchants.programs:edit')}</p>
      {program.data && (
        <Panel title={said.facts}>
          <Facts
            facts={[
              [said.style, style && texts.programs.styles[style]],
              [said.unit, fields?.primaryLabel],
              [said.goal, goal === undefined ? texts.frame.none : number(goal)],
              [said.goalReward, rewardName ?? texts.frame.none],
              [texts.programs.version, version],
              [
                said.slug,
                <a key="slug" href={`${serviceUrl}/enroll/${slug}`} target="_blank" rel="noreferrer">
                  {slug}
                </a>,
              ],
            ]}
          />
        </Panel>
      )}
      {program.data && <ProgramPoster id={id} slug={program.data.slug} notBecause={noPosterBecause(program.data)} />}
      <section className="stack" aria-label={said.preview}>
        <h2>{said.preview}</h2>
        <div className="phones">
          <Iphone pass={card.data?.apple as ApplePass | null | undefined} pictures={pictures} />
          <Android pass={card.data?.google as GooglePass | null | undefined} pictures={pictures} message="" />
        </div>
        <h3>{texts.phones.publicPage}</h3>
        <PublicPage html={card.data?.publicPage} />
      </section>
    </Page>
  );
}
