// Run as a process of its own, because the downloader prints its progress to standard output: fetches mongod of the
// given version into <folder>/bin/mongod.

import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { MongoBinary } from 'mongodb-memory-server-core/lib/util/MongoBinary.js';

const [version, folder] = process.argv.slice(2);
if (version === undefined || folder === undefined) throw new Error('Give a version and a folder.');

const downloadDir = await mkdtemp(join(folder, 'download-'));
// Without these the downloader prefers folders of its own over the one that it is given.
process.env.MONGOMS_PREFER_GLOBAL_PATH = 'false';
process.env.MONGOMS_DOWNLOAD_DIR = downloadDir;
const path = await MongoBinary.getPath({ version, downloadDir });
await mkdir(join(folder, 'bin'));
await rename(path, join(folder, 'bin', 'mongod'));
await rm(downloadDir, { recursive: true });
