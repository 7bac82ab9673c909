// Reads the page of a PDF that is a picture of a pass. Only one plain page is taken: what is encrypted, acts when it is
// opened, or cannot be read here is refused with the reason. Not pdf.js, which draws pages and has thirty megabytes.
import { inflateSync } from 'node:zlib';

/** The size of the page is in points. */
export type PdfReading = { ok: true; width: number; height: number } | { ok: false; problem: string };

const refused = (problem: string): PdfReading => ({ ok: false, problem });
/** More than the dictionaries of one page need. */
const maxInflated = 1024 * 1024;

/** The dictionaries of a PDF without its drawings, names without escapes. Throws when streams are damaged. */
function structureOf(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString('latin1');
  const parts: string[] = [];
  let room = maxInflated;
  let from = 0;
  for (let at = text.indexOf('stream'); at !== -1; at = text.indexOf('stream', at + 6)) {
    if (!/>>\s*$/.test(text.slice(Math.max(at - 8, from), at))) continue;
    const end = text.indexOf('endstream', at);
    if (end === -1) throw new Error('a stream without end');
    const before = text.slice(from, at);
    parts.push(before);
    if (/\/Type\s*\/ObjStm\b/.test(before.slice(before.lastIndexOf('obj')))) {
      const body = text.slice(at + 6, end).replace(/^\r?\n/, '');
      const objects = inflateSync(Buffer.from(body, 'latin1'), { maxOutputLength: room });
      room = Math.max(room - objects.length, 1);
      parts.push(objects.toString('latin1'));
    }
    from = end + 9;
    at = from - 6;
  }
  return [...parts, text.slice(from)]
    .join('\n')
    .replaceAll(/#([0-9a-fA-F]{2})/g, (_, code) => String.fromCharCode(parseInt(code, 16)));
}

const named = (structure: string, names: string) => new RegExp(`/(?:${names})(?![A-Za-z0-9])`).test(structure);

export function readPdf(bytes: Uint8Array): PdfReading {
  const ends = [bytes.subarray(0, 5), bytes.subarray(-1024)].map((part) => Buffer.from(part).toString('latin1'));
  if (ends[0] !== '%PDF-') return refused('is not a PDF');
  if (!ends[1]?.includes('%%EOF')) return refused('is cut off');
  try {
    return readPage(structureOf(bytes));
  } catch {
    return refused('is damaged');
  }
}

function readPage(structure: string): PdfReading {
  if (named(structure, 'Encrypt')) return refused('is encrypted');
  if (named(structure, 'JavaScript|JS|OpenAction|AA|Launch|SubmitForm|XFA|EmbeddedFiles?|RichMedia'))
    return refused('has scripts, actions or attachments');
  const pages = structure.match(/\/Type\s*\/Page(?![A-Za-z])/g)?.length ?? 0;
  if (pages !== 1) return refused(`has ${pages} pages, not one`);
  const box = boxOf(structure, 'CropBox') ?? boxOf(structure, 'MediaBox');
  if (!box || /\/UserUnit\s+(?!1(?:\.0*)?[\s/>])/.test(structure))
    return refused('has a page of a size that cannot be read');
  const isTurned = /\/Rotate\s+-?(?:90|270)\b/.test(structure);
  return { ok: true, width: isTurned ? box.height : box.width, height: isTurned ? box.width : box.height };
}

function boxOf(structure: string, name: string): { width: number; height: number } | undefined {
  const number = String.raw`(-?[\d.]+)`;
  const found = new RegExp(
    String.raw`/${name}\s*\[\s*${[1, 2, 3, 4].map(() => number).join(String.raw`\s+`)}\s*\]`,
  ).exec(structure);
  if (!found) return undefined;
  const [left = 0, bottom = 0, right = 0, top = 0] = found.slice(1).map(Number);
  const [width, height] = [Math.abs(right - left), Math.abs(top - bottom)];
  return width > 0 && height > 0 ? { width, height } : undefined;
}
