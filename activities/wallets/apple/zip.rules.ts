// Writes zip archives without compression: PNGs do not shrink, and the header of an uncompressed file can be made once
// and reused. Names are ASCII and archives are far below 4 GB, so the original zip format of 1989 is sufficient.
import { crc32 } from 'node:zlib';

export interface ZipFile {
  name: string;
  bytes: Buffer;
  localHeader: Buffer;
  /** The record of the central directory; `zip` fills in its offset field. */
  record: Buffer;
}

const OFFSET_IN_RECORD = 42;
/** 1 January 1980, so that equal passes have equal bytes. */
const DOS_DATE = 0x0021;

/** Prepares a file once; any number of archives can then contain it. */
export function zipFile(name: string, bytes: Buffer): ZipFile {
  const path = Buffer.from(name, 'ascii');
  const common = Buffer.alloc(26);
  common.writeUInt16LE(20, 0); // version 2.0, stored, no flags
  common.writeUInt16LE(DOS_DATE, 8);
  common.writeUInt32LE(crc32(bytes), 10);
  common.writeUInt32LE(bytes.length, 14);
  common.writeUInt32LE(bytes.length, 18);
  common.writeUInt16LE(path.length, 22);
  const madeBy = Buffer.from([0x50, 0x4b, 0x01, 0x02, 20, 0]);
  return {
    name,
    bytes,
    localHeader: Buffer.concat([Buffer.from([0x50, 0x4b, 0x03, 0x04]), common, path]),
    record: Buffer.concat([madeBy, common, Buffer.alloc(14), path]),
  };
}

export function zip(files: readonly ZipFile[]): Buffer {
  let filesLength = 0;
  let directoryLength = 0;
  for (const { localHeader, bytes, record } of files) {
    filesLength += localHeader.length + bytes.length;
    directoryLength += record.length;
  }
  const archive = Buffer.allocUnsafe(filesLength + directoryLength + 22);
  let at = 0;
  let recordAt = filesLength;
  for (const { localHeader, bytes, record } of files) {
    archive.set(record, recordAt);
    archive.writeUInt32LE(at, recordAt + OFFSET_IN_RECORD);
    recordAt += record.length;
    archive.set(localHeader, at);
    archive.set(bytes, at + localHeader.length);
    at += localHeader.length + bytes.length;
  }
  const end = archive.subarray(recordAt);
  end.fill(0);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(directoryLength, 12);
  end.writeUInt32LE(filesLength, 16);
  return archive;
}
