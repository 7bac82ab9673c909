// Opens a .pkpass as a phone does: verifies the checksums of the zip, the hashes in the manifest and the signature of
// the manifest before it uses any content.
import { execFile } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { crc32, inflateRawSync } from 'node:zlib';
import { signerOf } from './cms.js';
import { passFindings } from './passRules.js';

const run = promisify(execFile);

export interface PkpassField {
  key: string;
  label?: string;
  value: string | number;
  changeMessage?: string;
}

export interface PassJson {
  formatVersion: number;
  passTypeIdentifier: string;
  teamIdentifier: string;
  serialNumber: string;
  authenticationToken: string;
  webServiceURL: string;
  organizationName: string;
  description: string;
  voided?: boolean;
  expirationDate?: string;
  barcodes?: { format: string; message: string; altText?: string; messageEncoding: string }[];
  logoText?: string;
  storeCard: Record<string, PkpassField[]>;
  posterGeneric?: Record<string, PkpassField[]>;
  featuredActions?: { identifier: string; type: string; url: string }[];
}

export interface Pkpass {
  files: Map<string, Buffer>;
  json: PassJson;
}

export class BrokenPass extends Error {}

/** The files of a zip archive by name, with verified checksums. Throws BrokenPass. */
export function unzip(archive: Buffer): Map<string, Buffer> {
  const end = archive.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  if (end < 0) throw new BrokenPass('not a zip archive');
  const files = new Map<string, Buffer>();
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left -= 1) {
    if (archive.toString('latin1', at, at + 4) !== 'PK\x01\x02') throw new BrokenPass('a directory record is missing');
    const nameLength = archive.readUInt16LE(at + 28);
    const name = archive.toString('utf8', at + 46, at + 46 + nameLength);
    const local = archive.readUInt32LE(at + 42);
    const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
    const stored = archive.subarray(start, start + archive.readUInt32LE(at + 20));
    const bytes = archive.readUInt16LE(at + 10) === 0 ? stored : inflateRawSync(stored);
    if (crc32(bytes) !== archive.readUInt32LE(at + 16)) throw new BrokenPass(`${name} has a wrong checksum`);
    files.set(name, bytes);
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  return files;
}

/**
 * Throws BrokenPass when a phone would refuse the pass. Without `wwdrCert` the root of the certificate chain is not
 * checked.
 */
export async function openPkpass(archive: Buffer, wwdrCert?: string): Promise<Pkpass> {
  const files = unzip(archive);
  const manifest = checkedManifest(files);
  return opened(files, await checkSignature(fileOf(files, 'signature'), manifest, wwdrCert));
}

/** The same for many passes: without a process of openssl for each. */
export function openQuickly(archive: Buffer, wwdrCert: string): Pkpass {
  const files = unzip(archive);
  const manifest = checkedManifest(files);
  try {
    return opened(files, signerOf(fileOf(files, 'signature'), manifest, wwdrCert));
  } catch (error) {
    throw unverified(error);
  }
}

const unverified = (error: unknown) =>
  error instanceof BrokenPass
    ? error
    : new BrokenPass(`the signature does not verify: ${error instanceof Error ? error.message : String(error)}`);

function opened(files: Map<string, Buffer>, { subject }: X509Certificate): Pkpass {
  const json: PassJson = JSON.parse(fileOf(files, 'pass.json').toString('utf8'));
  if (!subject.split('\n').includes(`UID=${json.passTypeIdentifier}`))
    throw new BrokenPass('signed for another pass type');
  if (!subject.split('\n').includes(`OU=${json.teamIdentifier}`)) throw new BrokenPass('signed by another team');
  const [found] = passFindings({ json, files }).filter(({ severity }) => severity === 'error');
  if (found) throw new BrokenPass(`${found.rule}: ${found.message}`);
  return { files, json };
}

function fileOf(files: Map<string, Buffer>, name: string): Buffer {
  const bytes = files.get(name);
  if (bytes === undefined) throw new BrokenPass(`${name} is missing`);
  return bytes;
}

function checkedManifest(files: Map<string, Buffer>): Buffer {
  const manifest = fileOf(files, 'manifest.json');
  const listed: Record<string, string> = JSON.parse(manifest.toString('utf8'));
  const present = [...files.keys()].filter((name) => name !== 'manifest.json' && name !== 'signature');
  if (present.toSorted().join() !== Object.keys(listed).toSorted().join()) {
    throw new BrokenPass('the manifest lists other files than there are');
  }
  for (const name of present) {
    const hash = createHash('sha1').update(fileOf(files, name)).digest('hex');
    if (hash !== listed[name]) throw new BrokenPass(`${name} is not what the manifest says`);
  }
  return manifest;
}

/** Returns the signer's certificate. */
async function checkSignature(signature: Buffer, manifest: Buffer, wwdrCert?: string): Promise<X509Certificate> {
  const folder = await mkdtemp(join(tmpdir(), 'pkpass-'));
  const file = (name: string) => join(folder, name);
  try {
    await writeFile(file('signature'), signature);
    await writeFile(file('manifest.json'), manifest);
    if (wwdrCert !== undefined) await writeFile(file('wwdr.pem'), wwdrCert);
    const trust = wwdrCert === undefined ? ['-noverify'] : ['-CAfile', file('wwdr.pem'), '-partial_chain'];
    await run('openssl', [
      ...['cms', '-verify', '-binary', '-inform', 'DER', '-in', file('signature'), '-content', file('manifest.json')],
      ...['-purpose', 'any', '-signer', file('signer.pem'), '-out', file('content'), ...trust],
    ]);
    const { stdout } = await run('openssl', ['x509', '-in', file('signer.pem')]);
    return new X509Certificate(stdout);
  } catch (error) {
    throw unverified(error);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
