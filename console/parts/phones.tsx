// Both phones and the public page, rendered from the answer of the preview: pass.json with its images, and Google's
// class and object, as faces.ts reads them.
import { useState } from 'react';
import { serviceUrl } from '../api.js';
import { texts } from '../texts.js';
import { Barcode } from './barcode.js';
import { type AppleFace, type ApplePass, appleFace, differsOnOlder, type GooglePass, googleFace } from './faces.js';

export type Pictures = Readonly<Record<string, string>>;

const picture = (pictures: Pictures | undefined, name: string): string | undefined => {
  const found = ['@3x', '@2x', ''].map((scale) => pictures?.[`${name}${scale}.png`]).find((base64) => base64);
  return found && `data:image/png;base64,${found}`;
};

function Fields({ fields, className }: { fields: AppleFace['back']; className: string }) {
  if (fields.length === 0) return null;
  return (
    <div className={className}>
      {fields.map(({ key, label, value }) => (
        <div key={key}>
          <span className="pass-label">{label}</span>
          <span>{String(value)}</span>
        </div>
      ))}
    </div>
  );
}

interface Front {
  pass: ApplePass;
  face: AppleFace;
  pictures: Pictures | undefined;
}

const Code = ({ code }: { code: AppleFace['code'] }) =>
  code && <Barcode format={code.format} value={code.value} caption={code.caption} />;

function CardFront({ pass, face, pictures }: Front) {
  const [logo, strip] = [picture(pictures, 'logo'), picture(pictures, 'strip')];
  const look = { background: pass.backgroundColor, color: pass.foregroundColor, '--pass-label': pass.labelColor };
  const primary = <Fields className="pass-primary" fields={face.primary} />;
  return (
    <div className={pass.voided ? 'pass voided' : 'pass'} style={look as React.CSSProperties}>
      <div className="pass-head">
        {logo && <img src={logo} alt="" />}
        <span className="pass-logo">{face.title}</span>
        <Fields className="pass-header" fields={face.header} />
      </div>
      {strip ? (
        <div className="pass-strip">
          <img src={strip} alt="" />
          {primary}
        </div>
      ) : (
        primary
      )}
      <Fields className="pass-row" fields={face.secondary} />
      <Fields className="pass-row" fields={face.auxiliary} />
      <Code code={face.code} />
    </div>
  );
}

function PosterFront({ pass, face, pictures }: Front) {
  const [logo, artwork] = [picture(pictures, 'primaryLogo'), picture(pictures, 'artwork')];
  const look = {
    backgroundColor: pass.backgroundColor,
    backgroundImage: artwork && `url("${artwork}")`,
    color: pass.foregroundColor,
    '--pass-label': pass.labelColor,
  };
  return (
    <div className={pass.voided ? 'pass poster voided' : 'pass poster'} style={look as React.CSSProperties}>
      <div className="pass-head">
        {logo ? <img src={logo} alt="" /> : <span className="pass-logo">{face.title}</span>}
        <Fields className="pass-header" fields={face.header} />
      </div>
      <div className="poster-foot">
        <Fields className="pass-row" fields={face.primary} />
        <Fields className="pass-row" fields={face.footer} />
        <Code code={face.code} />
      </div>
    </div>
  );
}

/** The buttons below the pass. Their words are Apple's. */
function Actions({ actions }: { actions: readonly string[] }) {
  if (actions.length === 0) return null;
  const words: Readonly<Record<string, string>> = texts.phones.actions;
  return (
    <ul className="pass-actions">
      {actions.map((type) => (
        <li key={type}>{words[type] ?? type}</li>
      ))}
    </ul>
  );
}

function Back({ lines }: { lines: readonly (readonly [label: string, value: string])[] }) {
  return (
    <dl className="pass-back">
      {lines.map(([label, value], index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two fields may have the same label, and their order is fixed
        <div key={index}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

const said = ({ changeMessage = '', value }: AppleFace['back'][number]) =>
  changeMessage.replace('%@', String(value)).replaceAll(/[\u200b\u200c]/g, '');

export function LockScreen({
  title,
  message,
  icon,
}: {
  title: string | undefined;
  message: string | undefined;
  icon: string | undefined;
}) {
  return (
    <div className="lock">
      <span className="clock">9:41</span>
      {message ? (
        <div className="lock-notice">
          {icon && <img src={icon} alt="" />}
          <div>
            <strong>{title}</strong>
            <span>{message}</span>
          </div>
        </div>
      ) : (
        <p>{texts.phones.noMessage}</p>
      )}
    </div>
  );
}

type View = 'front' | 'older' | 'back' | 'lock';

function Views({
  phone,
  view,
  onView,
  hasOlder = false,
}: {
  phone: string;
  view: View;
  onView: (view: View) => void;
  hasOlder?: boolean;
}) {
  const all = ['front', ...(hasOlder ? (['older'] as const) : []), 'back', 'lock'] as const;
  return (
    <fieldset className="views" aria-label={texts.phones.views(phone)}>
      {all.map((one) => (
        <button key={one} type="button" aria-pressed={view === one} onClick={() => onView(one)}>
          {texts.phones[one]}
        </button>
      ))}
    </fieldset>
  );
}

/** A draft with mistakes has no preview. */
const nothingOf = (preview: unknown): string => (preview === undefined ? texts.frame.loading : texts.phones.nothing);

export function Iphone({
  pass,
  pictures,
  empty = nothingOf(pass),
  first = 'front',
}: {
  pass: ApplePass | null | undefined;
  pictures?: Pictures | null | undefined;
  empty?: string;
  /** What is shown at first. */
  first?: View;
}) {
  const [view, setView] = useState(first);
  const face = pass && appleFace(pass, view === 'older' ? 'older' : 'newer');
  const message = face?.back.find(({ changeMessage }) => changeMessage);
  const Front = face?.isPoster ? PosterFront : CardFront;
  const isFront = view === 'front' || view === 'older';
  return (
    <figure className="phone">
      <figcaption>{texts.phones.iphone}</figcaption>
      <Views phone={texts.phones.iphone} view={view} onView={setView} hasOlder={pass ? differsOnOlder(pass) : false} />
      <div className="screen">
        {!face && <p className="empty">{empty}</p>}
        {face && isFront && <Front pass={pass} face={face} pictures={pictures ?? undefined} />}
        {face && isFront && <Actions actions={face.actions} />}
        {face && view === 'back' && <Back lines={face.back.map(({ label = '', value }) => [label, String(value)])} />}
        {face && view === 'lock' && (
          <LockScreen
            title={pass.organizationName}
            message={message && said(message)}
            icon={picture(pictures ?? undefined, 'icon')}
          />
        )}
      </div>
    </figure>
  );
}

/**
 * Google's preview contains URLs of images that a draft does not have yet, so the images of the Apple pass are shown
 * instead.
 */
export function Android({
  pass,
  pictures,
  message,
  empty = nothingOf(pass),
  first = 'front',
}: {
  pass: GooglePass | null | undefined;
  pictures: Pictures | null | undefined;
  message: string;
  empty?: string;
  /** What is shown at first. */
  first?: View;
}) {
  const [view, setView] = useState(first);
  const face = pass && googleFace(pass);
  const logo = picture(pictures ?? undefined, 'logo') ?? picture(pictures ?? undefined, 'icon');
  const { hexBackgroundColor: background, heroImage } = pass?.class ?? {};
  const hero = heroImage && picture(pictures ?? undefined, 'strip');
  const look = `pass google ${isDark(background) ? 'dark' : 'light'}${face?.isActive ? '' : ' voided'}`;
  return (
    <figure className="phone android">
      <figcaption>{texts.phones.android}</figcaption>
      <Views phone={texts.phones.android} view={view} onView={setView} />
      <div className="screen">
        {!face && <p className="empty">{empty}</p>}
        {face && view === 'front' && (
          <div className={look} style={{ background }}>
            <div className="pass-head">
              {logo && <img src={logo} alt="" />}
              <span className="pass-logo">{face.issuer}</span>
            </div>
            <strong className="google-name">{face.title}</strong>
            <div className="pass-row">
              {face.points.map(([label, value], index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: both may have the same label, and their order is fixed
                <div key={index}>
                  <span className="pass-label">{label}</span>
                  <span>{value}</span>
                </div>
              ))}
            </div>
            <Code code={face.code} />
            {hero && <img className="hero" src={hero} alt="" />}
          </div>
        )}
        {face && view === 'back' && <Back lines={face.details} />}
        {face && view === 'lock' && <LockScreen title={face.title} message={message || undefined} icon={logo} />}
      </div>
    </figure>
  );
}

function isDark(hex = '#ffffff'): boolean {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
  return 0.299 * red + 0.587 * green + 0.114 * blue < 150;
}

/** The frame runs no scripts; its style sheet needs the nonce of this page. */
export function PublicPage({ html }: { html: string | null | undefined }) {
  const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? '';
  if (!html) return <p className="empty">{nothingOf(html)}</p>;
  const page = html
    .replace('<style>', `<style nonce="${nonce}">`)
    .replaceAll(/(src|href)="\/(?!\/)/g, `$1="${serviceUrl}/`);
  return <iframe className="public-page" title={texts.phones.publicPage} sandbox="" srcDoc={page} />;
}
