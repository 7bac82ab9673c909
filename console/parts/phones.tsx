// Both phones and the public page, rendered from the answer of the preview: pass.json with its images, and Google's
// class and object.
import { useState } from 'react';
import { serviceUrl } from '../api.js';
import { texts } from '../texts.js';
import { Barcode } from './barcode.js';

interface PassField {
  key: string;
  label?: string;
  value: string | number;
  changeMessage?: string;
}

export interface ApplePass {
  logoText?: string;
  organizationName?: string;
  backgroundColor?: string;
  foregroundColor?: string;
  labelColor?: string;
  voided?: boolean;
  barcodes?: { format?: string; message: string; altText?: string }[];
  storeCard: Face;
  /** What iPhones with iOS 27 show instead. */
  posterGeneric?: Face;
  featuredActions?: { identifier: string; type: string }[];
}

type Area = 'headerFields' | 'primaryFields' | 'secondaryFields' | 'auxiliaryFields' | 'footerFields' | 'backFields';
type Face = Partial<Record<Area, PassField[]>>;

export type Pictures = Readonly<Record<string, string>>;

interface Points {
  label?: string;
  balance?: { int?: number; string?: string };
}

export interface GooglePass {
  class: {
    programName?: string;
    issuerName?: string;
    hexBackgroundColor?: string;
    programLogo?: { sourceUri?: { uri?: string } };
    heroImage?: { sourceUri?: { uri?: string } };
  };
  object: {
    state?: string;
    accountName?: string;
    accountId?: string;
    barcode?: { type?: string; value?: string; alternateText?: string };
    loyaltyPoints?: Points;
    secondaryLoyaltyPoints?: Points;
    textModulesData?: { header?: string; body?: string }[];
  };
}

const picture = (pictures: Pictures | undefined, name: string): string | undefined => {
  const found = ['@3x', '@2x', ''].map((scale) => pictures?.[`${name}${scale}.png`]).find((base64) => base64);
  return found && `data:image/png;base64,${found}`;
};

function Fields({ fields = [], className }: { fields?: PassField[] | undefined; className: string }) {
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

function AppleFront({ pass, pictures }: { pass: ApplePass; pictures: Pictures | undefined }) {
  const { storeCard: card, barcodes } = pass;
  const [logo, strip] = [picture(pictures, 'logo'), picture(pictures, 'strip')];
  const look = { background: pass.backgroundColor, color: pass.foregroundColor, '--pass-label': pass.labelColor };
  return (
    <div className={pass.voided ? 'pass voided' : 'pass'} style={look as React.CSSProperties}>
      <div className="pass-head">
        {logo && <img src={logo} alt="" />}
        <span className="pass-logo">{pass.logoText}</span>
        <Fields className="pass-header" fields={card.headerFields} />
      </div>
      {strip ? (
        <div className="pass-strip">
          <img src={strip} alt="" />
          <Fields className="pass-primary" fields={card.primaryFields} />
        </div>
      ) : (
        <Fields className="pass-primary" fields={card.primaryFields} />
      )}
      <Fields className="pass-row" fields={card.secondaryFields} />
      <Fields className="pass-row" fields={card.auxiliaryFields} />
      {barcodes?.[0] && (
        <Barcode format={barcodes[0].format} value={barcodes[0].message} caption={barcodes[0].altText} />
      )}
    </div>
  );
}

function PosterFront({ pass, poster, pictures }: { pass: ApplePass; poster: Face; pictures: Pictures | undefined }) {
  const [logo, artwork] = [picture(pictures, 'primaryLogo'), picture(pictures, 'artwork')];
  const code = pass.barcodes?.[0];
  const look = {
    backgroundColor: pass.backgroundColor,
    backgroundImage: artwork && `url("${artwork}")`,
    color: pass.foregroundColor,
    '--pass-label': pass.labelColor,
  };
  return (
    <div className={pass.voided ? 'pass poster voided' : 'pass poster'} style={look as React.CSSProperties}>
      <div className="pass-head">
        {logo ? <img src={logo} alt="" /> : <span className="pass-logo">{pass.logoText}</span>}
        <Fields className="pass-header" fields={poster.headerFields} />
      </div>
      <div className="poster-foot">
        <Fields className="pass-row" fields={poster.primaryFields} />
        <Fields className="pass-row" fields={poster.footerFields} />
        {code && <Barcode format={code.format} value={code.message} caption={code.altText} />}
      </div>
    </div>
  );
}

/** The buttons below the pass. Their words are Apple's. */
function Actions({ actions = [] }: { actions?: ApplePass['featuredActions'] }) {
  if (actions.length === 0) return null;
  const words: Readonly<Record<string, string>> = texts.phones.actions;
  return (
    <ul className="pass-actions">
      {actions.map(({ identifier, type }) => (
        <li key={identifier}>{words[type] ?? type}</li>
      ))}
    </ul>
  );
}

function AppleBack({ pass }: { pass: ApplePass }) {
  return (
    <dl className="pass-back">
      {(pass.storeCard.backFields ?? []).map(({ key, label, value }) => (
        <div key={key}>
          <dt>{label}</dt>
          <dd>{String(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

const said = ({ changeMessage = '', value }: PassField) =>
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
  isPoster = false,
}: {
  phone: string;
  view: View;
  onView: (view: View) => void;
  isPoster?: boolean;
}) {
  const all = ['front', ...(isPoster ? (['older'] as const) : []), 'back', 'lock'] as const;
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
}: {
  pass: ApplePass | null | undefined;
  pictures?: Pictures | null | undefined;
  empty?: string;
}) {
  const [view, setView] = useState<View>('front');
  const message = pass?.storeCard.backFields?.find(({ changeMessage }) => changeMessage);
  const poster = pass?.posterGeneric;
  const isPosterShown = poster && view === 'front';
  return (
    <figure className="phone">
      <figcaption>{texts.phones.iphone}</figcaption>
      <Views phone={texts.phones.iphone} view={view} onView={setView} isPoster={poster !== undefined} />
      <div className="screen">
        {!pass && <p className="empty">{empty}</p>}
        {pass && isPosterShown && <PosterFront pass={pass} poster={poster} pictures={pictures ?? undefined} />}
        {pass && !isPosterShown && (view === 'front' || view === 'older') && (
          <AppleFront pass={pass} pictures={pictures ?? undefined} />
        )}
        {pass && view === 'front' && <Actions actions={pass.featuredActions} />}
        {pass && view === 'back' && <AppleBack pass={pass} />}
        {pass && view === 'lock' && (
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

const amount = ({ balance }: Points = {}) => balance?.string ?? (balance?.int === undefined ? '' : String(balance.int));

/**
 * Google's preview contains URLs of images that a draft does not have yet, so the images of the Apple pass are shown
 * instead.
 */
export function Android({
  pass,
  pictures,
  message,
  empty = nothingOf(pass),
}: {
  pass: GooglePass | null | undefined;
  pictures: Pictures | null | undefined;
  message: string;
  empty?: string;
}) {
  const [view, setView] = useState<View>('front');
  const { class: program, object } = pass ?? {};
  const logo = picture(pictures ?? undefined, 'logo') ?? picture(pictures ?? undefined, 'icon');
  const hero = program?.heroImage && picture(pictures ?? undefined, 'strip');
  const points = [object?.loyaltyPoints, object?.secondaryLoyaltyPoints].filter((one) => one !== undefined);
  return (
    <figure className="phone android">
      <figcaption>{texts.phones.android}</figcaption>
      <Views phone={texts.phones.android} view={view} onView={setView} />
      <div className="screen">
        {!pass && <p className="empty">{empty}</p>}
        {program && object && view === 'front' && (
          <div
            className={`pass google ${isDark(program.hexBackgroundColor) ? 'dark' : 'light'}`}
            style={{ background: program.hexBackgroundColor }}
          >
            <div className="pass-head">
              {logo && <img src={logo} alt="" />}
              <span className="pass-logo">{program.issuerName}</span>
            </div>
            <strong className="google-name">{program.programName}</strong>
            <div className="pass-row">
              {points.map((one) => (
                <div key={one.label}>
                  <span className="pass-label">{one.label}</span>
                  <span>{amount(one)}</span>
                </div>
              ))}
            </div>
            {object.barcode?.value && (
              <Barcode
                format={object.barcode.type}
                value={object.barcode.value}
                caption={object.barcode.alternateText}
              />
            )}
            {hero && <img className="hero" src={hero} alt="" />}
          </div>
        )}
        {object && view === 'back' && (
          <dl className="pass-back">
            {[
              [texts.phones.member, object.accountName],
              [texts.phones.memberId, object.accountId],
              ...(object.textModulesData ?? []).map(({ header, body }) => [header, body]),
            ].map(([label, value]) => (
              <div key={label}>
                <dt>{label}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        )}
        {program && view === 'lock' && (
          <LockScreen title={program.programName} message={message || undefined} icon={logo} />
        )}
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
