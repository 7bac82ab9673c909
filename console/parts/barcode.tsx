// The code on a virtual phone, in the format that Apple or Google was given.
import { useEffect, useState } from 'react';
import { texts } from '../texts.js';
import { Qr } from './qr.js';

/** The encoder's name (bwip-js) of each format but QR, by Apple's and by Google's name. */
const encoders = {
  PKBarcodeFormatPDF417: 'pdf417',
  PDF_417: 'pdf417',
  PKBarcodeFormatAztec: 'azteccode',
  AZTEC: 'azteccode',
  PKBarcodeFormatCode128: 'code128',
  CODE_128: 'code128',
  PKBarcodeFormatCode39: 'code39',
  CODE_39: 'code39',
  PKBarcodeFormatCodabar: 'rationalizedCodabar',
  CODABAR: 'rationalizedCodabar',
  PKBarcodeFormatEAN13: 'ean13',
  EAN_13: 'ean13',
  PKBarcodeFormatI2of5: 'interleaved2of5',
  ITF_14: 'interleaved2of5',
} as const;

type Encoder = (typeof encoders)[keyof typeof encoders];
const isKnown = (format: string): format is keyof typeof encoders => format in encoders;

/** Returns the address of a picture. */
async function draw(name: Encoder, code: string): Promise<string> {
  // As large as the rest of the page, and only needed for these formats.
  const encoder = await import('bwip-js/generic');
  const text = name === 'rationalizedCodabar' ? `A${code}A` : code;
  const svg = encoder[name]({ bcid: name, text, padding: 2 }, encoder.drawingSVG());
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

export function Barcode({
  format = '',
  value,
  caption,
}: {
  format?: string | undefined;
  value: string;
  caption?: string | undefined;
}) {
  const encoder = isKnown(format) ? encoders[format] : undefined;
  const [picture, setPicture] = useState<string>();
  useEffect(() => {
    setPicture(undefined);
    if (encoder === undefined) return;
    let isShown = true;
    draw(encoder, value).then(
      (drawn) => isShown && setPicture(drawn),
      () => undefined,
    );
    return () => {
      isShown = false;
    };
  }, [encoder, value]);
  if (encoder === undefined) return <Qr value={value} caption={caption} />;
  return (
    <div className={encoder === 'azteccode' ? 'qr' : 'qr linear'}>
      {picture && <img src={picture} alt={texts.phones.code(value)} />}
      {caption && <code>{caption}</code>}
    </div>
  );
}
