// A QR code.
import { encode } from 'uqr';
import { texts } from '../texts.js';

/** A QR code as a single SVG path, with the text below it. */
export function Qr({
  value,
  caption,
  label = texts.phones.code(value),
}: {
  value: string;
  caption?: string | undefined;
  label?: string;
}) {
  const { data, size } = encode(value, { border: 2 });
  const path = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : []))).join('');
  return (
    <div className="qr">
      <svg viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
        <rect width={size} height={size} fill="#fff" />
        <path d={path} fill="#000" />
      </svg>
      {caption && <code>{caption}</code>}
    </div>
  );
}
